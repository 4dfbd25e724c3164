import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { configProblem } from '../../protocol/problem.js';
import { HEADER } from './write.js';

/** Throws a Problem if learning would overwrite a file that it did not write. */
export function checkOutput(file: string, folder: string): void {
  let text: string;
  try {
    text = readFileSync(resolve(folder, file), 'utf8');
  } catch {
    return;
  }
  if (text !== '' && !text.startsWith(HEADER))
    throw configProblem('output', `${file} exists already, and was not written by policy learn`, {
      hint: 'Choose another name, or add what is missing with --merge.',
    });
}
