import { isUtf8 } from 'node:buffer';
import { batchProblem } from '../spec.js';

/** The text of a file of tasks, without its byte order mark. */
export function tasksText(bytes: Buffer, name: string): string {
  if (!isUtf8(bytes)) throw batchProblem(`${name} is not UTF-8 text`, 'Convert it to UTF-8.');
  const text = bytes.toString('utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
