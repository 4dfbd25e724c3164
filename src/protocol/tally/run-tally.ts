import type { InitEvent, RunEvent, RunStats, ToolStats } from '../event.js';
import type { NetChange } from '../success.js';
import type { Usage } from '../usage.js';
import { BlockedHosts } from './blocked-hosts.js';
import { TokenSum } from './token-sum.js';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Types of events that use nothing. A new one is either counted or named here. */
type Uncounted =
  | ('message' | 'thought' | 'policy_decision' | 'approval_request' | 'approval_response')
  | ('tool_start' | 'tool_state' | 'tool_output' | 'verification' | 'todos')
  | ('loop_notice' | 'limit_notice' | 'result');

/** What a run has used, and its warnings, for the result. Folds one event at a time. */
export class RunTally {
  init: InitEvent | undefined;
  readonly #warnings: string[] = [];
  readonly #blockedHosts = new BlockedHosts();
  readonly #tools = new Map<string, Mutable<ToolStats>>();
  readonly #models = new Map<string, TokenSum>();
  readonly #total = new TokenSum();
  /** Calls that have no result yet, and their tools. */
  readonly #running = new Map<string, string>();
  #turns = 0;
  #retries = 0;
  #retryWaitMs = 0;
  #calls = 0;
  #modelMs = 0;
  #toolMs = 0;

  add(event: RunEvent): void {
    switch (event.type) {
      case 'init':
        this.init = event;
        return;
      case 'turn':
        this.#turns++;
        this.#modelMs += event.latency_ms;
        this.#addUsage(event.model, event.usage, event.cost_usd);
        return;
      case 'compression':
        this.#modelMs += event.latency_ms;
        this.#addUsage(event.model, event.usage, event.cost_usd);
        return;
      case 'retry':
        this.#retries++;
        this.#retryWaitMs += event.wait_ms;
        // Most retries had no answer, and no known cost.
        if (event.usage) this.#addUsage(event.model, event.usage, event.cost_usd);
        return;
      case 'tool_use':
        this.#calls++;
        this.#running.set(event.tool_id, event.tool_name);
        this.#toolStats(event.tool_name).calls++;
        return;
      case 'tool_result':
        this.#addResult(event);
        return;
      case 'error':
        if (event.severity === 'warning') this.#warnings.push(event.message);
        return;
      case 'network_decision':
        if (event.decision === 'deny') this.#blockedHosts.add(event);
        return;
      default:
        event.type satisfies Uncounted;
    }
  }

  get warnings(): readonly string[] {
    return [...this.#warnings, ...this.#blockedHosts.warnings()];
  }

  /** Ids of the calls that have no result yet. */
  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** `changes` are those of the whole run, if it is over and they are known. */
  stats(durationMs: number, changes?: readonly Pick<NetChange, 'added' | 'removed'>[]): RunStats {
    return {
      ...this.#total.stats,
      turns: this.#turns,
      retries: this.#retries,
      tool_calls: this.#calls,
      tools: Object.fromEntries(this.#tools),
      models: Object.fromEntries([...this.#models].map(([model, sum]) => [model, sum.stats])),
      duration_ms: Math.round(durationMs),
      model_duration_ms: this.#modelMs,
      retry_wait_ms: this.#retryWaitMs,
      tool_duration_ms: this.#toolMs,
      ...(changes && {
        files_changed: changes.length,
        lines_added: changes.reduce((sum, { added = 0 }) => sum + added, 0),
        lines_removed: changes.reduce((sum, { removed = 0 }) => sum + removed, 0),
      }),
    };
  }

  #addResult({ tool_id, status, duration_ms, usage }: Extract<RunEvent, { type: 'tool_result' }>): void {
    const stats = this.#toolStats(this.#running.get(tool_id) ?? 'unknown');
    this.#running.delete(tool_id);
    stats[status]++;
    stats.duration_ms += duration_ms;
    this.#toolMs += duration_ms;
    if (usage) this.#addUsage(usage.model, usage, usage.cost_usd);
  }

  #toolStats(name: string): Mutable<ToolStats> {
    const fresh = { calls: 0, success: 0, error: 0, cancelled: 0, duration_ms: 0 };
    return entryOf(this.#tools, name, fresh);
  }

  #addUsage(model: string, usage: Usage | undefined, cost: number | undefined): void {
    this.#total.add(usage, cost);
    entryOf(this.#models, model, new TokenSum()).add(usage, cost);
  }
}

function entryOf<T>(map: Map<string, T>, key: string, fresh: T): T {
  const entry = map.get(key) ?? fresh;
  map.set(key, entry);
  return entry;
}
