import type { Call } from '../protocol/call.js';
import type { Decision } from '../protocol/decision.js';
import type { Denial } from '../protocol/event.js';
import { failure, type Outcome } from '../protocol/outcome.js';
import type { ToolError } from '../protocol/tool-error.js';

export interface RefusalSettings {
  /** How many denials end the run. */
  readonly limit: number;
  /** «Ask» with nobody there ends the run instead of being refused. */
  readonly failOnAsk: boolean;
}

/** All calls of a run that were refused, and when that is enough. */
export class Refusals {
  readonly denials: Denial[] = [];
  readonly #settings: RefusalSettings;
  readonly #remembered = new Map<string, { readonly error: ToolError; readonly decision: Decision }>();
  #asked: Denial | undefined;

  constructor(settings: RefusalSettings) {
    this.#settings = settings;
  }

  /** What the same call was told before: it is not decided anew. */
  recall(call: Call) {
    return this.#remembered.get(keyOf(call));
  }

  add(call: Call, tool: string, decision: Decision, error: ToolError): void {
    const denial: Denial = {
      tool_id: call.id,
      tool_name: tool,
      rule: decision.rule,
      reason: decision.reason,
    };
    this.denials.push(denial);
    this.#remembered.set(keyOf(call), { error: again(error), decision });
    if (decision.decision === 'ask') this.#asked ??= denial;
  }

  /** The end of the run, if refusals bring it about. */
  outcome(): Outcome | undefined {
    if (this.#asked && this.#settings.failOnAsk) {
      const { tool_name, reason } = this.#asked;
      return failure('denied', 'ask', `${tool_name} needs an approval: ${reason}`, {
        hint: 'on_ask is set to fail.',
      });
    }
    if (this.denials.length < this.#settings.limit) return undefined;
    return failure('denied', 'too_many_denials', `${this.denials.length} calls were refused`, {
      hint: 'See denials in the result; allow what is needed, or raise limits.denials.',
    });
  }
}

function again(error: ToolError): ToolError {
  const note = 'This very call was refused before.';
  return error.message.startsWith(note) ? error : { ...error, message: `${note} ${error.message}` };
}

/** The same call, whatever the order of its arguments. */
function keyOf({ name, args }: Call): string {
  return JSON.stringify([name, args], (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
