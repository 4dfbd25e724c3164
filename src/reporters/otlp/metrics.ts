import type { ResultEvent, TurnEvent } from '../../protocol/event.js';
import { attributesJson, nanoseconds, type Attributes } from './protocol.js';
import { modelAttributes, type RunFacts } from './spans.js';

/** The bounds that the conventions recommend. */
const TOKENS = Array.from({ length: 14 }, (_, i) => 4 ** i);
const SECONDS = Array.from({ length: 14 }, (_, i) => 2 ** i / 100);

/** Each run reports what happened in it. */
const DELTA = 1;

export interface Measured {
  readonly facts: RunFacts;
  readonly turns: readonly TurnEvent[];
  readonly result: ResultEvent | undefined;
  /** In milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
}

export function metricsJson({ facts, turns, result, start, end }: Measured): object[] {
  const time = { startTimeUnixNano: nanoseconds(start), timeUnixNano: nanoseconds(end) };
  const common = modelAttributes(facts);
  const point = (attributes: Attributes) => ({ attributes: attributesJson(attributes), ...time });
  const tokens = (type: 'input' | 'output', values: readonly (number | undefined)[]) => ({
    ...point({ ...common, 'gen_ai.token.type': type }),
    ...histogram(values, TOKENS),
  });
  const { cost_usd, tools = {} } = result?.stats ?? {};
  const all = [
    histogramMetric('gen_ai.client.token.usage', '{token}', [
      tokens(
        'input',
        turns.map(({ usage }) => usage?.prompt),
      ),
      tokens(
        'output',
        turns.map(({ usage }) => usage?.output),
      ),
    ]),
    histogramMetric('gen_ai.client.operation.duration', 's', [
      {
        ...point(common),
        ...histogram(
          turns.map(({ latency_ms }) => latency_ms / 1000),
          SECONDS,
        ),
      },
    ]),
    sumMetric('bosun.runs', '{run}', [
      { ...point({ ...common, 'bosun.status': result?.status ?? 'interrupted' }), asInt: '1' },
    ]),
    sumMetric(
      'bosun.cost',
      '{USD}',
      cost_usd === undefined ? [] : [{ ...point(common), asDouble: cost_usd }],
    ),
    sumMetric(
      'bosun.tool.calls',
      '{call}',
      Object.entries(tools).flatMap(([tool, one]) =>
        (['success', 'error', 'cancelled'] as const)
          .filter((status) => one[status] > 0)
          .map((status) => ({
            ...point({ 'gen_ai.tool.name': tool, 'bosun.status': status }),
            asInt: String(one[status]),
          })),
      ),
    ),
  ];
  return all.flatMap(({ points, metric }) => (points === 0 ? [] : metric));
}

function histogramMetric(name: string, unit: string, points: readonly { readonly count: string }[]) {
  const dataPoints = points.filter(({ count }) => count !== '0');
  return {
    points: dataPoints.length,
    metric: { name, unit, histogram: { aggregationTemporality: DELTA, dataPoints } },
  };
}

function sumMetric(name: string, unit: string, dataPoints: readonly object[]) {
  return {
    points: dataPoints.length,
    metric: { name, unit, sum: { aggregationTemporality: DELTA, isMonotonic: true, dataPoints } },
  };
}

/** What is not known is not counted. */
function histogram(values: readonly (number | undefined)[], bounds: readonly number[]) {
  const known = values.filter((value) => value !== undefined);
  // Each bucket holds what is above the bound before it.
  const buckets = [...bounds, Infinity].map(
    (bound, i) => known.filter((value) => value <= bound && value > (bounds[i - 1] ?? -Infinity)).length,
  );
  return {
    count: String(known.length),
    sum: known.reduce((sum, value) => sum + value, 0),
    ...(known.length > 0 && { min: Math.min(...known), max: Math.max(...known) }),
    bucketCounts: buckets.map(String),
    explicitBounds: bounds,
  };
}
