import type { InitEvent, ResultEvent, RetryEvent, RunEvent, RunStats } from '../protocol/event.js';
import type { NetChange } from '../protocol/success.js';
import { RunTally } from '../protocol/tally/run-tally.js';
import type { Todo } from '../protocol/todo.js';
import { calledAs } from './call-title.js';

/** A changed file, as far as it is known. */
export type ChangedFile = Pick<NetChange, 'path' | 'from' | 'added' | 'removed'> & Partial<NetChange>;

const TITLE_WIDTH = 200;

/** Events that change nothing that a line shows. */
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

/** What the events of a run tell about it. Folds one event at a time. */
export class Summary {
  result: ResultEvent | undefined;
  /** The model's latest plan. */
  todos: readonly Todo[] = [];
  /** The last failure, until there is an answer. */
  retrying: RetryEvent | undefined;
  /** The model is done, and the success conditions are being checked. */
  isConcluding = false;
  readonly #tally = new RunTally();
  /** The edits that tools reported, in the order of the files. */
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

  /** Titles of the calls that have no result yet. */
  get running(): readonly string[] {
    return this.#tally.running.map((id) => this.titleOf(id) ?? id);
  }

  titleOf(toolId: string): string | undefined {
    return this.#titles.get(toolId);
  }

  /**
   * What has changed, by the result. A run without a result, or from before results had it, has only what its tools
   * reported. Undefined if it is not known.
   */
  get changes(): readonly ChangedFile[] | undefined {
    const { result } = this;
    if (result?.changes || (result && result.stats.files_changed === undefined)) return result.changes;
    return [...this.#edits].map(([path, lines]) => ({ path, ...lines }));
  }

  /** `changes` are those of the whole run, if it is over and they are known. */
  stats(durationMs: number, changes?: readonly ChangedFile[]): RunStats {
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
