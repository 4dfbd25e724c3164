import { resolve } from 'node:path';
import { errorMessage, plainReason } from '../lib/errors.js';
import { LateFile } from '../lib/late-file.js';
import { realPath } from '../lib/real-path.js';
import type { Reporter, TranscriptLine } from '../protocol/event.js';
import { configProblem } from '../protocol/problem.js';
import type { Variables } from '../lib/redact/secrets.js';
import {
  isCollector,
  isDocument,
  REPORTERS,
  type CollectorName,
  type DocumentName,
  type DocumentOptions,
  type RunnerName,
} from './registry.js';
import type { ReportTarget } from './targets.js';
import { StepSummary } from './github/step-summary.js';

export interface ReportsOptions extends DocumentOptions {
  readonly targets: readonly ReportTarget[];
  /** A file that is in use: the transcript. */
  readonly taken?: string | undefined;
  /** The run has not begun: what an earlier one left is removed. */
  readonly fresh: boolean;
  /** Prints a document that has no file. */
  readonly print?: (text: string) => void;
  /** Prints commands for a CI runner, unchanged. */
  readonly command: (text: string) => void;
  /** The file for the summary of a step of a workflow, if there is one. */
  readonly stepSummary?: string | undefined;
  /** The environment, which names the collector. */
  readonly variables: Variables;
  /** Called if a report fails once the outcome is known. */
  readonly warn: (message: string) => void;
}

/** Follows a run, or gets its events later, and writes a report when it is over. */
export interface Report extends Reporter {
  past(line: TranscriptLine): void;
  /** Its file, if it has its own. */
  readonly file?: string;
  clear(): void;
  /** Writes the report about the events so far. */
  publish(): void;
  /** Waits until what was published has arrived. */
  arrived?(): Promise<void>;
}

/** Opens reports, so that unwritable files are noticed before anything is done. */
export async function openReports(options: ReportsOptions): Promise<Report[]> {
  const reports: Report[] = [];
  const taken = options.taken === undefined ? undefined : realPath(resolve(options.taken));
  for (const target of options.targets) {
    const report = await openReport(target, options);
    const { file } = report;
    if (file !== undefined && file === taken)
      throw configProblem('reporter', `the ${target.name} report would overwrite the transcript ${file}`);
    if (file !== undefined && reports.some((other) => other.file === file))
      throw configProblem('reporter', `two reports would go to ${file}`, {
        hint: 'Give each a file of its own.',
      });
    reports.push(report);
  }
  if (options.fresh) for (const report of reports) report.clear();
  return reports;
}

function openReport(target: ReportTarget, options: ReportsOptions): Promise<Report> {
  if (isDocumentTarget(target)) return openDocument(target, options);
  return isCollector(target.name)
    ? openCollectorReport(target.name, options)
    : openRunnerReport(target.name, options);
}

interface DocumentTarget {
  readonly name: DocumentName;
  readonly file?: string;
}

function isDocumentTarget(target: ReportTarget): target is DocumentTarget {
  return isDocument(target.name);
}

async function openDocument({ name, file }: DocumentTarget, options: ReportsOptions): Promise<Report> {
  const place = file === undefined ? undefined : openTarget(name, file, () => new LateFile(file));
  const document = await REPORTERS[name].load(options);
  const publish = () => {
    if (place) place.write(document.pieces());
    else for (const piece of document.pieces()) options.print?.(piece);
  };
  return {
    ...(place && { file: place.path }),
    clear: () => place?.clear(),
    ...guardedReporter(
      `${name} report${file === undefined ? '' : ` ${file}`}`,
      document.add.bind(document),
      publish,
      options,
    ),
  };
}

async function openRunnerReport(name: RunnerName, options: ReportsOptions): Promise<Report> {
  const { stepSummary: path, command } = options;
  const summary = path ? openTarget(name, path, () => new StepSummary(path)) : undefined;
  const document = await REPORTERS[name].load();
  const publish = () => {
    const annotations = document.annotations();
    if (annotations !== '') command(annotations);
    summary?.append((room) => document.summary(room));
  };
  return {
    clear: () => {},
    ...guardedReporter('step summary', document.add.bind(document), publish, options),
  };
}

/** Sent at the end, beside whatever else is still to do. */
async function openCollectorReport(name: CollectorName, options: ReportsOptions): Promise<Report> {
  const { variables, warn } = options;
  const [{ collectorSettings }, { sendPayloads }] = await Promise.all([
    import('./otlp/settings.js'),
    import('./otlp/send.js'),
  ]);
  const settings = collectorSettings(variables);
  const document = await REPORTERS[name].load(variables);
  let sent: Promise<void> | undefined;
  const publish = () => {
    sent = sendPayloads(document.payloads(), settings).catch((error: unknown) =>
      warn(`the ${name} report was not delivered: ${errorMessage(error)}`),
    );
  };
  return {
    clear: () => {},
    arrived: async () => sent,
    ...guardedReporter(`${name} report`, document.add.bind(document), publish, options),
  };
}

function openTarget<T>(name: string, file: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    const message = `the ${name} report cannot be written to ${file}: ${plainReason(error)}`;
    throw configProblem('reporter', message);
  }
}

/** A report that fails must not affect the run. */
function guardedReporter(
  name: string,
  add: (line: TranscriptLine) => void,
  publish: () => void,
  { warn }: ReportsOptions,
): Pick<Report, 'past' | 'publish' | 'event'> {
  let failed = false;
  const tryToWrite = (work: () => void) => {
    if (failed) return;
    try {
      work();
    } catch (error) {
      failed = true;
      warn(`the ${name} could not be written: ${errorMessage(error)}`);
    }
  };
  const past = (line: TranscriptLine) => tryToWrite(() => add(line));
  return {
    past,
    publish: () => tryToWrite(publish),
    event(line) {
      past(line);
      if (line.type === 'result') tryToWrite(publish);
    },
  };
}
