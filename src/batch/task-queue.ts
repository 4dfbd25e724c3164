/** Tasks waiting for a place: those tried again, once their time has come, go before new ones. */
export class TaskQueue<T> {
  readonly #fresh: T[];
  readonly #again: { readonly task: T; readonly at: number }[] = [];
  /** Called when something changes. */
  readonly #waiting = new Set<() => void>();
  #running = 0;
  #closed = false;

  constructor(tasks: readonly T[]) {
    this.#fresh = [...tasks];
  }

  /**
   * The next task that `begin` accepts; undefined if there will be no more. The caller reports when it is `done`.
   */
  async take(begin: (task: T) => boolean): Promise<T | undefined> {
    for (;;) {
      if (this.#closed || this.#isOver) return undefined;
      const now = performance.now();
      const due = this.#again.findIndex(({ at }) => at <= now);
      const next = due >= 0 ? this.#again[due]?.task : this.#fresh[0];
      if (next !== undefined && begin(next)) {
        this.#running++;
        if (due >= 0) this.#again.splice(due, 1);
        else this.#fresh.shift();
        return next;
      }
      // `begin` may have closed the queue.
      if (this.#closed) return undefined;
      const soonest = Math.min(...this.#again.map(({ at }) => at));
      await this.#change(next !== undefined || soonest === Infinity ? undefined : soonest - now);
    }
  }

  /** The task is over, or is tried again after some time. */
  done(again?: { readonly task: T; readonly waitMs: number }): void {
    this.#running--;
    if (again) this.#again.push({ task: again.task, at: performance.now() + again.waitMs });
    // Thousands may wait for the last ones: they are woken only if there is something for them.
    if (this.#isOver || this.#fresh.length + this.#again.length > 0) this.wake();
  }

  /** Nothing more is taken. */
  close(): void {
    this.#closed = true;
    this.wake();
  }

  /** Something has changed that may let a task begin. */
  wake(): void {
    for (const go of [...this.#waiting]) go();
  }

  get #isOver(): boolean {
    return this.#fresh.length === 0 && this.#again.length === 0 && this.#running === 0;
  }

  #change(waitMs: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const go = () => {
        clearTimeout(timer);
        this.#waiting.delete(go);
        resolve();
      };
      const timer = waitMs === undefined ? undefined : setTimeout(go, waitMs);
      this.#waiting.add(go);
    });
  }
}
