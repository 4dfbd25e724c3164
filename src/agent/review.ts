import type { Content } from '../protocol/content.js';
import type { JsonSchema } from '../protocol/tool.js';

/** How the next answer is asked for, where not as usual. */
export interface AnswerForm {
  /** The answer must be JSON of this shape. No tools are offered then. */
  readonly schema: JsonSchema;
}

/** What becomes of an answer that has no calls: it is the end, or the model is told what is wrong with it. */
export type Review =
  | { readonly type: 'accepted'; readonly response: string; readonly structured?: unknown }
  | { readonly type: 'again'; readonly ask: Content; readonly form?: AnswerForm; readonly why: string }
  | { readonly type: 'given_up'; readonly reason: string; readonly message: string };

export type Reviewer = (response: string) => Review;

/** Takes every answer as it is. */
export const acceptAll: Reviewer = (response) => ({ type: 'accepted', response });

/** How often the model may mend its answer. */
const REPAIRS = 2;

/** Takes only answers that are JSON of a shape. `faultsOf` says what is wrong with a value. */
export function schemaReviewer(
  schema: JsonSchema,
  faultsOf: (value: unknown) => readonly string[],
  repairsBefore = 0,
): Reviewer {
  let repairs = repairsBefore;
  return (response) => {
    const found = jsonIn(response);
    const faults = found ? faultsOf(found.value) : ['it is not JSON'];
    if (found && faults.length === 0)
      return { type: 'accepted', response: found.text, structured: found.value };
    const why = faults.slice(0, 10).join('; ');
    if (repairs >= REPAIRS) {
      const message = `the answer is not valid against the output schema, after ${REPAIRS} repairs: ${why}`;
      return { type: 'given_up', reason: 'output_schema', message };
    }
    repairs++;
    const text = `Your answer is not valid against the required JSON Schema: ${why}. Give the whole answer again, as JSON and nothing else.`;
    return { type: 'again', ask: { role: 'user', parts: [{ text }] }, form: { schema }, why };
  };
}

/** The JSON of an answer: all of it, or the one code block in it. */
function jsonIn(response: string): { readonly text: string; readonly value: unknown } | undefined {
  const whole = response.trim();
  const blocks = [...whole.matchAll(/^```(?:json)?[ \t]*\n(.*?)\n```[ \t]*$/gms)].map(
    ([, block = '']) => block,
  );
  const candidates = blocks.length === 1 ? [whole, ...blocks] : [whole];
  for (const text of candidates) {
    try {
      return { text, value: JSON.parse(text) as unknown };
    } catch {
      // Not this one.
    }
  }
  return undefined;
}

/** What the model is told about the form of its last message. */
export function formInstruction(schema: JsonSchema): string {
  return `Your final message must be one JSON value that is valid against this JSON Schema, and nothing else, no code fence either:\n${JSON.stringify(schema)}`;
}
