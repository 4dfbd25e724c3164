import type { TranscriptLine } from '../../protocol/event.js';
import { Summary } from '../../reporters/summary.js';
import type { BatchInitEvent, JournalLine } from '../journal/event.js';

/** Fewer ends say nothing about the rest. */
const ENOUGH_ENDS = 5;

export interface RunningTask {
  readonly id: string;
  readonly summary: Summary;
  readonly since: number;
}

/** The progress of this start of a batch, from its journal and the events of its tasks. */
export class Tally {
  init: BatchInitEvent | undefined;
  readonly #running = new Map<string, RunningTask>();
  /** A task that is tried again does not count until its final end. */
  readonly #ends = new Map<string, 'completed' | 'failed' | 'cut'>();
  #endedCost = 0;
  #started = performance.now();

  event(line: JournalLine): void {
    switch (line.type) {
      case 'batch_init':
        this.init = line;
        this.#started = performance.now();
        return;
      case 'task_start':
        this.#ends.delete(line.id);
        this.#running.set(line.id, { id: line.id, summary: new Summary(), since: performance.now() });
        return;
      case 'task_end':
        this.#endedCost += taskCost(this.#running.get(line.id));
        this.#running.delete(line.id);
        this.#ends.set(line.id, line.status === 'completed' ? 'completed' : line.ended ? 'failed' : 'cut');
        return;
      case 'gate':
      case 'batch_notice':
      case 'batch_result':
        return;
      default:
        line satisfies never;
    }
  }

  task(id: string, line: TranscriptLine): void {
    this.#running.get(id)?.summary.add(line);
  }

  /** In the order of their starts. */
  get running(): readonly RunningTask[] {
    return [...this.#running.values()];
  }

  get toRun(): number {
    return this.init?.tasks.to_run ?? 0;
  }

  get completed(): number {
    return this.#count('completed');
  }

  get failed(): number {
    return this.#count('failed');
  }

  get done(): number {
    return this.completed + this.failed;
  }

  get pending(): number {
    return Math.max(0, this.toRun - this.done - this.#running.size);
  }

  get elapsedMs(): number {
    return performance.now() - this.#started;
  }

  /** What this start has spent so far. */
  get costUsd(): number {
    return this.running.reduce((sum, task) => sum + taskCost(task), this.#endedCost);
  }

  /** How many tasks end per minute; undefined while that is unknown. */
  get perMinute(): number | undefined {
    return this.done < ENOUGH_ENDS ? undefined : this.done / (this.elapsedMs / 60_000);
  }

  /** How long it still takes if the rest takes as long as what has ended. */
  get leftMs(): number | undefined {
    const { perMinute } = this;
    const left = this.toRun - this.done - this.#count('cut');
    return perMinute === undefined || left <= 0 ? undefined : (left / perMinute) * 60_000;
  }

  /** How many more tasks this much pays for, at their average cost so far. */
  affordable(dollars: number): number | undefined {
    if (this.done < ENOUGH_ENDS || this.#endedCost === 0) return undefined;
    return Math.floor(dollars / (this.#endedCost / this.done));
  }

  #count(kind: 'completed' | 'failed' | 'cut'): number {
    let n = 0;
    for (const end of this.#ends.values()) if (end === kind) n++;
    return n;
  }
}

export function taskCost(task: RunningTask | undefined): number {
  return task?.summary.stats(0).cost_usd ?? 0;
}
