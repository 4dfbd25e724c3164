import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gitFolder } from '../lib/git.js';
import { isInside, realPath } from '../lib/real-path.js';
import { allowsNothing } from '../policy/allows-nothing.js';
import { completed, modeOnly, type PolicyDocument } from '../policy/document.js';
import { allOf } from '../policy/all-of.js';
import { createEngine } from '../policy/engine.js';
import { fold, narrowed, type EffectivePolicy, type PolicyFlags, type RuleSet } from '../policy/fold.js';
import { loadAll } from '../policy/load.js';
import { namedFiles, type NamedFiles } from '../policy/named-files.js';
import type { Dialect } from '../policy/shell/model.js';
import type { Mode, Policy } from '../protocol/decision.js';
import { configProblem } from '../protocol/problem.js';
import type { Risk } from '../protocol/risk.js';
import { obeyedPlaces } from '../sandbox/git/obeyed.js';
import { shellOf } from '../sandbox/local.js';
import { unattended } from '../tools/unattended.js';
import { runsFolder } from '../protocol/runs-folder.js';
import { childEnvironment, type RunRequest, type Variables } from './settings.js';

export interface PolicyRequest {
  /** Presets and files; each decides on its own. */
  readonly policies: readonly string[];
  /** Without policies: the mode. With them: it may only narrow. */
  readonly mode: Mode | undefined;
  /** Where relative names count from. */
  readonly folder: string;
  /** Hears of them before anybody else. */
  readonly onLoaded?: (policy: EffectivePolicy) => Promise<void>;
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
  const documents = await loadAll(policies, { folder, presets: presetsFolder() });
  await onLoaded?.(fold(documents));
  return mode === undefined ? documents : documents.map((document) => narrowed(document, mode));
}

/** The same as one policy, for those who only look. */
export async function openPolicies(request: PolicyRequest, flags?: PolicyFlags): Promise<EffectivePolicy> {
  return fold(await loadPolicies(request), flags);
}

/** Why nothing can come of a run under some of its policies. */
export function uselessPolicies({ recorded }: EffectivePolicy): string[] {
  return recorded.map(completed).flatMap((document) => {
    const why = allowsNothing(document);
    return why === undefined ? [] : [`the policy ${document.sources[0]?.file}: ${why}`];
  });
}

/** What the flags of a run say about keys of its policies. */
export function policyFlags({ limits = {}, verify = [], requireChanges }: FlagRequest): PolicyFlags {
  return { limits, success: { verify, requireChanges } };
}

type FlagRequest = Pick<RunRequest, 'limits' | 'verify' | 'requireChanges'>;

/** Ready to decide about the calls of a run. */
export function enginesOf(sets: readonly RuleSet[], place: PolicyPlace): Policy {
  const settings = guarded(sets, place);
  return allOf(sets.map((set) => createEngine(set, settings)));
}

/** The same, and says of what is refused which rules would allow it. */
export function enginesWithRemedies(sets: readonly RuleSet[], place: PolicyPlace): Policy {
  const policy = enginesOf(sets, place);
  const withRules = (rules: RuleSet['rules']) =>
    enginesOf(
      sets.map((set) => ({ ...set, rules: [...set.rules, ...rules] })),
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
export function filesNamedIn(sets: readonly RuleSet[], place: PolicyPlace): NamedFiles {
  return namedFiles(sets, guarded(sets, place));
}

/** The policies themselves, the records of runs, and what git obeys are never written. */
function guarded(sets: readonly RuleSet[], place: PolicyPlace): PolicyPlace {
  const { workspace, writeProtected } = place;
  const own = sets.flatMap(({ sources }) => sources.map(({ file }) => realPath(file)));
  const repository = gitFolder(workspace);
  // A repository that calls the whole workspace its hooks is not obeyed, and does not stop all work either.
  const obeyed = (repository ? obeyedPlaces(repository, place.home) : []).filter(
    (path) => !isInside(path, workspace),
  );
  return { ...place, writeProtected: [...writeProtected, runsFolder(workspace), ...own, ...obeyed] };
}

/** Command lines are judged by the grammar of the shell that would run them. */
export function dialectFor({ set }: EffectivePolicy['shell'], searchPath: string | undefined): () => Dialect {
  return () => {
    const { PATH = searchPath } = set;
    return basename(shellOf(PATH)) === 'bash' ? 'bash' : 'sh';
  };
}

/** The variables that command lines see. */
export function variablesFor(
  shell: EffectivePolicy['shell'],
  variables: Variables,
): (name: string) => string | undefined {
  const environment = unattended(childEnvironment(variables, shell));
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
