import { readInput, readInputFile } from '../runs/input.js';

const FIRST_BYTE_MS = 30_000;

/** The lines of a file, or of stdin if it is called `-`, without blank ones. */
export async function readLines(file: string): Promise<string[]> {
  const bytes =
    file === '-'
      ? await readInput(process.stdin, 'stdin', FIRST_BYTE_MS)
      : await readInputFile(file, FIRST_BYTE_MS);
  return bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
}
