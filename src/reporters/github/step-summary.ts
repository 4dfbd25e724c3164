import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { MIN_ROOM } from '../markdown/report.js';

/** GitHub takes no larger summary of a step, whoever wrote it; a little is left for whoever comes after. */
const MAX_BYTES = 1024 * 1024 - 4096;

/** The file behind GITHUB_STEP_SUMMARY. Others of the same step may have written to it, or may do so at the same time. */
export class StepSummary {
  readonly #path: string;

  /** Throws if it cannot be written. */
  constructor(path: string) {
    this.#path = path;
    closeSync(openSync(path, 'a'));
  }

  /** `write` is told how many bytes there is room for. */
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
