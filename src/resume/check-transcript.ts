import { oneLine } from '../lib/text.js';
import type { InitEvent, MessageEvent, ResultEvent } from '../protocol/event.js';
import { isFinished } from '../protocol/outcome.js';
import { configProblem, type Problem } from '../protocol/problem.js';
import { transcriptFault, type Transcript } from '../protocol/transcript.js';
import type { RecordedRun } from './fold.js';

/** Throws unless a transcript is what its writer wrote, line by line. */
export function checkTranscript(
  transcript: Transcript,
  faultsOf: (line: unknown) => readonly unknown[],
): void {
  const fault = transcriptFault(transcript, faultsOf);
  if (fault) throw resumeProblem(transcript.path, fault.why, fault.hint);
}

/** The start of a run that can be resumed, and its task. Throws if it cannot. */
export function beginningOf(
  { path, result }: Transcript,
  { init, steps }: RecordedRun,
): { readonly init: InitEvent; readonly first: MessageEvent } {
  const [first] = steps;
  if (!init || first?.type !== 'message')
    throw resumeProblem(path, 'it ends before the first request to the model', 'Start the run from scratch.');
  checkUnfinished(path, result);
  if (init.redacted)
    throw resumeProblem(
      path,
      'its policy or schema contains a secret, which is not recorded',
      'Start the run from scratch, and keep secrets in the environment.',
    );
  return { init, first };
}

function checkUnfinished(path: string, result: ResultEvent | undefined): void {
  if (!result || !isFinished(result.status)) return;
  const { status, exit_code } = result;
  const why = status === 'limit' ? ', and used limits stay used' : '';
  throw resumeProblem(path, `the run is finished: ${status} (exit ${exit_code})${why}`, 'Start a new one.');
}

export function checkTask(path: string, recorded: string, wanted: string | undefined): void {
  if (wanted === undefined || wanted === recorded) return;
  throw resumeProblem(path, `it has another task: ${oneLine(recorded, 100)}`);
}

function resumeProblem(path: string, why: string, hint?: string): Problem {
  return configProblem('resume', `${path} cannot be resumed: ${why}`, hint === undefined ? {} : { hint });
}
