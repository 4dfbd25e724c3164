import { readFileSync, writeFileSync } from 'node:fs';
import { sha256 } from '../../src/lib/ids.js';
import type { Scratch } from './run-cli.js';

export type Line = Record<string, unknown>;

/**
 * Rewrites a transcript as somebody would who can write it, and chains it again: it is as sound as before. What JSON
 * cannot be written by us is put in afterwards.
 */
export function forge(
  { transcript }: Scratch,
  change: (lines: Line[]) => Line[] | void,
  finish = (line: string) => line,
): void {
  const lines = readFileSync(transcript, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  let prev = '0'.repeat(64);
  const chained = (change(lines) ?? lines).map((line, seq) => {
    const text = finish(JSON.stringify({ ...line, seq, prev }));
    prev = sha256(text);
    return `${text}\n`;
  });
  writeFileSync(transcript, chained.join(''));
}
