import type { LimitName } from '../protocol/limit.js';
import { NOTHING, addSpending, type Charge, type Spending } from './charge.js';

export interface LedgerSettings {
  /** Of the whole batch. */
  readonly limits: Partial<Spending>;
  /** What one task may spend, if that is limited. */
  readonly taskLimits: Partial<Spending>;
  /** What was spent before this start, including estimates. */
  readonly spent: Spending;
  readonly estimated?: Spending;
}

/** With at least this many finished tasks, their spending says what another one may need. */
const ENOUGH = 5;
const SHARE = 0.9;

/** One budget for all tasks: every request is charged to it, and none is sent once it is empty. */
export class Ledger {
  readonly #settings: LedgerSettings;
  #known: Spending;
  #estimated: Spending;
  /** What each running task has spent so far. */
  readonly #running = new Map<string, Spending>();
  /** What each finished task has spent, in order. */
  readonly #finished: Record<keyof Spending, number[]> = { costUsd: [], tokens: [] };

  constructor(settings: LedgerSettings) {
    this.#settings = settings;
    this.#known = settings.spent;
    this.#estimated = settings.estimated ?? NOTHING;
  }

  /** Including estimates. */
  get spent(): Spending {
    return addSpending(this.#known, this.#estimated);
  }

  /** With estimates apart. */
  get charged(): Charge {
    return { known: this.#known, estimated: this.#estimated };
  }

  /** The limit that is used up, if any. */
  get emptyOf(): Extract<LimitName, 'cost' | 'tokens'> | undefined {
    const { costUsd = Infinity, tokens = Infinity } = this.#settings.limits;
    const { spent } = this;
    if (spent.costUsd >= costUsd) return 'cost';
    return spent.tokens >= tokens ? 'tokens' : undefined;
  }

  /** Whether enough is left for another task. While anything is, at least one task may run. */
  mayBegin(): boolean {
    if (this.emptyOf) return false;
    if (this.#running.size === 0) return true;
    return (['costUsd', 'tokens'] as const).every((what) => {
      const limit = this.#settings.limits[what];
      const need = limit === undefined ? undefined : this.#needOf(what);
      if (limit === undefined || need === undefined) return true;
      const open = [...this.#running.values()].map((spent) => Math.max(0, need - spent[what]));
      const reserved = open.reduce((a, b) => a + b, 0);
      return this.spent[what] + reserved + need <= limit;
    });
  }

  begin(id: string, before: Spending = { costUsd: 0, tokens: 0 }): void {
    this.#running.set(id, { ...before });
  }

  charge(id: string, known: Spending, estimated = NOTHING): void {
    this.#known = addSpending(this.#known, known);
    this.#estimated = addSpending(this.#estimated, estimated);
    const own = this.#running.get(id);
    if (own) this.#running.set(id, addSpending(own, addSpending(known, estimated)));
  }

  /** `finished` says whether its spending tells something about other tasks. */
  end(id: string, finished: boolean): void {
    const own = this.#running.get(id);
    if (own && finished) {
      insert(this.#finished.costUsd, own.costUsd);
      insert(this.#finished.tokens, own.tokens);
    }
    this.#running.delete(id);
  }

  #needOf(what: keyof Spending): number | undefined {
    const limit = this.#settings.taskLimits[what];
    const sorted = this.#finished[what];
    if (sorted.length < ENOUGH) return limit;
    const usual = sorted[Math.ceil(sorted.length * SHARE) - 1] as number;
    return Math.min(usual, limit ?? Infinity);
  }
}

/** Into a sorted list: with ten thousand tasks, sorting would take longer than anything else. */
function insert(sorted: number[], value: number): void {
  const at = sorted.findLastIndex((one) => one <= value) + 1;
  sorted.splice(at, 0, value);
}
