import type {
  ErrorEvent,
  InitEvent,
  ResultEvent,
  RetryEvent,
  RunEvent,
  RunStats,
  ToolStats,
} from '../protocol/event.js';
import type { NetChange } from '../protocol/success.js';
import type { Todo } from '../protocol/todo.js';
import type { Usage } from '../protocol/usage.js';
import { BlockedHosts } from './blocked-hosts.js';
import { calledAs } from './call-title.js';
import { TokenSum } from './token-sum.js';

/** A file that changed, as far as it is told. */
export type ToldChange = Pick<NetChange, 'path' | 'from' | 'added' | 'removed'> & Partial<NetChange>;

const TITLE_WIDTH = 200;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Everything that can be told about a run from its events. Folds one event at a time. */
export class Summary {
  init: InitEvent | undefined;
  result: ResultEvent | undefined;
  /** The model's plan, as it wrote it last. */
  todos: readonly Todo[] = [];
  /** The last failure, while there is no answer yet. */
  retrying: RetryEvent | undefined;
  /** The model is done, and it is looked at whether the work is. */
  isConcluding = false;
  readonly #warnings: string[] = [];
  readonly #blockedHosts = new BlockedHosts();
  /** What tools told of their edits, in the order of the files. */
  readonly #edits = new Map<string, { added: number; removed: number }>();
  readonly #tools = new Map<string, Mutable<ToolStats>>();
  readonly #models = new Map<string, TokenSum>();
  readonly #total = new TokenSum();
  readonly #running = new Map<string, string>();
  readonly #titles = new Map<string, string>();
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
        this.retrying = undefined;
        this.#modelMs += event.latency_ms;
        this.#addUsage(event.model, event.usage, event.cost_usd);
        return;
      case 'message':
        this.isConcluding = event.phase === 'final' && this.init?.success !== undefined;
        return;
      case 'compression':
        this.#modelMs += event.latency_ms;
        this.#addUsage(event.model, event.usage, event.cost_usd);
        return;
      case 'retry':
        this.#retries++;
        this.#retryWaitMs += event.wait_ms;
        this.retrying = event;
        // Most retries had no answer, and cost nothing that anybody told.
        if (event.usage) this.#addUsage(event.model, event.usage, event.cost_usd);
        return;
      case 'tool_use':
        this.#calls++;
        this.#running.set(event.tool_id, event.tool_name);
        this.#titles.set(event.tool_id, calledAs(event, TITLE_WIDTH));
        this.#toolStats(event.tool_name).calls++;
        return;
      case 'tool_result': {
        const stats = this.#toolStats(this.#running.get(event.tool_id) ?? 'unknown');
        this.#running.delete(event.tool_id);
        stats[event.status]++;
        stats.duration_ms += event.duration_ms;
        this.#toolMs += event.duration_ms;
        if (event.change) this.#addChange(event.change);
        if (event.usage) this.#addUsage(event.usage.model, event.usage, event.usage.cost_usd);
        return;
      }
      case 'todos':
        this.todos = event.todos;
        return;
      case 'error':
        this.#addWarning(event);
        return;
      case 'network_decision':
        if (event.decision === 'deny') this.#blockedHosts.add(event);
        return;
      case 'result':
        this.result = event;
        return;
      default:
    }
  }

  get warnings(): readonly string[] {
    return [...this.#warnings, ...this.#blockedHosts.warnings()];
  }

  /** What the calls do that have no result yet. */
  get running(): readonly string[] {
    return [...this.#running.keys()].map((id) => this.titleOf(id) ?? id);
  }

  titleOf(toolId: string): string | undefined {
    return this.#titles.get(toolId);
  }

  /**
   * What is not as it was, by the word of the result. A run without a result, and one of before results told it, has
   * only the word of its tools. Undefined if it is not known.
   */
  get changes(): readonly ToldChange[] | undefined {
    const { result } = this;
    if (result?.changes || (result && result.stats.files_changed === undefined)) return result.changes;
    return [...this.#edits].map(([path, lines]) => ({ path, ...lines }));
  }

  /** `changes` are those of the whole run, if it is over and they are known. */
  stats(durationMs: number, changes?: readonly ToldChange[]): RunStats {
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

  #addWarning({ severity, message }: ErrorEvent): void {
    if (severity === 'warning') this.#warnings.push(message);
  }

  #addChange({
    path,
    lines_added,
    lines_removed,
  }: {
    path: string;
    lines_added: number;
    lines_removed: number;
  }): void {
    const before = this.#edits.get(path) ?? { added: 0, removed: 0 };
    this.#edits.set(path, { added: before.added + lines_added, removed: before.removed + lines_removed });
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
