import { own } from '../../lib/own.js';
import { FIGURES, type Figure, type Pair, type Sample } from './sample.js';
import { isTossUp, meanInterval, shareInterval, type Interval } from './statistics.js';

/** One of the two things compared. */
export interface Side {
  /** As it was given: a file or a folder. */
  readonly name: string;
  readonly samples: readonly Sample[];
}

export interface PassRate extends Interval {
  readonly passed: number;
  readonly runs: number;
  readonly rate: number;
}

/** A task that passed on one side only. */
export interface Switched {
  readonly task: string;
  readonly a: string;
  readonly b: string;
  /** On one side it both passed and failed. */
  readonly flaky: boolean;
}

export interface FigureChange {
  readonly name: Figure;
  /** The tasks for which both sides know it. */
  readonly tasks: number;
  /** Per task. */
  readonly a: number;
  readonly b: number;
  /** A share of A's, such as 0.1 for 10 % more; null if that is 0. */
  readonly change: number | null;
  /** Of the difference per task; null if there are too few tasks to tell. */
  readonly interval: Interval | null;
  /** Null if there are too few tasks to tell. */
  readonly noise: boolean | null;
}

export interface Comparison {
  readonly a: { readonly name: string; readonly tasks: number };
  readonly b: { readonly name: string; readonly tasks: number };
  /** What is compared: tasks that have ended on both sides. */
  readonly tasks: number;
  readonly only_a: readonly string[];
  readonly only_b: readonly string[];
  /** In both, but not ended on that side. */
  readonly not_ended: { readonly a: readonly string[]; readonly b: readonly string[] };
  readonly pass_rate: {
    readonly a: PassRate;
    readonly b: PassRate;
    readonly difference: number;
    readonly noise: boolean;
  };
  readonly gained: readonly Switched[];
  readonly lost: readonly Switched[];
  readonly figures: readonly FigureChange[];
  /** Calls per task, by tool: those that differ most first. */
  readonly tools: readonly { readonly name: string; readonly a: number; readonly b: number }[];
}

/** Compares what came of the same tasks on two sides. */
export function compareSides(a: Side, b: Side): Comparison {
  const inB = new Map(b.samples.map((sample) => [sample.key, sample]));
  const inA = new Set(a.samples.map(({ key }) => key));
  const both = a.samples.flatMap((sample): Pair[] => {
    const other = inB.get(sample.key);
    return other ? [{ a: sample, b: other }] : [];
  });
  const pairs = both.filter(hasEnded);
  return {
    a: { name: a.name, tasks: a.samples.length },
    b: { name: b.name, tasks: b.samples.length },
    tasks: pairs.length,
    only_a: a.samples.filter(({ key }) => !inB.has(key)).map(({ name }) => name),
    only_b: b.samples.filter(({ key }) => !inA.has(key)).map(({ name }) => name),
    not_ended: {
      a: both.filter((pair) => pair.a.passed === undefined).map((pair) => pair.a.name),
      b: both.filter((pair) => pair.b.passed === undefined).map((pair) => pair.a.name),
    },
    pass_rate: passRates(pairs),
    gained: pairs.filter((pair) => !pair.a.passed && pair.b.passed).map(switched),
    lost: pairs.filter((pair) => pair.a.passed && !pair.b.passed).map(switched),
    figures: FIGURES.flatMap((name) => figureChange(name, pairs) ?? []),
    tools: toolChanges(pairs),
  };
}

function hasEnded({ a, b }: Pair): boolean {
  return a.passed !== undefined && b.passed !== undefined;
}

function switched({ a, b }: Pair): Switched {
  const isFlaky = ({ runs }: Sample) => runs.passed > 0 && runs.failed > 0;
  return { task: a.name, a: a.status, b: b.status, flaky: isFlaky(a) || isFlaky(b) };
}

function passRates(pairs: readonly Pair[]): Comparison['pass_rate'] {
  const a = passRate(pairs.map((pair) => pair.a));
  const b = passRate(pairs.map((pair) => pair.b));
  const changes = pairs.map((pair) => shareOf(pair.b) - shareOf(pair.a));
  const noise = isTossUp(
    changes.filter((change) => change > 0).length,
    changes.filter((change) => change < 0).length,
  );
  return { a, b, difference: b.rate - a.rate, noise };
}

function passRate(samples: readonly Sample[]): PassRate {
  const passed = samples.reduce((sum, { runs }) => sum + runs.passed, 0);
  const runs = samples.reduce((sum, one) => sum + one.runs.passed + one.runs.failed, 0);
  return { passed, runs, rate: runs > 0 ? passed / runs : 0, ...shareInterval(passed, runs) };
}

function shareOf({ runs }: Sample): number {
  return runs.passed / Math.max(1, runs.passed + runs.failed);
}

/** Undefined if no task has it on both sides. */
function figureChange(name: Figure, pairs: readonly Pair[]): FigureChange | undefined {
  const known = pairs.flatMap((pair) => {
    const [a, b] = [pair.a.figures[name], pair.b.figures[name]];
    return a === undefined || b === undefined ? [] : [[a, b] as const];
  });
  if (known.length === 0) return undefined;
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const a = mean(known.map(([value]) => value));
  const b = mean(known.map(([, value]) => value));
  const interval = meanInterval(known.map(([before, after]) => after - before)) ?? null;
  return {
    name,
    tasks: known.length,
    a,
    b,
    change: a > 0 ? b / a - 1 : null,
    interval,
    noise: interval && interval.low <= 0 && interval.high >= 0,
  };
}

/** Of the tasks whose calls both sides know. */
function toolChanges(pairs: readonly Pair[]): Comparison['tools'] {
  const known = pairs.flatMap(({ a, b }) => (a.tools && b.tools ? { a: a.tools, b: b.tools } : []));
  const names = new Set(known.flatMap(({ a, b }) => [...Object.keys(a), ...Object.keys(b)]));
  const callsOf = (side: 'a' | 'b', name: string) =>
    known.reduce((sum, pair) => sum + (own(pair[side], name) ?? 0), 0) / known.length;
  return [...names]
    .map((name) => ({ name, a: callsOf('a', name), b: callsOf('b', name) }))
    .toSorted((one, other) => Math.abs(other.b - other.a) - Math.abs(one.b - one.a));
}
