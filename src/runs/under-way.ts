import { killPrograms } from '../lib/run-program.js';
import { killAllCommands } from '../sandbox/groups.js';

/** Runs that have no result yet. Code that starts runs keeps one, and hands it to each. */
export class RunsUnderWay {
  readonly #ends = new Set<() => number>();

  /** `end` ends a run at once, and returns its exit code. Returns how to unregister the run. */
  add(end: () => number): () => void {
    this.#ends.add(end);
    return () => void this.#ends.delete(end);
  }

  /**
   * For a process that has to leave now: kills everything that runs, and writes the results. Returns their exit code,
   * if there are any.
   */
  abandon(): number | undefined {
    killAllCommands();
    killPrograms();
    return [...this.#ends].map((end) => end()).at(-1);
  }
}
