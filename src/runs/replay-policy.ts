import { openPolicies, type PolicyRequest } from '../policy/load.js';
import { compare, type Comparison, type Judged } from '../policy/replay/compare.js';
import { summarize, type ReplaySummary } from '../policy/replay/summary.js';
import type { EvidenceCall } from '../protocol/evidence.js';
import { configProblem } from '../protocol/problem.js';
import { judgeUnder, type JudgeSettings } from './judge-calls.js';
import { readEvidence } from './read-evidence.js';

export { replayJson } from '../policy/replay/json.js';
export { replayJunit } from '../policy/replay/junit.js';
export { replayText } from '../policy/replay/text.js';

export interface ReplayRequest extends PolicyRequest, JudgeSettings {
  readonly transcripts: readonly string[];
  /** The policy that the new one is held against, instead of what was recorded. */
  readonly against: readonly string[];
}

/** Judges every recorded call again, without a model and without tools. Throws if a transcript cannot be used. */
export async function replayPolicy(request: ReplayRequest): Promise<ReplaySummary> {
  const { against, transcripts, mode: _mode, ...rest } = request;
  if (request.policies.length === 0)
    throw configProblem('policy', 'no policy to judge by', { hint: 'Name one with --policy.' });
  const policy = judgeUnder(await openPolicies(request), request);
  const isAgainst = against.length > 0;
  const old = isAgainst
    ? judgeUnder(await openPolicies({ ...rest, policies: against, mode: undefined }), request)
    : undefined;
  const { runs, unusable } = await readEvidence(transcripts);
  const [broken] = unusable;
  if (broken) throw configProblem('transcript', `${broken.path} cannot be used: ${broken.why}`);
  const comparisons: Comparison[] = [];
  for (const run of runs) {
    for (const call of run.calls) {
      const place = { transcript: run.path, call };
      const after = await policy.judge(call, run);
      const before = old ? await old.judge(call, run) : recorded(call);
      if ('notJudged' in after) comparisons.push({ ...place, ...after });
      else if ('notJudged' in before) comparisons.push({ ...place, ...before });
      else comparisons.push(compare(place, before, after));
    }
  }
  return summarize(comparisons, { transcripts: runs.length, against: isAgainst });
}

function recorded({ decision, rule, reason }: EvidenceCall): Judged | { readonly notJudged: string } {
  if (decision === undefined) return { notJudged: 'nothing was decided about it' };
  return { decision, rule, reason };
}
