import type { EvidenceRun } from '../../protocol/evidence.js';
import { configProblem } from '../../protocol/problem.js';
import type { LeftOut } from './facts.js';

export interface UsableRuns {
  readonly runs: readonly EvidenceRun[];
  /** The rest, and transcripts that could not be read. */
  readonly leftOut: readonly LeftOut[];
}

/** The runs that rules are learnt from. Throws a Problem if there are none. */
export function usableRuns(
  all: readonly EvidenceRun[],
  unreadable: readonly LeftOut[],
  fromDenials: boolean,
): UsableRuns {
  const runs: EvidenceRun[] = [];
  const leftOut = [...unreadable];
  for (const run of all) {
    const why = teachesNothing(run, fromDenials);
    if (why === undefined) runs.push(run);
    else leftOut.push({ path: run.path, why });
  }
  if (runs.length === 0) throw noRuns(leftOut);
  return { runs, leftOut };
}

/** Why nothing is learnt from a run. If its calls were denied, its end says little about its needs. */
function teachesNothing(run: EvidenceRun, fromDenials: boolean): string | undefined {
  const { exitCode } = run;
  const tainted = taintOf(run);
  if (tainted !== undefined || fromDenials) return tainted;
  if (exitCode === undefined) return 'it has no result';
  return exitCode === 0 ? undefined : `it ended with ${exitCode}`;
}

/** Why nothing is learnt from a run, however it ended. */
export function taintOf({ untrusted, dryRun }: EvidenceRun): string | undefined {
  if (untrusted) return 'it had untrusted input';
  return dryRun ? 'it was a dry run' : undefined;
}

function noRuns(leftOut: readonly LeftOut[]) {
  const [first] = leftOut;
  const why = first ? ` (${first.path}: ${first.why}${leftOut.length > 1 ? ', …' : ''})` : '';
  return configProblem('learn', `there is no run to learn from${why}`, {
    hint: 'A run must verify, end with 0 and have no untrusted input.',
  });
}
