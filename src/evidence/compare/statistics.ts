/** Bounds that hold what is estimated in 95 of 100 cases. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Anything less probable than this is not a coincidence. */
const SIGNIFICANCE = 0.05;
/** The quantile of the normal distribution for a two-sided interval of 95 %. */
const Z = 1.959964;
const RESAMPLES = 2000;
/** Fewer differences say nothing about how much they vary. */
export const FEWEST = 6;

/** Wilson's interval for a share: unlike the usual one it is right for few trials, and for 0 and 100 %. */
export function shareInterval(hits: number, trials: number): Interval {
  if (trials === 0) return { low: 0, high: 1 };
  const share = hits / trials;
  const spread = Z * Math.sqrt((share * (1 - share)) / trials + Z ** 2 / (4 * trials ** 2));
  const middle = share + Z ** 2 / (2 * trials);
  const scale = 1 + Z ** 2 / trials;
  return { low: Math.max(0, (middle - spread) / scale), high: Math.min(1, (middle + spread) / scale) };
}

/**
 * Whether that many ups and downs could as well come from tossing a coin (the exact sign test, which for one run per
 * task is McNemar's).
 */
export function isTossUp(ups: number, downs: number): boolean {
  const tosses = ups + downs;
  // The chance of a side that comes up at most as often as the rarer one did, summed up from logarithms.
  let chance = 0;
  let logarithm = -tosses * Math.LN2;
  for (let k = 0; k <= Math.min(ups, downs); k++) {
    chance += Math.exp(logarithm);
    logarithm += Math.log(tosses - k) - Math.log(k + 1);
  }
  return Math.min(1, 2 * chance) >= SIGNIFICANCE;
}

/** An interval for the mean of some differences, by resampling them. Undefined if there are too few to tell. */
export function meanInterval(differences: readonly number[]): Interval | undefined {
  const { length } = differences;
  if (length < FEWEST) return undefined;
  const next = randomIndexes(length);
  const means = new Float64Array(RESAMPLES).map(() => {
    let sum = 0;
    for (let i = 0; i < length; i++) sum += differences[next()] as number;
    return sum / length;
  });
  means.sort();
  const at = (share: number) => means[Math.round(share * (RESAMPLES - 1))] as number;
  return { low: at(SIGNIFICANCE / 2), high: at(1 - SIGNIFICANCE / 2) };
}

/** Always the same sequence: a comparison of the same runs says the same. */
function randomIndexes(length: number): () => number {
  let state = 0x9e3779b9;
  return () => {
    // Marsaglia's xorshift.
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % length;
  };
}
