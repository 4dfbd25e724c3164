/** How often an open pipe is looked at once every known writer is gone. */
const LOOK_MS = 20;
/** After this many silent looks in a row it counts as drained. */
const SILENT_LOOKS = 10;
/** A pipe into which a process beyond our reach keeps writing is closed after this many looks. */
const MOST_LOOKS = 50;

/**
 * Determines when nothing more will come out of a pipe that somebody still holds open. It counts looks, not time:
 * while other runs keep this process busy, nobody reads what is already in the pipe, and between two looks
 * everything there is read.
 */
export class Drain {
  #silent = 0;
  #looks = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Something came out of the pipe. */
  heard(): void {
    this.#silent = 0;
  }

  over(): Promise<void> {
    return new Promise((resolve) => {
      this.#timer = setInterval(() => {
        if (++this.#silent >= SILENT_LOOKS || ++this.#looks >= MOST_LOOKS) resolve();
      }, LOOK_MS);
    });
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
