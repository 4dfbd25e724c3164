import { killPrograms } from '../lib/run-program.js';
import { killAllCommands } from '../sandbox/groups.js';

/** Runs that have no result yet. Whoever starts runs keeps it, and hands it to each. */
export class RunsUnderWay {
  readonly #ends = new Set<() => number>();

  /** `end` ends a run at once, and gives its exit code. Returns how to take the run off again. */
  add(end: () => number): () => void {
    this.#ends.add(end);
    return () => void this.#ends.delete(end);
  }

  /**
   * For a process that has to leave now: kills whatever is running, and writes the results. Gives the exit code
   * that they tell, if there are any.
   */
  abandon(): number | undefined {
    killAllCommands();
    killPrograms();
    return [...this.#ends].map((end) => end()).at(-1);
  }
}
