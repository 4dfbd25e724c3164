import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { fileChange } from '../lib/line-diff.js';
import { ceilingOf } from '../policy/learn/ceiling.js';
import { proposalTexts, type Refused } from '../policy/learn/denials.js';
import { learnFrom, type Lessons } from '../policy/learn/learn.js';
import { mergedText } from '../policy/learn/merge.js';
import { HEADER, comment } from '../policy/learn/write.js';
import { loadText } from '../policy/load-text.js';
import type { EffectivePolicy } from '../policy/fold.js';
import { shownCall } from '../policy/replay/shown-call.js';
import type { EvidenceRun } from '../protocol/evidence.js';
import { configProblem } from '../protocol/problem.js';
import { judgeUnder } from './judge-calls.js';
import { gatherCandidates } from '../policy/learn/candidates.js';
import type { LeftOut } from '../policy/learn/facts.js';
import { learnPolicy, trialUnder, type LearnSettings } from './learn-policy.js';
import { enginesWithRemedies } from '../policy/engines.js';
import { openPolicies, type PolicyRequest } from '../policy/load.js';
import { dialectFor } from './policies.js';
import { readEvidence } from './read-evidence.js';
import { signedBy } from './signed-evidence.js';

export interface LearnRequest
  extends Pick<PolicyRequest, 'folder' | 'onLoaded'>, Omit<LearnSettings, 'leftOut' | 'ceilingName'> {
  readonly transcripts: readonly string[];
  readonly ceiling: string;
  readonly fromDenials?: boolean;
  readonly merge?: string;
  /** Only what one of these has signed counts. */
  readonly trustedKeys?: readonly string[];
}

export interface LearnAnswer {
  /** The policy, or the one that was merged into. */
  readonly text: string;
  /** What merging changed. */
  readonly diff?: string;
  readonly lessons?: Lessons;
  readonly runs: number;
  readonly leftOut: readonly LeftOut[];
}

/** Learns from transcripts what a policy would have to allow. */
export async function learn(request: LearnRequest): Promise<LearnAnswer> {
  const { ceiling: name, folder, trustedKeys = [], onLoaded, fromDenials = false } = request;
  const wanted = { mode: undefined, folder, ...(onLoaded && { onLoaded }) };
  const ceiling = await openPolicies({ ...wanted, policies: [name] });
  const vouched = trustedKeys.length > 0 ? signedBy(trustedKeys, folder) : undefined;
  const { runs: all, unusable } = await readEvidence(request.transcripts, vouched);
  const faults = all.map((run) => ({ run, why: faultOf(run, fromDenials) }));
  const runs = faults.flatMap(({ run, why }) => (why === undefined ? [run] : []));
  const leftOut = [
    ...unusable,
    ...faults.flatMap(({ run, why }) => (why === undefined ? [] : [{ path: run.path, why }])),
  ];
  if (runs.length === 0) throw noRuns(leftOut);
  const settings = { ...request, ceilingName: name, leftOut };
  if (fromDenials) return { ...(await fromRefusals(runs, ceiling, settings)), runs: runs.length, leftOut };
  if (request.merge !== undefined) {
    const target = await openPolicies({ ...wanted, policies: [request.merge] });
    return { ...(await merge(runs, ceiling, target, settings)), runs: runs.length, leftOut };
  }
  const { text, lessons } = await learnPolicy(runs, ceiling, settings);
  return { text, lessons, runs: runs.length, leftOut };
}

/** Why nothing is learnt from a run. Of one whose calls were refused, the end says little about what it needs. */
function faultOf({ exitCode, untrusted, dryRun }: EvidenceRun, fromDenials: boolean): string | undefined {
  if (untrusted) return 'it had untrusted input';
  if (dryRun) return 'it was a dry run';
  if (fromDenials) return undefined;
  if (exitCode === undefined) return 'it has no result';
  return exitCode === 0 ? undefined : `it ended with ${exitCode}`;
}

function noRuns(leftOut: readonly LeftOut[]) {
  const [first] = leftOut;
  const why = first ? ` (${first.path}: ${first.why}${leftOut.length > 1 ? ', …' : ''})` : '';
  return configProblem('learn', `there is no run to learn from${why}`, {
    hint: 'A run must verify, end with 0 and have no untrusted input.',
  });
}

/** Rules for what a policy of somebody's does not allow yet. */
async function merge(
  runs: readonly EvidenceRun[],
  ceiling: EffectivePolicy,
  target: EffectivePolicy,
  settings: LearnSettings,
): Promise<Pick<LearnAnswer, 'text' | 'diff' | 'lessons'>> {
  const file = target.ruleSets[0]?.sources[0]?.file ?? '';
  const before = readFileSync(file, 'utf8');
  const { candidates, unlearnt } = await gatherCandidates(runs, judgeUnder(ceiling, settings));
  const lessons = await learnFrom(candidates, {
    ceiling: ceilingOf(ceiling.ruleSets),
    minRuns: settings.minRuns,
    dialect: dialectFor(ceiling.shell, settings.searchPath)(),
    allows: trialUnder(target.ruleSets),
    wordForWord: target.ruleSets.some(({ shell }) => shell.readScope !== 'workspace'),
  });
  const text = await mergedText(before, lessons.rules);
  const { diff } = fileChange(basename(file), before, text);
  return {
    text,
    diff: text === before ? '' : diff,
    lessons: { ...lessons, unlearnt: [...lessons.unlearnt, ...unlearnt] },
  };
}

/** The smallest rules for what was refused: those that `policy explain` and reports give. */
async function fromRefusals(
  runs: readonly EvidenceRun[],
  ceiling: EffectivePolicy,
  settings: LearnSettings,
): Promise<Pick<LearnAnswer, 'text'>> {
  const judge = judgeUnder(ceiling, settings);
  const refused: Refused[] = [];
  for (const run of runs) {
    for (const call of run.calls) {
      const wasRefused = call.decision === 'deny' || (call.decision === 'ask' && !call.approved);
      if (!wasRefused || call.redacted) continue;
      const asked = await judge.asked(call, run);
      if ('notJudged' in asked) continue;
      const answer = await enginesWithRemedies(ceiling.ruleSets, asked.place).decide(asked.request);
      const what = shownCall(call, 200);
      const seen = { run: run.session, date: run.startedAt, call, what };
      if ('outside' in answer) refused.push({ ...seen, remedy: { none: answer.outside } });
      else if (answer.remedy) refused.push({ ...seen, remedy: answer.remedy });
    }
  }
  const lines = [
    HEADER,
    comment(`Proposals from calls that were refused, under the ceiling ${settings.ceilingName}.`),
    'version: 1',
    'mode: plan',
    'on_ask: deny',
    'shell: {read_scope: workspace}',
    ...proposalTexts(refused),
  ];
  const text = `${lines.join('\n')}\n`;
  await loadText(settings.file, text);
  return { text };
}

/** A file that somebody else wrote is not written over. */
export function checkOutput(file: string, folder: string): void {
  const path = resolve(folder, file);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return;
  }
  if (text !== '' && !text.startsWith(HEADER))
    throw configProblem('output', `${file} is there already, and was not written by policy learn`, {
      hint: 'Choose another name, or add what is missing with --merge.',
    });
}
