import { nearest } from '../lib/nearest.js';
import { configProblem } from '../protocol/problem.js';
import {
  isCollector,
  isDocument,
  isReporter,
  REPORTER_NAMES,
  reporterSyntax,
  type CollectorName,
  type DocumentName,
  type RunnerName,
} from './registry.js';

/** What `--reporter` asks for. A document without a file is printed. */
export type ReportTarget =
  { readonly name: RunnerName | CollectorName } | { readonly name: DocumentName; readonly file?: string };

/** The value of the flag: `github`, `junit=report.xml`. */
export function readTarget(text: string, { needsFile }: { readonly needsFile: boolean }): ReportTarget {
  const [, name = '', , file] = /^([^=]*)(=(.*))?$/s.exec(text) ?? [];
  const problem = (why: string, hint: string) =>
    configProblem('reporter', `--reporter ${text}${why}`, { hint });
  if (!isReporter(name)) {
    const near = nearest(name, REPORTER_NAMES);
    const guess = near ? ` (did you mean ${near}?)` : '';
    const all = REPORTER_NAMES.map(reporterSyntax).join(', ');
    throw problem(`: there is no reporter ${JSON.stringify(name)}${guess}`, `There are ${all}.`);
  }
  if (!isDocument(name)) {
    if (file === undefined) return { name };
    const where = isCollector(name)
      ? 'It goes to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names.'
      : 'The summary goes to the file that GITHUB_STEP_SUMMARY names.';
    throw problem(' takes no file', where);
  }
  if (file === '' || (file === undefined && needsFile))
    throw problem(' names no file', `Write ${name}=FILE.`);
  return { name, ...(file !== undefined && { file }) };
}
