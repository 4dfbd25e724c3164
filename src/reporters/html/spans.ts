import type { Row } from './row.js';

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** How much time spans take together, overlaps counted once. */
export function coveredMs(spans: readonly Span[]): number {
  let sum = 0;
  let reached = 0;
  for (const { start, end } of spans.toSorted((one, other) => one.start - other.start)) {
    if (end > reached) sum += end - Math.max(start, reached);
    reached = Math.max(reached, end);
  }
  return sum;
}

/** Puts spans into lanes without overlaps; those that find no room go into the last lane. */
export function lanesOf<T extends Span>(spans: readonly T[], most: number): T[][] {
  const lanes: { free: number; spans: T[] }[] = [];
  for (const span of spans.toSorted((one, other) => one.start - other.start)) {
    let lane = lanes.find(({ free }) => free <= span.start);
    if (!lane && lanes.length < most) lanes.push((lane = { free: 0, spans: [] }));
    lane ??= lanes.at(-1) as (typeof lanes)[number];
    lane.free = Math.max(lane.free, span.end);
    lane.spans.push(span);
  }
  return lanes.map(({ spans }) => spans);
}

/** What a run spent its time on. Waits are inside turns, unless no turn came of them. */
export function timeSpent(rows: readonly Row[], total: number) {
  const rowsOf = (kind: Row['kind']) => rows.filter((row) => row.kind === kind);
  const waits = coveredMs(rowsOf('wait'));
  const model = coveredMs([...rowsOf('turn'), ...rowsOf('wait')]) - waits;
  const tools = coveredMs(rowsOf('call').filter(({ state }) => state !== 'waiting'));
  const checks = coveredMs(rowsOf('check'));
  return { model, waits, tools, checks, rest: Math.max(0, total - model - waits - tools - checks) };
}
