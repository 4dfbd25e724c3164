import { realPath } from '../lib/real-path.js';
import type { Policy } from '../protocol/decision.js';
import { runsFolder } from '../protocol/runs-folder.js';
import { allOf } from './all-of.js';
import { createEngine } from './engine.js';
import type { RuleSet } from './fold.js';
import { namedFiles, type NamedFiles } from './named-files.js';
import type { Dialect } from './shell/model.js';

/** Where policies apply. */
export interface PolicyPlace {
  readonly workspace: string;
  readonly writeProtected: readonly string[];
  /** What git obeys in the workspace. */
  readonly obeyed: readonly string[];
  readonly home: string | undefined;
  readonly untrusted: boolean;
  readonly dialect?: () => Dialect;
  readonly hiddenBySandbox?: () => boolean;
  readonly variable?: (name: string) => string | undefined;
}

/** Ready to decide about the calls of a run. */
export function enginesOf(sets: readonly RuleSet[], place: PolicyPlace): Policy {
  const settings = guardedPlace(sets, place);
  return allOf(sets.map((set) => createEngine(set, settings)));
}

/** `enginesOf`, with the rules that would allow what is denied. */
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
      const { remedyFor } = await import('./remedy.js');
      return { ...answer, remedy: await remedyFor(request, answer, withRules, place.workspace) };
    },
  };
}

/** The files that policies themselves read and write, inside their own boundary. */
export function filesNamedIn(sets: readonly RuleSet[], place: PolicyPlace): NamedFiles {
  const names = sets.some(({ context, memory }) => context.length > 0 || memory);
  return namedFiles(sets, names ? guardedPlace(sets, place) : place);
}

/** The policies themselves, the records of runs, and what git obeys are never written. */
function guardedPlace(sets: readonly RuleSet[], place: PolicyPlace): PolicyPlace {
  const { workspace, writeProtected, obeyed } = place;
  const own = sets.flatMap(({ sources }) => sources.map(({ file }) => realPath(file)));
  return { ...place, writeProtected: [...writeProtected, runsFolder(workspace), ...own, ...obeyed] };
}
