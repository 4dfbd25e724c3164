import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gitFolder } from '../lib/git.js';
import { isInside, realPath } from '../lib/real-path.js';
import type { LoopSettings } from '../agent/loop-detector.js';
import { modeOnly, type PolicyDocument, type PolicyLimits } from '../policy/document.js';
import { allOf, createEngine } from '../policy/engine.js';
import { namedFiles, type NamedFiles } from '../policy/named-files.js';
import type { Dialect } from '../policy/shell/model.js';
import { MODES, type Mode, type Policy } from '../protocol/decision.js';
import { configProblem } from '../protocol/problem.js';
import type { Risk } from '../protocol/risk.js';
import { SANDBOX_MODES, type SandboxMode } from '../protocol/sandbox.js';
import { obeyedPlaces } from '../sandbox/git/obeyed.js';
import { shellOf } from '../sandbox/local.js';
import { unattended } from '../tools/unattended.js';
import {
  childEnvironment,
  DEFAULT_COMPRESS_AT,
  DEFAULT_LOOPS,
  runsFolder,
  SHELL_TIMEOUTS,
  type Variables,
} from './settings.js';

export interface PolicyRequest {
  /** Presets and files; each decides on its own. */
  readonly policies: readonly string[];
  /** Without policies: the mode. With them: it may only narrow. */
  readonly mode: Mode | undefined;
  /** Where relative names count from. */
  readonly folder: string;
  /** Hears of them before anybody else. */
  readonly onLoaded?: (documents: readonly PolicyDocument[]) => Promise<void>;
}

export interface PolicyPlace {
  readonly workspace: string;
  readonly writeProtected: readonly string[];
  readonly home: string | undefined;
  readonly untrusted: boolean;
  readonly dialect?: () => Dialect;
  readonly hiddenBySandbox?: () => boolean;
  readonly variable?: (name: string) => string | undefined;
}

/** The policies of a run, loaded and checked. */
export async function loadPolicies({
  policies,
  mode,
  folder,
  onLoaded,
}: PolicyRequest): Promise<PolicyDocument[]> {
  if (policies.length === 0) return [modeOnly(mode ?? 'plan')];
  const { loadAll } = await import('../policy/load.js');
  const documents = await loadAll(policies, { folder, presets: presetsFolder() });
  await onLoaded?.(documents);
  return mode === undefined ? documents : documents.map((document) => narrowed(document, mode));
}

export function narrowed(document: PolicyDocument, mode: Mode): PolicyDocument {
  if (MODES.indexOf(mode) > MODES.indexOf(document.mode)) {
    const file = document.sources[0]?.file ?? 'the policy';
    throw configProblem('mode', `--mode ${mode} is wider than mode ${document.mode} of ${file}`, {
      hint: 'A flag may only narrow what a policy allows.',
    });
  }
  return { ...document, mode };
}

/** Ready to decide about the calls of a run. */
export function enginesOf(documents: readonly PolicyDocument[], place: PolicyPlace): Policy {
  const settings = guarded(documents, place);
  return allOf(documents.map((document) => createEngine(document, settings)));
}

/** The same, and says of what is refused which rules would allow it. */
export function enginesWithRemedies(documents: readonly PolicyDocument[], place: PolicyPlace): Policy {
  const policy = enginesOf(documents, place);
  const withRules = (rules: PolicyDocument['rules']) =>
    enginesOf(
      documents.map((document) => ({ ...document, rules: [...document.rules, ...rules] })),
      place,
    );
  return {
    ...policy,
    async decide(request) {
      const answer = await policy.decide(request);
      if ('outside' in answer || answer.decision === 'allow') return answer;
      const { remedyFor } = await import('../policy/remedy.js');
      return { ...answer, remedy: await remedyFor(request, answer, withRules, place.workspace) };
    },
  };
}

/** The files that the policies themselves want read and written, inside their own boundary. */
export function filesNamedIn(documents: readonly PolicyDocument[], place: PolicyPlace): NamedFiles {
  return namedFiles(documents, guarded(documents, place));
}

/** The policies themselves, the records of runs, and what git obeys are never written. */
function guarded(documents: readonly PolicyDocument[], place: PolicyPlace): PolicyPlace {
  const { workspace, writeProtected } = place;
  const own = documents.flatMap(({ sources }) => sources.map(({ file }) => realPath(file)));
  const repository = gitFolder(workspace);
  // A repository that calls the whole workspace its hooks is not obeyed, and does not stop all work either.
  const obeyed = (repository ? obeyedPlaces(repository, place.home) : []).filter(
    (path) => !isInside(path, workspace),
  );
  return { ...place, writeProtected: [...writeProtected, runsFolder(workspace), ...own, ...obeyed] };
}

/** For each policy that names keys: those that it trusts. */
export function trustedKeysIn(documents: readonly PolicyDocument[]): (readonly string[])[] {
  return documents.map(({ trustedKeys }) => trustedKeys).filter((keys) => keys.length > 0);
}

/** Of several policies the tightest limit counts. */
export function tightest(documents: readonly PolicyDocument[]): PolicyLimits {
  const limits: Record<string, number> = {};
  for (const document of documents) {
    for (const [name, value] of Object.entries(document.limits))
      limits[name] = Math.min(limits[name] ?? Infinity, value as number);
  }
  return limits;
}

const STRICTER = { ignore: 0, warn: 1, fail: 2 } as const;

/** Of several policies the one that takes denials the most seriously. */
export function onDenied(documents: readonly PolicyDocument[]): 'fail' | 'warn' | 'ignore' {
  return documents.map((document) => document.onDenied).reduce((a, b) => (STRICTER[b] > STRICTER[a] ? b : a));
}

export function modelIn(documents: readonly PolicyDocument[]): string | undefined {
  return documents.find(({ model }) => model !== undefined)?.model;
}

/** The model for look-ups on the web, where it is one of its own: of several policies the first that names one. */
export function webModelIn(documents: readonly PolicyDocument[]): string | undefined {
  return documents.find(({ webModel }) => webModel !== undefined)?.webModel;
}

/** How full the model's window may become before the history is compressed. */
export function compressAt(documents: readonly PolicyDocument[]): number {
  const said = documents.flatMap((document) => document.compressAt ?? []);
  return said.length > 0 ? Math.min(...said) : DEFAULT_COMPRESS_AT;
}

/** Of the policies that speak of loops the strictest counts, value by value. */
export function loopSettings(documents: readonly PolicyDocument[]): LoopSettings | 'off' {
  const said = documents.flatMap(({ loops }) => loops ?? []);
  const tables = said.flatMap((loops) => (loops === 'off' ? [] : [{ ...DEFAULT_LOOPS, ...loops }]));
  if (tables.length === 0) return said.length > 0 ? 'off' : DEFAULT_LOOPS;
  return tables.reduce((a, b) => ({
    repeats: Math.min(a.repeats, b.repeats),
    cycle: Math.max(a.cycle, b.cycle),
    cycle_repeats: Math.min(a.cycle_repeats, b.cycle_repeats),
    more: Math.min(a.more, b.more),
  }));
}

/** The models to go over to: of several policies the first that names some. */
export function fallbackIn(documents: readonly PolicyDocument[]): readonly string[] {
  return documents.find(({ fallback }) => fallback.length > 0)?.fallback ?? [];
}

/** Of the policies that speak of the sandbox the strictest. */
export function sandboxIn(documents: readonly PolicyDocument[]): SandboxMode | undefined {
  const said = documents.flatMap(({ sandbox }) => sandbox?.mode ?? []);
  const [first, ...others] = said;
  return first && others.reduce((a, b) => stricterSandbox(a, b), first);
}

export function stricterSandbox(a: SandboxMode, b: SandboxMode | undefined): SandboxMode {
  return b !== undefined && SANDBOX_MODES.indexOf(b) > SANDBOX_MODES.indexOf(a) ? b : a;
}

export function narrowestMode(documents: readonly PolicyDocument[]): Mode {
  const modes = documents.map(({ mode }) => mode);
  return MODES.find((mode) => modes.includes(mode)) ?? 'plan';
}

/** How commands run: the shortest times, only variables that every policy passes on, git as the strictest wants it. */
export function shellSettings(documents: readonly PolicyDocument[]) {
  const shells = documents.map(({ shell }) => shell);
  const least = (times: readonly (number | undefined)[], otherwise: number) =>
    Math.min(...times.map((time) => time ?? otherwise));
  const [first] = shells;
  return {
    timeouts: {
      timeoutMs: least(
        shells.map(({ timeoutMs }) => timeoutMs),
        SHELL_TIMEOUTS.timeoutMs,
      ),
      idleTimeoutMs: least(
        shells.map(({ idleTimeoutMs }) => idleTimeoutMs),
        SHELL_TIMEOUTS.idleTimeoutMs,
      ),
    },
    git: shells.every(({ git }) => git === 'repository') ? ('repository' as const) : ('hardened' as const),
    pass: first?.pass.filter((name) => shells.every(({ pass }) => pass.includes(name))) ?? [],
    set: Object.assign({}, ...shells.map(({ set }) => set)) as Record<string, string>,
  };
}

/** Command lines are judged by the grammar of the shell that would run them. */
export function dialectFor(
  documents: readonly PolicyDocument[],
  searchPath: string | undefined,
): () => Dialect {
  return () => {
    const { PATH = searchPath } = shellSettings(documents).set;
    return basename(shellOf(PATH)) === 'bash' ? 'bash' : 'sh';
  };
}

/** The variables that command lines see. */
export function variablesFor(
  documents: readonly PolicyDocument[],
  variables: Variables,
): (name: string) => string | undefined {
  const environment = unattended(childEnvironment(variables, shellSettings(documents)));
  return (name) => environment[name];
}

/** The programs that a command line runs. The grammar is loaded when somebody asks. */
export async function rootCommands(line: string): Promise<string[]> {
  const shell = await import('../policy/shell/index.js');
  return shell.rootCommands(line);
}

/** What a command line may do at worst. */
export async function shellRisk(line: string): Promise<Risk> {
  const shell = await import('../policy/shell/index.js');
  return shell.lineRisk(line);
}

/** The presets that ship with Bosun, wherever it is installed. */
export function presetsFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const presets = join(folder, 'policies');
    if (existsSync(join(presets, 'read-only.yaml'))) return presets;
    if (dirname(folder) === folder) throw configProblem('presets', 'the presets are not installed');
  }
}
