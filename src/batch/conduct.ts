import type { Executor, PlannedRun } from './executor.js';
import { pausedOutcome, haltBy, limitHalt, strongerHalt, type Halt } from './halt.js';
import type { Step } from './plan.js';
import type { BatchTask } from './prepare.js';
import type { BatchLimits } from './spec.js';
import { TaskQueue } from './task-queue.js';

export interface ConductSettings {
  readonly concurrency: number;
  /** What to do with a task whose attempt has just ended. */
  readonly next: (task: BatchTask) => Step;
  /** How many tasks may fail; undefined: all of them. */
  readonly maxFailed: number | undefined;
  readonly executor: Executor;
}

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

/** Runs tasks side by side until none is left, or something stops new ones. */
export class Conductor {
  readonly #settings: ConductSettings;
  readonly #running = new Map<string, AbortController>();
  #queue: TaskQueue<PlannedRun> = new TaskQueue([]);
  #halt: Halt | undefined;
  #failed = 0;

  /** Why nothing new starts, if so. */
  get halted(): Halt | undefined {
    return this.#halt;
  }

  constructor(settings: ConductSettings) {
    this.#settings = settings;
  }

  /** Resolves with the reason if not all of them could run. */
  async run(runs: readonly PlannedRun[]): Promise<Halt | undefined> {
    const { concurrency, executor } = this.#settings;
    this.#queue = new TaskQueue(runs);
    if (this.#halt) this.#queue.close();
    const begin = (planned: PlannedRun) => this.#halt === undefined && executor.begin(planned);
    const work = async () => {
      for (let next = await this.#queue.take(begin); next; next = await this.#queue.take(begin))
        this.#queue.done(await this.#see(next));
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, runs.length) }, work));
    return this.#halt;
  }

  /** Starts nothing new, and ends running tasks as far as the reason requires. */
  halt(halt: Halt): void {
    this.#halt = strongerHalt(this.#halt, halt);
    this.#queue.close();
    this.#settings.executor.halt(this.#halt);
    if (halt.kind !== 'cancel') return;
    const outcome = halt.status === 'cancelled' ? halt.reason : pausedOutcome(halt);
    for (const controller of this.#running.values()) controller.abort(outcome);
  }

  /** One attempt from start to end; says whether the task is tried again. */
  async #see(planned: PlannedRun): Promise<Parameters<TaskQueue<PlannedRun>['done']>[0]> {
    const { task } = planned;
    const { executor, next, maxFailed = Infinity } = this.#settings;
    const controller = new AbortController();
    this.#running.set(task.id, controller);
    const end = await executor.attempt(planned, controller.signal);
    this.#running.delete(task.id);
    const halt = haltBy(end);
    if (halt) this.halt(halt);
    // An interrupted attempt continues at the next start.
    if (!end.ended) return undefined;
    const step = next(task);
    if (step.type === 'start') {
      const { tries } = step;
      const waitMs = tries === 0 ? 0 : Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (tries - 1));
      return { task: { task, step }, waitMs };
    }
    if (step.type === 'keep' && ++this.#failed > maxFailed)
      this.halt(
        limitHalt(
          'failed',
          `${this.#failed === 1 ? '1 task has' : `${this.#failed} tasks have`} failed; limits.failed allows ${maxFailed}`,
        ),
      );
    return undefined;
  }
}

/** How many of the tasks to run may fail. */
export function maxFailed(limit: BatchLimits['failed'], toRun: number): number | undefined {
  if (!limit) return undefined;
  return 'count' in limit ? limit.count : Math.floor(limit.share * toRun);
}
