import type { TokenStats } from '../event.js';
import type { Usage } from '../usage.js';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Adds up what responses used and cost. Unknown values stay absent: a sum of nothing is not 0. */
export class TokenSum {
  readonly #tokens: Mutable<TokenStats> = {};
  #cost: number | undefined = 0;
  #isEmpty = true;

  add(usage: Usage | undefined, cost: number | undefined): void {
    this.#isEmpty = false;
    // A sum with a gap would look like less than was spent.
    this.#cost = cost === undefined || this.#cost === undefined ? undefined : this.#cost + cost;
    if (!usage || usage.estimated) return;
    const { prompt, cached, output, thoughts, tool_use, total } = usage;
    this.#plus('total_tokens', total);
    this.#plus('input_tokens', prompt);
    this.#plus('output_tokens', output);
    this.#plus('cached', cached);
    this.#plus('thoughts', thoughts);
    this.#plus('tool_use', tool_use);
    this.#plus('input', prompt === undefined ? undefined : Math.max(0, prompt - (cached ?? 0)));
  }

  get stats(): TokenStats {
    if (this.#isEmpty || this.#cost === undefined) return { ...this.#tokens };
    return { ...this.#tokens, cost_usd: Math.round(this.#cost * 1e9) / 1e9 };
  }

  #plus(name: keyof TokenStats, value: number | undefined): void {
    if (value !== undefined) this.#tokens[name] = (this.#tokens[name] ?? 0) + value;
  }
}
