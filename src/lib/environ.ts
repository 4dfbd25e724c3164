import { readFileSync } from 'node:fs';
import { attempt } from './attempt.js';

/** A variable in the initial memory of a process: where its value begins and ends. */
export interface EnvironEntry {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** The bytes of a process's initial environment. Only Linux shows them, and only to the same user. */
export function environOf(pid: number | 'self'): Buffer | undefined {
  return attempt(() => readFileSync(`/proc/${pid}/environ`));
}

export function* environEntries(bytes: Buffer): Generator<EnvironEntry> {
  for (let start = 0; start < bytes.length;) {
    const zero = bytes.indexOf(0, start);
    const to = zero < 0 ? bytes.length : zero;
    const equals = bytes.indexOf('=', start);
    if (equals > start && equals < to)
      yield { name: bytes.toString('utf8', start, equals), from: equals + 1, to };
    start = to + 1;
  }
}

/** The fields of /proc/PID/stat from the third on. The second is a name, which may contain anything. */
export function statOf(pid: number | 'self'): readonly string[] {
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? '';
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}
