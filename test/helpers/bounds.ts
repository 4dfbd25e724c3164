import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { expect } from '@jest/globals';
import { cpuMs } from './cpu.js';

/** Set by `npm run bench:bounds`, which judges what is noted there: a test must not fail because a machine is busy. */
const NOTES = process.env['BOSUN_BOUNDS'];

export const areBoundsMeasured = NOTES !== undefined;

/** Notes what something took, and how much it may take at most. */
export function bound(took: number, most: number): void {
  if (NOTES === undefined) return;
  const { testPath = '', currentTestName } = expect.getState();
  const suite = relative(process.cwd(), testPath);
  appendFileSync(NOTES, `${JSON.stringify({ suite, test: currentTestName, took, most })}\n`);
}

/** Does work that may take so many milliseconds of processor time. */
export function within<T>(most: number, work: () => T): T {
  const before = cpuMs();
  const done = () => bound(cpuMs() - before, most);
  const made = work();
  if (made instanceof Promise) return made.finally(done) as T;
  done();
  return made;
}
