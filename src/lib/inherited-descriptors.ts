import { readdirSync, readFileSync } from 'node:fs';
import { attempt } from './attempt.js';

const FOLDER = '/proc/self/fdinfo';
const CLOSED_ON_START = 0o2000000;

let found: readonly number[] | undefined;

/**
 * Descriptors, besides the first three, that whoever started us left open for the programs that we start. Node closes
 * only those below 16. Its own, and all that we open, are never passed on. Only Linux can tell.
 */
export function inheritedDescriptors(): readonly number[] {
  found ??= (attempt(() => readdirSync(FOLDER)) ?? [])
    .map(Number)
    .filter((one) => one > 2 && isPassedOn(one));
  return found;
}

function isPassedOn(descriptor: number): boolean {
  const info = attempt(() => readFileSync(`${FOLDER}/${descriptor}`, 'utf8')) ?? '';
  const [, flags] = /^flags:\s*([0-7]+)$/m.exec(info) ?? [];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_ON_START) === 0;
}
