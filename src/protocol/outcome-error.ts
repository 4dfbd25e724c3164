import { boolean, count, object, oneOf, text, type TypeOf } from './shape.js';
import { STATUSES } from './status.js';

/** What went wrong, for machines (`class`, `code`) and for people (`message`, `hint`). */
export const OUTCOME_ERROR = object({
  class: oneOf(STATUSES),
  code: text,
  message: text,
  'hint?': text,
  'retryable?': boolean,
  'http_status?': count,
});
export type OutcomeError = TypeOf<typeof OUTCOME_ERROR>;
