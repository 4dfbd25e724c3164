import { errorMessage, plainReason } from '../../lib/errors.js';
import { LateFile } from '../../lib/late-file.js';
import { nearest } from '../../lib/nearest.js';
import { configProblem } from '../../protocol/problem.js';
import type { Answer } from '../../reporters/findings/answers.js';
import { StepSummary } from '../../reporters/github/step-summary.js';
import type { BatchStory } from './story.js';

/** Creates a document about a batch; `file` is its path, if it has one. */
type BatchDocument = (story: BatchStory, file?: string) => Iterable<string>;

/** Documents about a batch. Each is loaded when asked for. */
const DOCUMENTS: Readonly<Record<string, () => Promise<BatchDocument>>> = {
  junit: async () => (await import('./junit.js')).batchJunit,
  markdown: async () => {
    const { batchMarkdown } = await import('./markdown.js');
    return (story) => batchMarkdown(story);
  },
  html: async () => (await import('./html/pages.js')).batchPages,
  prometheus: async () => (await import('./prometheus.js')).batchPrometheus,
  sarif: async () => findings((await import('../../reporters/findings/sarif.js')).sarifText),
  codequality: async () =>
    findings((await import('../../reporters/findings/code-quality.js')).codeQualityText),
};

/** The findings of all tasks in one report. */
function findings(write: (answers: readonly Answer[]) => string): BatchDocument {
  return ({ record, results, folder }) => [
    write(
      results.map(({ id, status, exit_code, structured_output, error }) => ({
        task: id,
        workspace: String(record.settings['workspace_path'] ?? folder),
        status,
        exitCode: exit_code,
        structured: structured_output,
        ...(error && { message: error.message }),
      })),
    ),
  ];
}

export interface BatchReportOptions {
  /** `github`, `junit=FILE`, as `--reporter` takes them. */
  readonly targets: readonly string[];
  /** Prints a document that has no file; without it, every document needs one. */
  readonly print?: (text: string) => void;
  /** Prints commands to a CI runner. */
  readonly command: (text: string) => void;
  readonly stepSummary: string | undefined;
  /** Called with what goes wrong once the outcome is known. */
  readonly warn: (message: string) => void;
}

/** A report that is written at the end. */
export type BatchReport = (story: BatchStory) => void;

/** Opens reports before the work begins, so that those that cannot be written are known. */
export async function openBatchReports(options: BatchReportOptions): Promise<BatchReport[]> {
  const reports: BatchReport[] = [];
  for (const target of new Set(options.targets)) {
    const report = target === 'github' ? await openGithub(options) : await openDocument(target, options);
    reports.push((story) => {
      try {
        report(story);
      } catch (error) {
        options.warn(`the report ${target} could not be written: ${errorMessage(error)}`);
      }
    });
  }
  return reports;
}

async function openDocument(target: string, { print }: BatchReportOptions): Promise<BatchReport> {
  const [, name = '', , file] = /^([^=]*)(=(.*))?$/s.exec(target) ?? [];
  const open = Object.hasOwn(DOCUMENTS, name) ? DOCUMENTS[name] : undefined;
  if (!open) throw unknown(target, name);
  if (file === '' || (file === undefined && !print))
    throw configProblem('reporter', `--reporter ${target} names no file`, { hint: `Write ${name}=FILE.` });
  const document = await open();
  if (file === undefined) return (story) => [...document(story)].forEach((piece) => print?.(piece));
  try {
    const place = new LateFile(file);
    return (story) => place.write(document(story, place.path));
  } catch (error) {
    throw configProblem('reporter', `the ${name} report cannot be written to ${file}: ${plainReason(error)}`);
  }
}

function unknown(target: string, name: string) {
  const known = ['github', ...Object.keys(DOCUMENTS)];
  const near = nearest(name, known);
  const guess = near ? ` (did you mean ${near}?)` : '';
  return configProblem(
    'reporter',
    `--reporter ${target}: there is no reporter ${JSON.stringify(name)}${guess}`,
    {
      hint: `There are ${known.map((one) => (one === 'github' ? one : `${one}=FILE`)).join(', ')}.`,
    },
  );
}

async function openGithub({ stepSummary, command }: BatchReportOptions): Promise<BatchReport> {
  const [{ batchAnnotations }, { batchMarkdown }] = await Promise.all([
    import('./github.js'),
    import('./markdown.js'),
  ]);
  const summary = stepSummary ? new StepSummary(stepSummary) : undefined;
  return (story) => {
    const annotations = batchAnnotations(story);
    if (annotations !== '') command(annotations);
    summary?.append((room) => [...batchMarkdown(story, room)].join(''));
  };
}
