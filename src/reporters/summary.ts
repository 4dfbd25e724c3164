import type { InitEvent, ResultEvent, RetryEvent, RunEvent, RunStats } from '../protocol/event.js';
import type { NetChange } from '../protocol/success.js';
import { RunTally } from '../protocol/tally/run-tally.js';
import type { Todo } from '../protocol/todo.js';
import { calledAs } from './call-title.js';

/** A file that changed, as far as it is told. */
export type ToldChange = Pick<NetChange, 'path' | 'from' | 'added' | 'removed'> & Partial<NetChange>;

const TITLE_WIDTH = 200;

/** Events that change nothing of what is shown in a line. */
type PassedOver =
  | 'init'
  | 'thought'
  | 'policy_decision'
  | 'approval_request'
  | 'approval_response'
  | 'tool_start'
  | 'tool_state'
  | 'tool_output'
  | 'network_decision'
  | 'verification'
  | 'compression'
  | 'loop_notice'
  | 'limit_notice'
  | 'error';

/** Everything that can be told about a run from its events. Folds one event at a time. */
export class Summary {
  result: ResultEvent | undefined;
  /** The model's plan, as it wrote it last. */
  todos: readonly Todo[] = [];
  /** The last failure, while there is no answer yet. */
  retrying: RetryEvent | undefined;
  /** The model is done, and it is looked at whether the work is. */
  isConcluding = false;
  readonly #tally = new RunTally();
  /** What tools told of their edits, in the order of the files. */
  readonly #edits = new Map<string, { added: number; removed: number }>();
  readonly #titles = new Map<string, string>();

  add(event: RunEvent): void {
    this.#tally.add(event);
    switch (event.type) {
      case 'turn':
        this.retrying = undefined;
        return;
      case 'message':
        this.isConcluding = event.phase === 'final' && this.init?.success !== undefined;
        return;
      case 'retry':
        this.retrying = event;
        return;
      case 'tool_use':
        this.#titles.set(event.tool_id, calledAs(event, TITLE_WIDTH));
        return;
      case 'tool_result':
        if (event.change) this.#addChange(event.change);
        return;
      case 'todos':
        this.todos = event.todos;
        return;
      case 'result':
        this.result = event;
        return;
      default:
        event.type satisfies PassedOver;
    }
  }

  get init(): InitEvent | undefined {
    return this.#tally.init;
  }

  get warnings(): readonly string[] {
    return this.#tally.warnings;
  }

  /** What the calls do that have no result yet. */
  get running(): readonly string[] {
    return this.#tally.running.map((id) => this.titleOf(id) ?? id);
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
    return this.#tally.stats(durationMs, changes);
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
}
