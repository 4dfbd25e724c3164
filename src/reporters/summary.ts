import type {
  ErrorEvent,
  InitEvent,
  ResultEvent,
  RunEvent,
  RunStats,
  TokenStats,
  ToolStats,
} from '../protocol/event.js';
import type { Todo } from '../protocol/todo.js';
import type { Usage } from '../protocol/usage.js';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Everything that can be told about a run from its events. Folds one event at a time. */
export class Summary {
  init: InitEvent | undefined;
  result: ResultEvent | undefined;
  /** The model's plan, as it wrote it last. */
  todos: readonly Todo[] = [];
  readonly warnings: string[] = [];
  readonly changes = new Map<string, { added: number; removed: number }>();
  readonly #tools = new Map<string, Mutable<ToolStats>>();
  readonly #models = new Map<string, Mutable<TokenStats>>();
  readonly #total: Mutable<TokenStats> = {};
  readonly #running = new Map<string, string>();
  #turns = 0;
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
        this.#addUsage(event.model, event.usage);
        return;
      case 'retry':
        this.#addUsage(this.init?.model ?? 'unknown', event.usage);
        return;
      case 'tool_use':
        this.#calls++;
        this.#running.set(event.tool_id, event.tool_name);
        this.#toolStats(event.tool_name).calls++;
        return;
      case 'tool_result': {
        const stats = this.#toolStats(this.#running.get(event.tool_id) ?? 'unknown');
        this.#running.delete(event.tool_id);
        stats[event.status]++;
        stats.duration_ms += event.duration_ms;
        this.#toolMs += event.duration_ms;
        if (event.change) this.#addChange(event.change);
        if (event.usage) this.#addUsage(event.usage.model, event.usage);
        return;
      }
      case 'todos':
        this.todos = event.todos;
        return;
      case 'error':
        this.#addWarning(event);
        return;
      case 'result':
        this.result = event;
        return;
      default:
    }
  }

  /** Names of the calls that have no result yet. */
  get running(): readonly string[] {
    return [...this.#running.values()];
  }

  stats(durationMs: number): RunStats {
    const lines = [...this.changes.values()];
    return {
      ...this.#total,
      turns: this.#turns,
      tool_calls: this.#calls,
      tools: Object.fromEntries(this.#tools),
      models: Object.fromEntries(this.#models),
      duration_ms: Math.round(durationMs),
      model_duration_ms: this.#modelMs,
      tool_duration_ms: this.#toolMs,
      files_changed: this.changes.size,
      lines_added: lines.reduce((sum, { added }) => sum + added, 0),
      lines_removed: lines.reduce((sum, { removed }) => sum + removed, 0),
    };
  }

  #addWarning({ severity, message }: ErrorEvent): void {
    if (severity === 'warning') this.warnings.push(message);
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
    const before = this.changes.get(path) ?? { added: 0, removed: 0 };
    this.changes.set(path, { added: before.added + lines_added, removed: before.removed + lines_removed });
  }

  #toolStats(name: string): Mutable<ToolStats> {
    const fresh = { calls: 0, success: 0, error: 0, cancelled: 0, duration_ms: 0 };
    return entryOf(this.#tools, name, fresh);
  }

  #addUsage(model: string, usage: Usage | undefined): void {
    if (!usage) return;
    addTokens(this.#total, usage);
    addTokens(entryOf(this.#models, model, {}), usage);
  }
}

function entryOf<T>(map: Map<string, T>, key: string, fresh: T): T {
  const entry = map.get(key) ?? fresh;
  map.set(key, entry);
  return entry;
}

/** What is not known stays absent: a sum of nothing is not 0. */
function addTokens(sum: Mutable<TokenStats>, usage: Usage): void {
  const plus = (name: keyof TokenStats, value: number | undefined) => {
    if (value !== undefined) sum[name] = (sum[name] ?? 0) + value;
  };
  plus('total_tokens', usage.total);
  plus('input_tokens', usage.prompt);
  plus('output_tokens', usage.output);
  plus('cached', usage.cached);
  plus('thoughts', usage.thoughts);
  plus('input', usage.prompt === undefined ? undefined : Math.max(0, usage.prompt - (usage.cached ?? 0)));
}
