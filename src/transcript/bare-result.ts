import { newRunId } from '../lib/ids.js';
import type { Redactor } from '../lib/redact/redactor.js';
import { SCHEMA_VERSION, type ResultEvent, type TranscriptLine } from '../protocol/event.js';
import type { Outcome } from '../protocol/outcome.js';
import { RunTally } from '../protocol/tally/run-tally.js';
import { redactEvent } from './redact-event.js';
import { resultOf } from './session.js';
import { NO_PREVIOUS } from './writer.js';

/** The only line of a run that did not even get a transcript. */
export function bareLine(outcome: Outcome, redactor: Redactor): TranscriptLine & ResultEvent {
  const changes: ResultEvent['changes'] = [];
  const result = { ...resultOf(outcome, new RunTally().stats(0, changes)), changes };
  return {
    v: SCHEMA_VERSION,
    seq: 0,
    timestamp: new Date().toISOString(),
    session_id: newRunId(new Date()),
    ...redactEvent(result, redactor),
    prev: NO_PREVIOUS,
  };
}
