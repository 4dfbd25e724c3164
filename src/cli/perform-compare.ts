import { resolve } from 'node:path';
import { compareReport } from '../batch/compare/compare-paths.js';
import { toJsonText } from '../lib/jsonl.js';
import { EXIT_CODES } from '../protocol/outcome.js';
import { writeNamedFile } from '../decisions/write-named-file.js';
import type { CompareFlags } from './flags/compare.js';
import type { Terminal } from './terminal.js';

export async function performCompare(
  a: string,
  b: string,
  flags: CompareFlags,
  terminal: Terminal,
): Promise<void> {
  const report = await compareReport(a, b, { folder: terminal.cwd, gate: flags.gate });
  const write = (file: string | undefined, text: () => string) => {
    if (file !== undefined) writeNamedFile(resolve(terminal.cwd, file), terminal.redactor.text(text()));
  };
  write(flags.markdown, report.markdown);
  write(flags.html, report.html);
  if (flags.json) terminal.stdout(`${toJsonText(report.json())}\n`);
  else terminal.show(report.text());
  terminal.exitCode = report.holds ? EXIT_CODES.completed : EXIT_CODES.unverified;
}
