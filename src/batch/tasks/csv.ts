import { CsvError, parse } from 'csv-parse/sync';
import { batchProblem } from '../spec.js';
import { tasksText } from './text.js';
import type { Row } from './row.js';

interface CsvRecord {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

/** Tasks as rows below a row of names. */
export function readCsv(bytes: Buffer, name: string): Row[] {
  const [head, ...body] = recordsIn(tasksText(bytes, name), name);
  if (!head) return [];
  const names = head.record.map((column) => column.trim());
  const fault = (line: number, message: string) => batchProblem(`${name}:${line}:1: ${message}`);
  names.forEach((column, i) => {
    if (column === '') throw fault(1, `column ${i + 1} has no name`);
    if (names.indexOf(column) < i) throw fault(1, `there are two columns named \`${column}\``);
  });
  let line = head.info.lines + 1;
  return body.map(({ record, info }) => {
    const start = line;
    line = info.lines + 1;
    if (record.length !== names.length)
      throw fault(start, `the row has ${record.length} fields, but there are ${names.length} columns`);
    const values = Object.fromEntries(names.map((column, i) => [column, record[i] ?? '']));
    return { values, place: `${name}:${start}:1` };
  });
}

function recordsIn(text: string, name: string): CsvRecord[] {
  try {
    // We report ragged rows ourselves, to name the row.
    const options = { info: true, relax_column_count: true, skip_empty_lines: true };
    return parse(text, options) as unknown as CsvRecord[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { lines = 1 } = error as { lines?: number };
    throw batchProblem(`${name}:${lines}:1: not CSV: ${error.message}`);
  }
}
