import { isDeeperThan, MAX_DEPTH, tooDeep } from '../lib/depth.js';
import { sentence } from '../lib/text.js';
import type { Content } from '../protocol/content.js';
import type { Review, Reviewer } from '../protocol/review.js';
import type { JsonSchema } from '../protocol/tool.js';

/** Accepts every answer. */
export const acceptAll: Reviewer = async (response) => ({ type: 'accepted', response });

/** Both must accept an answer; the second is asked only about what the first accepted. */
export function allReviewers(first: Reviewer, second: Reviewer): Reviewer {
  return async (response) => {
    const reviewed = await first(response);
    if (reviewed.type !== 'accepted') return reviewed;
    const next = await second(reviewed.response);
    const { structured } = reviewed;
    return next.type === 'again' || structured === undefined ? next : { ...next, structured };
  };
}

/** What is wrong with an answer may quote commands and a schema, which may contain secrets. */
export function redactedReview(review: Reviewer, redact: (ask: Content) => Content): Reviewer {
  return async (response) => {
    const reviewed = await review(response);
    return reviewed.type === 'again' ? { ...reviewed, ask: redact(reviewed.ask) } : reviewed;
  };
}

/** Repairs of the answer's form, not of the work. */
export const FORM_REPAIR = 'output_schema';

/** How often the model may repair its answer. */
const REPAIRS = 2;

/** Accepts only JSON of a given shape. `faultsOf` says what is wrong with a value. */
export function schemaReviewer(
  schema: JsonSchema,
  faultsOf: (value: unknown) => readonly string[],
  repairsBefore = 0,
): Reviewer {
  let repairs = repairsBefore;
  return async (response): Promise<Review> => {
    const found = jsonIn(response);
    const faults = 'fault' in found ? [found.fault] : faultsOf(found.value);
    if (!('fault' in found) && faults.length === 0)
      return { type: 'accepted', response: found.text, structured: found.value };
    const why = faults.slice(0, 10).join('; ');
    if (repairs >= REPAIRS) {
      const message = `the answer is not valid against the output schema, after ${REPAIRS} repairs: ${why}`;
      return { type: 'given_up', reason: FORM_REPAIR, message };
    }
    repairs++;
    const text = `Your answer is not valid against the required JSON Schema: ${sentence(why)} Give the whole answer again, as JSON and nothing else.`;
    const ask: Content = { role: 'user', parts: [{ text }] };
    return { type: 'again', ask, form: { schema }, why, repair: FORM_REPAIR };
  };
}

type Found = { readonly text: string; readonly value: unknown } | { readonly fault: string };

/** The JSON of an answer: all of it, or its only code block. */
function jsonIn(response: string): Found {
  const whole = response.trim();
  const blocks = [...whole.matchAll(/^```(?:json)?[ \t]*\n(.*?)\n```[ \t]*$/gms)].map(
    ([, block = '']) => block,
  );
  const candidates = blocks.length === 1 ? [whole, ...blocks] : [whole];
  for (const text of candidates) {
    try {
      const value: unknown = JSON.parse(text);
      return isDeeperThan(value, MAX_DEPTH) ? { fault: tooDeep() } : { text, value };
    } catch {
      // Not this one.
    }
  }
  return { fault: 'it is not JSON' };
}

/** What the model is told about the form of its final message. */
export function formInstruction(schema: JsonSchema): string {
  return `Your final message must be one JSON value that is valid against this JSON Schema, and nothing else (no code fence):\n${JSON.stringify(schema)}`;
}
