import { dirname } from 'node:path';
import type { Mode } from '../protocol/decision.js';
import { withDefaults, modeOnly, type PolicyDocument, type Rule } from './document.js';
import { extended } from './extend.js';
import { fold, narrowed, type EffectivePolicy, type PolicyFlags } from './fold.js';
import { KEYS } from './keys/table.js';
import { checkMentions } from './mentions.js';
import type { OwnPart } from './own-part.js';
import { policyFolder, policyProblem } from './place.js';
import { policyFile, presetsFolder } from './preset-names.js';
import { checkReachable } from './reachable.js';
import { readyPart } from './ready-part.js';

export interface LoadSettings {
  /** The folder of relative names. */
  readonly folder: string;
  /** Where the presets are. */
  readonly presets: string;
}

export interface PolicyRequest {
  /** Presets and files; each decides on its own. */
  readonly policies: readonly string[];
  /** Without policies: the mode. With them it can only narrow. */
  readonly mode: Mode | undefined;
  /** The folder of relative names. */
  readonly folder: string;
  /** Gets them before anyone else. */
  readonly onLoaded?: (policy: EffectivePolicy) => Promise<void>;
}

/** The policies of a run, loaded and checked. */
export async function loadPolicies(request: PolicyRequest): Promise<PolicyDocument[]> {
  const { policies, mode, folder, onLoaded } = request;
  if (policies.length === 0) return [modeOnly(mode ?? 'plan')];
  const documents = await loadAll(policies, { folder, presets: presetsFolder() });
  await onLoaded?.(fold(documents));
  return mode === undefined ? documents : documents.map((document) => narrowed(document, mode));
}

/** Loads them as one policy, for code that only reads it. */
export async function openPolicies(request: PolicyRequest, flags?: PolicyFlags): Promise<EffectivePolicy> {
  return fold(await loadPolicies(request), flags);
}

/** Loads policies by name. What one says about a server may apply to that of another. */
export async function loadAll(names: readonly string[], settings: LoadSettings): Promise<PolicyDocument[]> {
  const documents: PolicyDocument[] = [];
  for (const name of names) documents.push(await loadPolicy(name, settings));
  checkMentions(documents);
  return documents;
}

/** Loads a policy by preset name or path, with all that it extends. Anything doubtful is an error. */
export async function loadPolicy(name: string, settings: LoadSettings): Promise<PolicyDocument> {
  const tried = new Set<string>();
  const file = policyFile(name, settings.folder, settings.presets);
  const document = await load(file, settings, [], tried);
  checkReachable(document.rules);
  const untried = document.rules.filter((rule) => mustBeTried(rule) && !tried.has(rule.reference.file));
  if (untried.length > 0) await (await import('./examples.js')).checkExamples(untried);
  return document;
}

/** Whole commands are their own examples. */
function mustBeTried({ match, notMatch, exact }: Rule): boolean {
  return match.length + notMatch.length > 0 || exact === true;
}

async function load(
  file: string,
  settings: LoadSettings,
  path: readonly string[],
  tried: Set<string>,
): Promise<PolicyDocument> {
  const part = await partOf(file, settings);
  if (part.isTried) tried.add(file);
  let document = withDefaults({});
  for (const [i, name] of part.extends.entries()) {
    const base = baseFile(part, name, i, settings);
    if (base === file || path.includes(base)) {
      throw policyProblem(part, ['extends', i], `it extends itself: ${[...path, file, base].join(' -> ')}`);
    }
    document = layer(document, await load(base, settings, [...path, file], tried));
  }
  return withPart(document, part);
}

/** Puts a file's own values over those of what it extends. */
export function withPart(base: PolicyDocument, { file, sha256, values, mentions }: OwnPart): PolicyDocument {
  return layer(base, { ...values, sources: [{ file, sha256 }], mentions });
}

/** YAML and its readers are loaded only for files that the build has not read. */
async function partOf(file: string, { presets }: LoadSettings): Promise<OwnPart> {
  const ready = dirname(file) === presets ? readyPart(file) : undefined;
  return ready ?? (await import('./read-part.js')).readPart(file);
}

function baseFile(source: OwnPart, name: string, index: number, { presets }: LoadSettings): string {
  try {
    return policyFile(name, policyFolder(source), presets);
  } catch (error) {
    throw policyProblem(source, ['extends', index], (error as Error).message);
  }
}

/** Puts a file's values over those of what it extends. */
function layer(
  base: PolicyDocument,
  over: Pick<PolicyDocument, 'sources' | 'mentions'> & Partial<PolicyDocument>,
): PolicyDocument {
  return {
    ...(extended(KEYS, base, over) as unknown as PolicyDocument),
    sources: [...over.sources, ...base.sources],
    mentions: [...base.mentions, ...over.mentions],
  };
}
