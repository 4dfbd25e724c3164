import { oneLine } from '../lib/text.js';
import { SCHEMA_VERSION, type InitEvent, type MessageEvent, type ResultEvent } from '../protocol/event.js';
import { isFinished } from '../protocol/outcome.js';
import { configProblem, type Problem } from '../protocol/problem.js';
import type { Transcript } from '../protocol/transcript.js';
import type { RecordedRun } from './fold.js';

/** Throws unless a transcript is what its writer wrote, line by line. */
export function checkSound(
  { path, lines, brokenAt }: Transcript,
  faultsOf: (line: unknown) => readonly unknown[],
): void {
  const newer = lines.find(({ v }) => v > SCHEMA_VERSION);
  if (newer)
    throw problem(
      path,
      `it is of version ${newer.v}, and this Bosun knows ${SCHEMA_VERSION}`,
      'Update Bosun.',
    );
  if (brokenAt !== undefined)
    throw problem(path, `it was changed: its hash chain breaks at line ${brokenAt}`);
  if (lines.some(({ session_id }) => session_id !== lines[0]?.session_id))
    throw problem(path, 'it holds lines of different runs');
  for (const [i, line] of lines.entries()) {
    const [fault] = faultsOf(line);
    if (fault) throw problem(path, `line ${i + 1} is not valid: ${String(fault)}`);
  }
}

/** The start of a run that can go on, and its task. Throws if it cannot. */
export function beginningOf(
  { path, result }: Transcript,
  { init, steps }: RecordedRun,
): { readonly init: InitEvent; readonly first: MessageEvent } {
  const [first] = steps;
  if (!init || first?.type !== 'message')
    throw problem(path, 'it ends before the model was asked anything', 'Start the run from scratch.');
  checkUnfinished(path, result);
  if (init.redacted)
    throw problem(
      path,
      'its policy or schema contains a secret, which is not recorded',
      'Start the run from scratch, and keep secrets in the environment.',
    );
  return { init, first };
}

function checkUnfinished(path: string, result: ResultEvent | undefined): void {
  if (!result || !isFinished(result.status)) return;
  const { status, exit_code } = result;
  const why = status === 'limit' ? ', and what was used of a limit stays used' : '';
  throw problem(path, `the run is finished: ${status} (exit ${exit_code})${why}`, 'Start a new one.');
}

export function checkTask(path: string, recorded: string, wanted: string | undefined): void {
  if (wanted === undefined || wanted === recorded) return;
  throw problem(path, `it is of another task: ${oneLine(recorded, 100)}`);
}

function problem(path: string, why: string, hint?: string): Problem {
  return configProblem('resume', `${path} cannot be resumed: ${why}`, hint === undefined ? {} : { hint });
}
