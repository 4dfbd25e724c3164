import { resolve } from 'node:path';
import { errorMessage } from '../lib/errors.js';
import { LateFile } from '../lib/late-file.js';
import { realPath } from '../lib/real-path.js';
import type { Reporter, TranscriptLine } from '../protocol/event.js';
import { configProblem, Problem } from '../protocol/problem.js';
import type { RunDocument } from '../reporters/document.js';

/** Reporters that write a document. Each is loaded when somebody asks for it. */
const DOCUMENTS = {
  junit: async () => new (await import('../reporters/junit.js')).JunitReport(),
  html: async () => new (await import('../reporters/html/report.js')).HtmlReport(),
} satisfies Record<string, () => Promise<RunDocument>>;
type DocumentName = keyof typeof DOCUMENTS;

/** What `--reporter` asks for. A document without a file is printed. */
export interface ReportTarget {
  readonly name: DocumentName;
  readonly file?: string;
}

export interface ReportsOptions {
  readonly targets: readonly ReportTarget[];
  /** A file that is needed: the transcript. */
  readonly taken?: string | undefined;
  /** The run is yet to come: what an earlier one has left is taken away. */
  readonly fresh: boolean;
  /** Prints a document that has no file. */
  readonly print?: (text: string) => void;
  /** Hears of what goes wrong once the outcome is known. */
  readonly warn: (message: string) => void;
}

/** Reads along with a run, or is told of one later, and writes a report when it is over. */
export interface Report extends Reporter {
  past(line: TranscriptLine): void;
  /** Where it goes, if that is a file. */
  readonly file?: string;
  clear(): void;
  /** Writes what there is to say about the events so far. */
  publish(): void;
}

/** What a flag says: `junit=report.xml`. */
export function readTarget(text: string, { needsFile }: { readonly needsFile: boolean }): ReportTarget {
  const [, name = '', , file] = /^([^=]*)(=(.*))?$/s.exec(text) ?? [];
  if (!isDocument(name)) {
    throw configProblem('reporter', `--reporter ${text}: there is no reporter ${JSON.stringify(name)}`, {
      hint: `There are ${Object.keys(DOCUMENTS)
        .map((known) => `${known}=FILE`)
        .join(', ')}.`,
    });
  }
  if (file === '' || (file === undefined && needsFile))
    throw configProblem('reporter', `--reporter ${text} names no file`, { hint: `Write ${name}=FILE.` });
  return { name, ...(file !== undefined && { file }) };
}

function isDocument(name: string): name is DocumentName {
  return Object.hasOwn(DOCUMENTS, name);
}

/** Opens reports, so that what cannot be written is known before anything is done. */
export async function openReports(options: ReportsOptions): Promise<Report[]> {
  const reports: Report[] = [];
  const taken = options.taken === undefined ? undefined : realPath(resolve(options.taken));
  for (const target of options.targets) {
    const report = await openReport(target, options);
    if (report.file !== undefined && report.file === taken)
      throw configProblem(
        'reporter',
        `--reporter ${target.name}=${target.file} would overwrite the transcript`,
      );
    if (report.file !== undefined && reports.some(({ file }) => file === report.file))
      throw configProblem('reporter', `two reports would go to ${target.file}`, {
        hint: 'Give each a file of its own.',
      });
    reports.push(report);
  }
  if (options.fresh) for (const report of reports) report.clear();
  return reports;
}

async function openReport({ name, file }: ReportTarget, options: ReportsOptions): Promise<Report> {
  const place = file === undefined ? undefined : openFile(name, file);
  const document = await DOCUMENTS[name]();
  const publish = () => {
    if (place) place.write(document.pieces());
    else for (const piece of document.pieces()) options.print?.(piece);
  };
  return {
    ...(place && { file: place.path }),
    clear: () => place?.clear(),
    ...guarded({ name: file === undefined ? name : `${name} report ${file}`, document, publish }, options),
  };
}

function openFile(name: string, file: string): LateFile {
  try {
    return new LateFile(file);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw configProblem(
      'reporter',
      `the ${name} report cannot be written to ${file}: ${errorMessage(error)}`,
    );
  }
}

interface Work {
  readonly name: string;
  readonly document: Pick<RunDocument, 'add'>;
  readonly publish: () => void;
}

/** Whatever becomes of a report, the run is not to suffer from it. */
function guarded({ name, document, publish }: Work, { warn }: ReportsOptions) {
  let failed = false;
  const attempt = (work: () => void) => {
    if (failed) return;
    try {
      work();
    } catch (error) {
      failed = true;
      warn(`the ${name} could not be written: ${errorMessage(error)}`);
    }
  };
  const past = (line: TranscriptLine) => attempt(() => document.add(line));
  return {
    past,
    publish: () => attempt(publish),
    event(line: TranscriptLine) {
      past(line);
      if (line.type === 'result') attempt(publish);
    },
  };
}
