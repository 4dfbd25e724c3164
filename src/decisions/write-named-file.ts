import { plainReason } from '../lib/errors.js';
import { LateFile } from '../lib/late-file.js';
import { configProblem } from '../protocol/problem.js';

/** Writes a file that the user asked for: whole, or not at all. */
export function writeNamedFile(path: string, text: string): void {
  try {
    new LateFile(path).write([text]);
  } catch (error) {
    throw configProblem('output', `${path} cannot be written: ${plainReason(error)}`);
  }
}
