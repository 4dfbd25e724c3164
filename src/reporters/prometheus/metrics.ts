/** One measured value, with what tells it from others of its name. */
export interface Point {
  readonly labels: Readonly<Record<string, string | undefined>>;
  /** What is unknown is left out: 0 would be a lie. */
  readonly value: number | null | undefined;
}

export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly points: readonly Point[];
}

/** Metrics as Prometheus reads them, for the textfile collector of its node exporter. All are gauges: each run sets them. */
export function metricsText(metrics: readonly Metric[]): string {
  return metrics.map(metricText).join('');
}

function metricText({ name, help, points }: Metric): string {
  const known = points.flatMap(({ labels, value }) =>
    value === null || value === undefined ? [] : [`${name}${labelsText(labels)} ${value}\n`],
  );
  if (known.length === 0) return '';
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${known.join('')}`;
}

function labelsText(labels: Point['labels']): string {
  const pairs = Object.entries(labels).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}="${escaped(value)}"`],
  );
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
}

function escaped(value: string): string {
  return value
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`);
}
