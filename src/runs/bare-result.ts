import { problemOutcome } from '../agent/outcomes.js';
import type { Redactor } from '../lib/redact/redactor.js';
import type { ResultEvent, TranscriptLine } from '../protocol/event.js';
import { bareLine } from '../transcript/bare-result.js';

/** The result of a run that did not even get a transcript. */
export function bareResult(error: unknown, redactor: Redactor): TranscriptLine & ResultEvent {
  return bareLine(problemOutcome(error), redactor);
}
