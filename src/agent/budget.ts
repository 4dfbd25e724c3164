import type { Limits } from '../protocol/event.js';
import { failure, type Outcome } from '../protocol/outcome.js';
import type { ToolError } from '../protocol/tool-error.js';
import type { Usage } from '../protocol/usage.js';

type Counted = 'turns' | 'tool_calls' | 'tokens';

/** Counts what a run has used. Time is not counted here: it aborts the run from outside. */
export class Budget {
  readonly #limits: Pick<Limits, Counted>;
  #turns = 0;
  #calls = 0;
  #tokens = 0;
  #refusedCall = false;

  constructor(limits: Pick<Limits, Counted>) {
    this.#limits = limits;
  }

  /** Asked before each request. */
  exceeded(): Outcome | undefined {
    const { turns, tool_calls, tokens } = this.#limits;
    if (this.#turns >= turns) return limitOutcome('turns', turns);
    if (this.#refusedCall) return limitOutcome('tool_calls', tool_calls);
    if (tokens !== undefined && this.#tokens >= tokens) return limitOutcome('tokens', tokens);
    return undefined;
  }

  chargeTurn(usage: Usage | undefined): void {
    this.#turns++;
    this.chargeTokens(usage);
  }

  /** For answers that were thrown away: they cost all the same. */
  chargeTokens(usage: Usage | undefined): void {
    this.#tokens += usage?.total ?? 0;
  }

  /** Asked before a request that a tool makes of the model. */
  tokensLeft(): boolean {
    const { tokens } = this.#limits;
    return tokens === undefined || this.#tokens < tokens;
  }

  /** Asked before each call. */
  admitCall(): ToolError | undefined {
    if (this.#calls < this.#limits.tool_calls) {
      this.#calls++;
      return undefined;
    }
    this.#refusedCall = true;
    return {
      type: 'cancelled',
      message: `Not run: the limit of ${this.#limits.tool_calls} tool calls is reached.`,
    };
  }

  get turns(): number {
    return this.#turns;
  }
}

const FLAGS: Record<Counted | 'time', string> = {
  turns: '--max-turns',
  tool_calls: '--max-tool-calls',
  tokens: '--max-tokens',
  time: '--timeout',
};

export function limitOutcome(limit: Counted | 'time', value: number | string): Outcome {
  const what = limit === 'time' ? `time limit of ${value}` : `limit of ${value} ${limit.replace('_', ' ')}`;
  return failure('limit', limit, `stopped at the ${what}`, { hint: `Raise it with ${FLAGS[limit]}.` });
}
