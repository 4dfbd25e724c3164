import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { MIN_ROOM } from '../markdown/report.js';

/** GitHub accepts no larger summary of a step, by all its writers; this leaves a little for later ones. */
const MAX_BYTES = 1024 * 1024 - 4096;

/** The file named by GITHUB_STEP_SUMMARY. Other programs of the step may write to it before or at the same time. */
export class StepSummary {
  readonly #path: string;

  /** Throws if it cannot be written. */
  constructor(path: string) {
    this.#path = path;
    closeSync(openSync(path, 'a'));
  }

  /** `write` gets the number of bytes left. */
  append(write: (room: number) => string): void {
    const file = openSync(this.#path, 'a+');
    try {
      const { size } = fstatSync(file);
      const gap = size === 0 ? '' : gapAfter(file, size);
      const room = MAX_BYTES - size - gap.length;
      if (room < MIN_ROOM)
        throw new Error(`it has ${size} bytes already, and GitHub takes no more than 1 MiB`);
      const bytes = Buffer.from(gap + write(room));
      for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
    } finally {
      closeSync(file);
    }
  }
}

/** A heading needs an empty line in front of it. */
function gapAfter(file: number, size: number): string {
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, size - 1);
  return last[0] === 10 ? '\n' : '\n\n';
}
