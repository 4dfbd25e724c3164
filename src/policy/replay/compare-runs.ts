import type { EvidenceCall, EvidenceRun } from '../../protocol/evidence.js';
import { compare, type Comparison, type Judged } from './compare.js';
import type { CallJudge } from './judge.js';
import { summarize, type ReplaySummary } from './summary.js';

/** Compares a policy with an old one, or with what was recorded, call by call. */
export async function compareRuns(
  runs: readonly EvidenceRun[],
  policy: CallJudge,
  old: CallJudge | undefined,
): Promise<ReplaySummary> {
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
  return summarize(comparisons, { transcripts: runs.length, against: old !== undefined });
}

function recorded({ decision, rule, reason }: EvidenceCall): Judged | { readonly notJudged: string } {
  if (decision === undefined) return { notJudged: 'nothing was decided about it' };
  return { decision, rule, reason };
}
