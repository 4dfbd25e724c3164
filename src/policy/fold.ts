import type { Mode } from '../protocol/decision.js';
import { configProblem, type Problem } from '../protocol/problem.js';
import type { SandboxMode } from '../protocol/sandbox.js';
import { withDefaults, type PolicyDocument, type PolicyLimits, type SourceFile } from './document.js';
import {
  isSection,
  type Combine,
  type EffectiveOf,
  type FlagsOf,
  type FlagUse,
  type Group,
  type Key,
  type Section,
} from './keys/row.js';
import { KEYS } from './keys/table.js';

/** The part of a policy that is judged on its own, however many there are: the strictest decision counts. */
export type RuleSet = Pick<PolicyDocument, (typeof JUDGED)[number]>;
const JUDGED = [
  'sources',
  'mode',
  'onAsk',
  'rules',
  'tools',
  'workspace',
  'shell',
  'network',
  'context',
  'memory',
  'servers',
  'discovery',
] as const satisfies readonly (keyof PolicyDocument)[];

/** All policies of a run, folded into one. */
export interface EffectivePolicy extends EffectiveOf<typeof KEYS> {
  readonly sources: readonly SourceFile[];
  readonly ruleSets: readonly RuleSet[];
  /** The policies themselves, recorded so that the run can be resumed. */
  readonly recorded: readonly object[];
}

/** What flags set for keys of policies. */
export type PolicyFlags = FlagsOf<typeof KEYS>;

/** Folds all policies of a run and its flags into one. Nothing after this sees a document. */
export function fold(documents: readonly object[], flags: PolicyFlags = {}): EffectivePolicy {
  const whole = documents.map(withDefaults);
  const effective = {
    ...(combined(KEYS, whole as unknown as Values[], flags) as unknown as EffectiveOf<typeof KEYS>),
    sources: whole.flatMap(({ sources }) => sources),
    ruleSets: whole.map(ruleSet),
    recorded: documents,
  };
  return frozen(effective);
}

function ruleSet(document: PolicyDocument): RuleSet {
  const set: Record<string, unknown> = {};
  for (const name of JUDGED) if (document[name] !== undefined) set[name] = document[name];
  return set as unknown as RuleSet;
}

type Values = Readonly<Record<string, unknown>>;

/** Some documents combined, name by name. */
function combined(group: Group, documents: readonly Values[], flags: Values): Values {
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(group)) {
    const node = group[name] as Key | Section;
    const said = valuesIn(documents, name);
    const value = isSection(node)
      ? combinedSection(node, said as Values[], flags[name] as Values | undefined)
      : effectiveValue(node, said, documents.length, flags[name]);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

function valuesIn(documents: readonly Values[], name: string): unknown[] {
  const said: unknown[] = [];
  for (const document of documents) if (document[name] !== undefined) said.push(document[name]);
  return said;
}

/** Policies without this section do not count for it. */
function combinedSection({ rows, each }: Section, there: readonly Values[], flags: Values = {}): unknown {
  return each ? there : combined(rows, there, flags);
}

function effectiveValue(row: Key, said: readonly unknown[], policies: number, asked: unknown): unknown {
  if (row.combine === 'own') return undefined;
  return saidValue(row, said, policies, asked) ?? defaultOf(row);
}

function saidValue(row: Key, said: readonly unknown[], policies: number, asked: unknown): unknown {
  const isSilent = row.silent === 'default' && said.length < policies;
  const value = combinedValue(row, isSilent ? [...said, defaultOf(row)] : said);
  return asked === undefined ? value : withFlag(row, value, asked);
}

/** The policy without network rules. */
export function withoutNetwork({ ruleSets, ...policy }: EffectivePolicy): EffectivePolicy {
  return { ...policy, network: [], ruleSets: ruleSets.map((set) => ({ ...set, network: undefined })) };
}

/** The policy under recorded limits, lowered by what is given now. */
export function withLimits(policy: EffectivePolicy, recorded: object, said: object): EffectivePolicy {
  // Transcripts of older versions do not contain all of them.
  const limits: Record<string, number> = { ...policy.limits, ...recorded };
  for (const [name, value] of Object.entries(said)) limits[name] = Math.min(value, limits[name] ?? Infinity);
  return Object.freeze({ ...policy, limits: limits as unknown as EffectivePolicy['limits'] });
}

/** The limits that policies and flags set, without defaults. */
export function limitsSaid(documents: readonly object[], flags: PolicyFlags['limits'] = {}): PolicyLimits {
  const limits = documents.map((document) => withDefaults(document).limits as Values);
  const entries = Object.entries(KEYS.limits.rows).map(([name, row]) => {
    const said = saidValue(row, valuesIn(limits, name), limits.length, (flags as Values)[name]);
    return [name, said] as const;
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function combinedValue({ combine, order }: Key, said: readonly unknown[]): unknown {
  if (typeof combine === 'object') return combine.of(said as never);
  if (combine === 'each') return said;
  // Most runs have one policy.
  if (said.length < 2 || combine === 'own') return said[0];
  return WAYS[combine](said as never, order);
}

/** The value if nothing sets it. */
function defaultOf({ parse, default: written, empty }: Key): unknown {
  if (written === undefined) return empty;
  return parse ? parse(written as never) : written;
}

type Way = (said: never, order: readonly unknown[] | undefined) => unknown;
const WAYS: Readonly<Record<Exclude<Combine, 'own' | 'each'>, Way>> = {
  smallest: (said: readonly number[]) => Math.min(...said),
  strictest: (said: readonly unknown[], order = []) =>
    said.reduce((a, b) => (order.indexOf(b) > order.indexOf(a) ? b : a)),
  union: (said: readonly (readonly string[])[]) => [...new Set(said.flat())],
  shared: ([first = [], ...others]: readonly (readonly string[])[]) =>
    first.filter((one) => others.every((list) => list.includes(one))),
  merge: (said: readonly object[]) => Object.assign({}, ...said) as unknown,
  // An empty list sets nothing.
  first: (said: readonly unknown[]) => said.find((one) => !Array.isArray(one) || one.length > 0) ?? said[0],
  any: (said: readonly boolean[]) => said.some(Boolean),
};

/** A flag combined with what policies say: it can only make that stricter. */
function withFlag(row: Key, said: unknown, asked: unknown): unknown {
  const use = row.flag?.may;
  return use ? USES[use](said as never, asked as never, row) : said;
}

const USES: Readonly<Record<FlagUse, (said: never, asked: never, row: Key) => unknown>> = {
  tighten: (said: number | undefined, asked: number) => Math.min(said ?? Infinity, asked),
  narrow: (said: unknown, asked: unknown, row) => {
    if (said === undefined || isStricter(row, asked, said)) return asked;
    throw wider(row, asked, said, 'the policy');
  },
  add: (said: readonly string[], asked: readonly string[]) => [...new Set([...said, ...asked])],
  demand: (said: boolean | undefined, asked: boolean) => said || asked,
};

function isStricter({ order = [] }: Key, asked: unknown, said: unknown): boolean {
  return order.indexOf(asked) >= order.indexOf(said);
}

function wider({ key, flag }: Key, asked: unknown, said: unknown, where: string): Problem {
  const name = flag?.name ?? '';
  const message = `${name} ${String(asked)} is wider than ${key} ${String(said)} of ${where}`;
  return configProblem(name.replace(/^-+/, ''), message, {
    hint: 'A flag may only narrow what a policy allows.',
  });
}

/** A document under a stricter mode: what is recorded is what applied to the run. */
export function narrowed(document: PolicyDocument, mode: Mode): PolicyDocument {
  const file = document.sources[0]?.file ?? 'the policy';
  if (!isStricter(KEYS.mode, mode, document.mode)) throw wider(KEYS.mode, mode, document.mode, file);
  return { ...document, mode };
}

/** How programs are confined, by policies and by a flag. */
export function sandboxMode(said: SandboxMode | undefined, asked: SandboxMode | undefined): SandboxMode {
  const mode = asked === undefined ? said : withFlag(KEYS.sandbox.rows.mode, said, asked);
  return (mode as SandboxMode | undefined) ?? 'auto';
}

/** The one of two that lets programs do less. */
export function stricterSandbox(a: SandboxMode, b: SandboxMode | undefined): SandboxMode {
  return b === undefined || isStricter(KEYS.sandbox.rows.mode, a, b) ? a : b;
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const name of Object.keys(value)) frozen(value[name as keyof T]);
  return Object.freeze(value);
}
