import { errorMessage } from '../../lib/errors.js';
import { splitLines } from '../../lib/jsonl.js';
import { batchProblem } from '../spec.js';
import { tasksText } from './text.js';
import { rowOf, type Row } from './row.js';

/** Tasks, one JSON object per line. Blank lines are ignored. */
export function readJsonl(bytes: Buffer, name: string): Row[] {
  const rows: Row[] = [];
  tasksText(bytes, name);
  for (const line of splitLines(bytes)) {
    const text = line.bytes.toString('utf8').replace(/^\ufeff/, '');
    if (text.trim() === '') continue;
    const positionOf = (column: number) => `${name}:${line.number}:${column}`;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      const [, position = '0'] = /at position (\d+)/.exec(errorMessage(error)) ?? [];
      throw batchProblem(`${positionOf(Number(position) + 1)}: not JSON: ${errorMessage(error)}`);
    }
    rows.push(rowOf(value, positionOf(1), (message) => batchProblem(`${positionOf(1)}: ${message}`)));
  }
  return rows;
}
