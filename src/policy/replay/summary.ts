import { EXIT_CODES } from '../../protocol/outcome.js';
import type { Comparison, Difference, Judged } from './compare.js';

/** Differences with the same rules on both sides. */
export interface DifferenceGroup {
  readonly change: 'stricter' | 'looser';
  readonly before: Judged;
  readonly after: Judged;
  readonly differences: readonly Difference[];
}

export interface ReplaySummary {
  readonly transcripts: number;
  readonly calls: number;
  readonly same: number;
  readonly stricter: number;
  readonly looser: number;
  /** Calls that were allowed and succeeded, and would be denied now. */
  readonly refused: number;
  readonly notJudged: readonly Exclude<Comparison, Difference>[];
  readonly groups: readonly DifferenceGroup[];
  /** How looser decisions affect the exit code. */
  readonly against: boolean;
  readonly exitCode: number;
}

/** Sums up all comparisons. Against an old policy, nothing may become looser unseen. */
export function summarize(
  comparisons: readonly Comparison[],
  { transcripts, against }: { readonly transcripts: number; readonly against: boolean },
): ReplaySummary {
  const judged = comparisons.filter((one): one is Difference => one.notJudged === undefined);
  const counted = (change: Difference['change']) => judged.filter((one) => one.change === change).length;
  const [looser, refused] = [counted('looser'), judged.filter((one) => one.refused).length];
  return {
    transcripts,
    calls: comparisons.length,
    same: counted('same'),
    stricter: counted('stricter'),
    looser,
    refused,
    notJudged: comparisons.filter(
      (one): one is Exclude<Comparison, Difference> => one.notJudged !== undefined,
    ),
    groups: groupsOf(judged),
    against,
    exitCode:
      against && looser > 0 ? EXIT_CODES.unverified : refused > 0 ? EXIT_CODES.denied : EXIT_CODES.completed,
  };
}

/** Looser first, then those that deny most of what succeeded, then the most frequent. */
function groupsOf(judged: readonly Difference[]): DifferenceGroup[] {
  const groups = new Map<string, Difference[]>();
  for (const one of judged) {
    if (one.change === 'same') continue;
    const key = JSON.stringify([one.change, sideOf(one.before), sideOf(one.after)]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  const weight = (group: DifferenceGroup) => group.differences.filter(({ refused }) => refused).length;
  return [...groups.values()]
    .map((differences): DifferenceGroup => {
      const { change, before, after } = differences[0] as Difference;
      return { change: change as 'stricter' | 'looser', before, after, differences };
    })
    .toSorted(
      (a, b) =>
        a.change.localeCompare(b.change) ||
        weight(b) - weight(a) ||
        b.differences.length - a.differences.length,
    );
}

/** By rules if there are any, else by the reason: calls with different reasons are not shown under one. */
function sideOf({ decision, rule, reason }: Judged): unknown[] {
  return rule ? [decision, rule.id, rule.file] : [decision, reason];
}
