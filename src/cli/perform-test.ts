import { availableParallelism } from 'node:os';
import { relative, resolve } from 'node:path';
import { makeCase } from '../cases/make.js';
import { caseText, casesJson, casesJunit, driftText, exitCodeOfCases, summaryText } from '../cases/report.js';
import { runCases } from '../cases/run-cases.js';
import { writeNamedFile } from '../decisions/write-named-file.js';
import { toJsonText } from '../lib/jsonl.js';
import { count } from '../lib/text.js';
import { TASKS_FAILED } from '../protocol/outcome.js';
import type { TestFlags, TestInitFlags } from './flags/test.js';
import { stoppable } from './stop-on-signals.js';
import type { Terminal } from './terminal.js';

/** `bosun test`: plays every case, and shows each as soon as it is over. */
export async function performTest(folder: string, flags: TestFlags, terminal: Terminal): Promise<void> {
  const { only = [], update = false, concurrency = availableParallelism(), json, junit } = flags;
  const { variables, cwd, redactor } = terminal;
  const results = await stoppable((signal) =>
    runCases({
      ...{ folder: resolve(cwd, folder), only, update, concurrency, variables, signal },
      redact: redactor.text,
      ...(!json && { onCase: (result) => terminal.show(caseText(result)) }),
    }),
  );
  if (junit !== undefined) writeNamedFile(resolve(cwd, junit), redactor.text(casesJunit(results)));
  if (json) terminal.stdout(`${toJsonText(casesJson(results))}\n`);
  else terminal.show(summaryText(results));
  terminal.exitCode = exitCodeOfCases(results);
}

/** `bosun test init`: makes a case of a run. */
export async function performTestInit(
  transcript: string,
  { out, workspace }: TestInitFlags,
  terminal: Terminal,
): Promise<void> {
  const { variables, cwd } = terminal;
  const made = await stoppable((signal) =>
    makeCase({
      ...{ transcript: resolve(cwd, transcript), variables, signal, cwd, redact: terminal.redactor.text },
      ...{ out: out && resolve(cwd, out), workspace: workspace && resolve(cwd, workspace) },
    }),
  );
  const { drift, calls } = made;
  const folder = out ?? relative(cwd, made.folder);
  if (drift.length === 0) {
    terminal.show(`${folder}: a case with ${count(calls, 'call')}, which goes as it was recorded\n`);
    return;
  }
  terminal.show(`${folder}: the run does not go as it was recorded\n${drift.map(driftText).join('')}`);
  terminal.stderr(
    'bosun: warning: the files in workspace/ are probably not those from before the run; change them, or give --workspace\n',
  );
  terminal.exitCode = TASKS_FAILED.exitCode;
}
