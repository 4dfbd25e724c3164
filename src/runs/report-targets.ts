import { nearest } from '../lib/nearest.js';
import { configProblem } from '../protocol/problem.js';
import type { RunDocument } from '../reporters/document.js';

/** What documents may be made with. */
export interface DocumentOptions {
  /** The number of bytes that a document may take, where it can be cut. */
  readonly maxBytes?: number;
}

/** Reporters that write a document. Each is loaded when somebody asks for it. */
export const DOCUMENTS = {
  junit: async () => new (await import('../reporters/junit.js')).JunitReport(),
  markdown: async ({ maxBytes }: DocumentOptions) =>
    new (await import('../reporters/markdown/report.js')).MarkdownReport(maxBytes),
  html: async () => new (await import('../reporters/html/report.js')).HtmlReport(),
} satisfies Record<string, (options: DocumentOptions) => Promise<RunDocument>>;
export type DocumentName = keyof typeof DOCUMENTS;

/** What `--reporter` asks for. A document without a file is printed. */
export type ReportTarget =
  { readonly name: 'github' } | { readonly name: DocumentName; readonly file?: string };

/** What a flag says: `github`, `junit=report.xml`. */
export function readTarget(text: string, { needsFile }: { readonly needsFile: boolean }): ReportTarget {
  const [, name = '', , file] = /^([^=]*)(=(.*))?$/s.exec(text) ?? [];
  const problem = (why: string, hint: string) =>
    configProblem('reporter', `--reporter ${text}${why}`, { hint });
  if (name === 'github') {
    if (file === undefined) return { name };
    throw problem(' takes no file', 'The summary goes to the file that GITHUB_STEP_SUMMARY names.');
  }
  if (!isDocument(name)) {
    const known = ['github', ...Object.keys(DOCUMENTS)];
    const near = nearest(name, known);
    const guess = near ? ` (did you mean ${near}?)` : '';
    const all = known.map((one) => (one === 'github' ? one : `${one}=FILE`));
    throw problem(`: there is no reporter ${JSON.stringify(name)}${guess}`, `There are ${all.join(', ')}.`);
  }
  if (file === '' || (file === undefined && needsFile))
    throw problem(' names no file', `Write ${name}=FILE.`);
  return { name, ...(file !== undefined && { file }) };
}

function isDocument(name: string): name is DocumentName {
  return Object.hasOwn(DOCUMENTS, name);
}
