import { canonicalJson } from '../lib/canonical-json.js';
import type { Call } from '../protocol/call.js';
import type { Decision } from '../protocol/decision.js';
import type { Denial, Emit } from '../protocol/event.js';
import { failure, type Outcome } from '../protocol/outcome.js';
import type { ToolError } from '../protocol/tool-error.js';
import { warning } from '../protocol/warning.js';

/** All denied calls of a run, and when there are too many. */
export class Denials {
  readonly all: Denial[] = [];
  readonly #limit: number;
  readonly #remembered = new Map<string, { readonly error: ToolError; readonly decision: Decision }>();
  #asked: Denial | undefined;

  /** `limit` denials end the run. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** What an equal call was told before: it is not decided again. */
  recall(call: Call) {
    return this.#remembered.get(callKey(call));
  }

  add(call: Call, tool: string, decision: Decision, error: ToolError): void {
    const denial: Denial = {
      tool_id: call.id,
      tool_name: tool,
      rule: decision.rule,
      reason: decision.reason,
      ...(decision.remedy && { remedy: decision.remedy }),
    };
    this.all.push(denial);
    this.#remembered.set(callKey(call), { error: again(error), decision });
    if (decision.onAsk === 'fail') this.#asked ??= denial;
  }

  /** The end of the run, if denials cause it. */
  outcome(): Outcome | undefined {
    if (this.#asked) {
      const { tool_name, reason } = this.#asked;
      return failure('denied', 'ask', `${tool_name} needs an approval: ${reason}`, {
        hint: 'on_ask is set to fail.',
      });
    }
    if (this.all.length < this.#limit) return undefined;
    return failure('denied', 'too_many_denials', `${this.all.length} calls were denied`, {
      hint: 'Allow what is needed, or raise limits.denials. Each denial names the rule that would allow it.',
    });
  }
}

function again(error: ToolError): ToolError {
  const note = 'This call was denied before.';
  return error.message.startsWith(note) ? error : { ...error, message: `${note} ${error.message}` };
}

/** Equal calls share it, whatever the order of arguments. */
function callKey({ name, args }: Call): string {
  return canonicalJson([name, args]);
}

/** The model finished, but some of its calls were denied: the policy says what that means for the outcome. */
export function weighDenials(
  outcome: Outcome,
  denials: readonly Denial[],
  weight: 'fail' | 'warn' | 'ignore',
  emit: Emit,
): Outcome {
  if (outcome.status !== 'completed' || denials.length === 0 || weight === 'ignore') return outcome;
  const what = denials.length === 1 ? '1 call was denied' : `${denials.length} calls were denied`;
  if (weight === 'warn') {
    emit(warning('denied', what));
    return outcome;
  }
  const hint =
    'Allow what is needed in the policy, or set `on_denied: warn` there if denied calls are acceptable.';
  const { response = '', structured } = outcome;
  return {
    ...failure('denied', 'calls_refused', what, { hint }),
    response,
    ...(structured !== undefined && { structured }),
  };
}
