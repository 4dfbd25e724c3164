import type { LimitNoticeEvent, Limits } from '../protocol/event.js';
import { LIMIT_NAMES, type LimitName } from '../protocol/limit.js';
import type { Outcome } from '../protocol/outcome.js';
import type { Prices } from '../protocol/price.js';
import type { ToolError } from '../protocol/tool-error.js';
import type { Usage } from '../protocol/usage.js';
import { costOf, totalTokens } from './cost.js';
import { limitOutcome, limitTitle, noticeText } from './limits.js';
import { roundDollars } from '../lib/money.js';

export interface BudgetSettings {
  readonly limits: Omit<Limits, 'parallel' | 'tool_output' | 'stored_output'>;
  /** What a model costs, by the name under which it answers. */
  readonly pricesOf: (model: string) => Prices | undefined;
  /** What is measured elsewhere: time aborts the run from outside, and denials end it by themselves. */
  readonly elapsedMs: () => number;
  readonly denials: () => number;
}

/** From this percentage of a limit on, the model is asked to wrap up. */
const NEARLY = 80;

/** Counts what a run has used, and says when that is enough. */
export class Budget {
  readonly #settings: BudgetSettings;
  readonly #announced = new Set<LimitName>();
  #turns = 0;
  #calls = 0;
  #tokens = 0;
  #cost = 0;
  #refusedCall = false;

  constructor(settings: BudgetSettings) {
    this.#settings = settings;
  }

  /** The time of the run, without its waits at a gate. */
  get elapsedMs(): number {
    return this.#settings.elapsedMs();
  }

  /** Asked before each request. */
  exceeded(): Outcome | undefined {
    if (this.#isUsedUp('turns')) return this.#end('turns');
    return this.#refusedCall ? this.#end('tool_calls') : this.#spent();
  }

  /** Returns what the turn cost, if that is known. */
  chargeTurn(usage: Usage | undefined, model: string): number | undefined {
    this.#turns++;
    return this.chargeTokens(usage, model);
  }

  /** For answers that are not turns, or were thrown away: they cost as much. */
  chargeTokens(usage: Usage | undefined, model: string): number | undefined {
    if (!usage) return undefined;
    this.#tokens += totalTokens(usage);
    const prices = this.#settings.pricesOf(model);
    const cost = prices && costOf(usage, prices);
    this.#cost = roundDollars(this.#cost + (cost ?? 0));
    return usage.estimated ? undefined : cost;
  }

  /** Asked before a request that is not a turn: whether anything is left to pay for it. */
  canSpend(): boolean {
    return this.#spent() === undefined;
  }

  /** Asked before each call. */
  admitCall(): ToolError | undefined {
    const spent = this.#spent();
    if (!spent && !this.#isUsedUp('tool_calls')) {
      this.#calls++;
      return undefined;
    }
    this.#refusedCall ||= !spent;
    const limit = (spent?.reason ?? 'tool_calls') as LimitName;
    return {
      type: 'cancelled',
      message: `Not run: the ${limitTitle(limit, this.#valueOf(limit) as number)} is reached.`,
    };
  }

  /** Limits that are nearly used up. Each is announced once, and none when the run is about to end anyway. */
  notices(): LimitNoticeEvent[] {
    if (this.exceeded()) return [];
    const due = LIMIT_NAMES.filter((limit) => !this.#announced.has(limit) && this.#isUsedUp(limit, NEARLY));
    return due.map((limit) => {
      this.#announced.add(limit);
      const used = this.#usedOf(limit);
      const value = this.#valueOf(limit) as number;
      return { type: 'limit_notice', limit, used, value, message: noticeText(limit, used, value) };
    });
  }

  /** The model was told about this limit before. */
  skipNotice(limit: LimitName): void {
    this.#announced.add(limit);
  }

  get turns(): number {
    return this.#turns;
  }

  #spent(): Outcome | undefined {
    const limit = (['tokens', 'cost'] as const).find((name) => this.#isUsedUp(name));
    return limit && this.#end(limit);
  }

  #end(limit: LimitName): Outcome {
    return limitOutcome(limit, this.#usedOf(limit), this.#valueOf(limit) as number);
  }

  #isUsedUp(limit: LimitName, percent = 100): boolean {
    const value = this.#valueOf(limit);
    return value !== undefined && this.#usedOf(limit) * 100 >= value * percent;
  }

  #usedOf(limit: LimitName): number {
    switch (limit) {
      case 'turns':
        return this.#turns;
      case 'tool_calls':
        return this.#calls;
      case 'tokens':
        return this.#tokens;
      case 'cost':
        return this.#cost;
      case 'time':
        return Math.round(this.elapsedMs);
      case 'denials':
        return this.#settings.denials();
      default:
        return limit satisfies never;
    }
  }

  #valueOf(limit: LimitName): number | undefined {
    const { limits } = this.#settings;
    if (limit === 'cost') return limits.cost_usd;
    return limit === 'time' ? limits.time_ms : limits[limit];
  }
}
