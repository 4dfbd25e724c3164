import type { EvidenceRun } from '../../protocol/evidence.js';
import { configProblem } from '../../protocol/problem.js';
import { enginesOf } from '../engines.js';
import { fold, type EffectivePolicy, type RuleSet } from '../fold.js';
import { lint } from '../lint.js';
import { loadText } from '../load-text.js';
import type { CallJudge } from '../replay/judge.js';
import type { Dialect } from '../shell/model.js';
import { readSource } from '../source.js';
import { gatherCandidates, usedBy, type Gathered, type PlacedCandidate } from './candidates.js';
import { carriedFrom, type CeilingSources } from './carried.js';
import { ceilingOf } from './ceiling.js';
import { aboutLines, type LeftOut } from './facts.js';
import { learnFrom, type Learning, type Lessons } from './learn.js';
import { policyText } from './write.js';

export interface LearnSettings {
  /** Decides about recorded calls under a policy. */
  readonly judgeUnder: (policy: EffectivePolicy) => CallJudge;
  /** The shell grammar that a policy gives to commands. */
  readonly dialectOf: (shell: EffectivePolicy['shell']) => Dialect;
  readonly minRuns: number;
  /** The name of the new file: no policy lets itself be written. */
  readonly file: string;
  /** What the ceiling is called in messages. */
  readonly ceilingName: string;
  readonly leftOut: readonly LeftOut[];
}

export interface LearntPolicy {
  readonly text: string;
  readonly lessons: Lessons;
  readonly gathered: Gathered;
}

/** Calls that turn out to be denied are left out, and the rest is tried again, at most this often. */
const MAX_ROUNDS = 5;

/** The policy that runs needed, inside a ceiling. */
export async function learnPolicy(
  runs: readonly EvidenceRun[],
  ceiling: EffectivePolicy,
  settings: LearnSettings,
): Promise<LearntPolicy> {
  const { minRuns, file } = settings;
  const gathered = await gatherCandidates(runs, settings.judgeUnder(ceiling));
  const carried = carriedFrom(await ceilingSources(ceiling), usedBy(gathered.candidates, ceiling, minRuns));
  const bare = await loadText(file, await policyText({ about: [], carried, rules: [], unlearnt: [] }));
  const refused = new Set<string>();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const candidates = gathered.candidates.filter((one) => !refused.has(callName(one)));
    const lessons = await learnFrom(candidates, {
      ceiling: ceilingOf(ceiling.ruleSets),
      minRuns,
      dialect: settings.dialectOf(ceiling.shell),
      allows: trialUnder(fold([bare]).ruleSets),
    });
    const told = { ...lessons, unlearnt: [...lessons.unlearnt, ...gathered.unlearnt] };
    const about = aboutLines({ ...settings, runs, gathered, lessons: told, carried, ceiling });
    const text = await policyText({ about, carried, rules: lessons.rules, unlearnt: told.unlearnt });
    const more = await refusedBy(text, lessons, settings);
    if (more.length === 0) return { text, lessons: told, gathered };
    for (const name of more) refused.add(name);
  }
  throw configProblem('learn', 'the rules that were found do not allow what they were learnt from');
}

function callName({ run, call }: { readonly run: string; readonly call: { readonly id: string } }): string {
  return JSON.stringify([run, call.id]);
}

/** The source of each policy of the ceiling, starting with what it extends. */
function ceilingSources({ ruleSets }: EffectivePolicy): Promise<CeilingSources[]> {
  const sources = (files: RuleSet['sources']) => Promise.all(files.map(({ file }) => readSource(file)));
  return Promise.all(ruleSets.map((set) => sources(set.sources.toReversed())));
}

/** Whether these policies with further rules in each would allow a call. */
export function trialUnder(sets: readonly RuleSet[]): Learning['allows'] {
  return async (candidate, rules) => {
    const { place, request } = candidate as PlacedCandidate;
    const richer = sets.map((set) => ({ ...set, rules: [...set.rules, ...rules] }));
    const answer = await enginesOf(richer, place).decide(request);
    return !('outside' in answer) && answer.decision === 'allow';
  };
}

/** Calls that the finished policy would still deny, and those that need a rule lint warns of: none is written. */
async function refusedBy(
  text: string,
  { calls, rules }: Lessons,
  settings: LearnSettings,
): Promise<string[]> {
  const document = await loadText(settings.file, text);
  const warned = lint(document).map((warning) => {
    const at = document.rules.findIndex(({ reference }) => reference.id === warning.rule);
    const rule = rules[at];
    if (!rule) throw configProblem('learn', `the policy that was found is too wide: ${warning.message}`);
    return rule.entries.flatMap(({ seen }) => seen.map(callName));
  });
  if (warned.length > 0) return warned.flat();
  const judge = settings.judgeUnder(fold([document]));
  const refused: string[] = [];
  for (const one of calls) {
    const judged = await judge.judge(one.call, (one as unknown as PlacedCandidate).evidence);
    if ('notJudged' in judged || judged.decision !== 'allow') refused.push(callName(one));
  }
  return refused;
}
