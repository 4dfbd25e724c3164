import type { Variables } from '../lib/redact/secrets.js';
import type { CollectorReport, RunDocument, RunnerReport } from './document.js';
import type { Answer } from './findings/answers.js';

/** Options for creating documents. */
export interface DocumentOptions {
  /** The most bytes that a document may take, if it can be cut. */
  readonly maxBytes?: number;
}

interface DocumentRow {
  readonly writes: 'a document';
  /** What it writes, for the docs. */
  readonly about: string;
  /** Several of them in a row are not a valid document. */
  readonly standsAlone?: true;
  readonly load: (options: DocumentOptions) => Promise<RunDocument>;
}

interface RunnerRow {
  readonly writes: 'to the runner';
  readonly about: string;
  readonly load: () => Promise<RunnerReport>;
}

interface CollectorRow {
  readonly writes: 'to a collector';
  readonly about: string;
  readonly load: (variables: Variables) => Promise<CollectorReport>;
}

/**
 * What `--reporter` can name: one line each, loaded on demand. `bosun report --NAME`, help and
 * docs/reporters.md come from here.
 */
export const REPORTERS = {
  github: {
    writes: 'to the runner',
    about: 'annotations for the log of a workflow, and a summary of the step',
    load: async () => new (await import('./github/report.js')).GithubReport(),
  },
  junit: {
    writes: 'a document',
    about: 'a JUnit report, for CI systems that show tables of tests',
    standsAlone: true,
    load: async () => new (await import('./junit.js')).JunitReport(),
  },
  markdown: {
    writes: 'a document',
    about: 'the summary of `github` as a file, for a comment or an archive',
    load: async ({ maxBytes }: DocumentOptions) =>
      new (await import('./markdown/report.js')).MarkdownReport(maxBytes),
  },
  html: {
    writes: 'a document',
    about: 'a page for people, with everything in it',
    standsAlone: true,
    load: async () => new (await import('./html/report.js')).HtmlReport(),
  },
  sarif: {
    writes: 'a document',
    about: 'findings (`--output-schema findings`) as SARIF, for code scanning',
    standsAlone: true,
    load: async () => findings((await import('./findings/sarif.js')).sarifText),
  },
  codequality: {
    writes: 'a document',
    about: 'findings (`--output-schema findings`) as a Code Quality report of GitLab',
    standsAlone: true,
    load: async () => findings((await import('./findings/code-quality.js')).codeQualityText),
  },
  prometheus: {
    writes: 'a document',
    about: 'figures for monitoring, as a text file that the node exporter of Prometheus reads',
    standsAlone: true,
    load: async () => new (await import('./prometheus/report.js')).PrometheusReport(),
  },
  otlp: {
    writes: 'to a collector',
    about: 'traces and metrics by OTLP/HTTP, to the collector that `OTEL_EXPORTER_OTLP_ENDPOINT` names',
    load: async (variables: Variables) => new (await import('./otlp/report.js')).OtlpReport(variables),
  },
} as const satisfies Readonly<Record<string, DocumentRow | RunnerRow | CollectorRow>>;

async function findings(write: (answers: readonly Answer[]) => string): Promise<RunDocument> {
  return new (await import('./findings/report.js')).FindingsReport(write);
}

type Rows = typeof REPORTERS;
type NamesOf<Row> = { [Name in keyof Rows]: Rows[Name] extends Row ? Name : never }[keyof Rows];
export type DocumentName = NamesOf<DocumentRow>;
export type RunnerName = NamesOf<RunnerRow>;
export type CollectorName = NamesOf<CollectorRow>;
export type ReporterName = DocumentName | RunnerName | CollectorName;

export const REPORTER_NAMES = Object.keys(REPORTERS) as readonly ReporterName[];
export const DOCUMENT_NAMES = REPORTER_NAMES.filter(isDocument);

export function isReporter(name: string): name is ReporterName {
  return Object.hasOwn(REPORTERS, name);
}

export function isDocument(name: ReporterName): name is DocumentName {
  return REPORTERS[name].writes === 'a document';
}

export function isCollector(name: ReporterName): name is CollectorName {
  return REPORTERS[name].writes === 'to a collector';
}

/** Whether several reports of this name may be printed in a row. */
export function canFollow(name: ReporterName): boolean {
  const row: DocumentRow | RunnerRow | CollectorRow = REPORTERS[name];
  return row.writes !== 'a document' || !row.standsAlone;
}

/** As in a flag: `github`, `junit=FILE`. */
export function reporterSyntax(name: ReporterName): string {
  return isDocument(name) ? `${name}=FILE` : name;
}
