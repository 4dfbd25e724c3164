import { errorMessage } from '../lib/errors.js';
import { newRunId } from '../lib/ids.js';
import type { Redactor } from '../lib/redact/redactor.js';
import { SCHEMA_VERSION, type ResultEvent, type TranscriptLine } from '../protocol/event.js';
import { failure, type Outcome } from '../protocol/outcome.js';
import { Problem, shortage } from '../protocol/problem.js';
import { RunTally } from '../protocol/tally/run-tally.js';
import { NO_PREVIOUS } from '../transcript/writer.js';
import { redactEvent } from '../transcript/redact-event.js';
import { resultOf } from '../transcript/session.js';

/** The only line of a run that did not even get a transcript. */
export function bareResult(error: unknown, redactor: Redactor): TranscriptLine & ResultEvent {
  const changes: ResultEvent['changes'] = [];
  const result = { ...resultOf(problemOutcome(error), new RunTally().stats(0, changes)), changes };
  return {
    v: SCHEMA_VERSION,
    seq: 0,
    timestamp: new Date().toISOString(),
    session_id: newRunId(new Date()),
    ...redactEvent(result, redactor),
    prev: NO_PREVIOUS,
  };
}

/** The end that an exception brought about: bad input at a door, or a bug. */
export function problemOutcome(error: unknown): Outcome {
  const problem = error instanceof Problem ? error : shortage(error);
  if (problem) {
    const { status, code, message, hint } = problem;
    return failure(status, code, message, hint ? { hint } : {});
  }
  const where = error instanceof Error && error.stack ? ` ${error.stack.split('\n')[1]?.trim() ?? ''}` : '';
  return failure('internal_error', 'bug', `${errorMessage(error)}${where}`, {
    hint: 'This is a bug in Bosun; please report it with the transcript.',
  });
}
