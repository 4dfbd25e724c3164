import type { Problem } from '../../protocol/problem.js';
import type { Values } from '../spec.js';

/** A task as its source has it, and where that is. */
export interface Row {
  readonly values: Values;
  /** Its id unless its values contain one. */
  readonly id?: string;
  /** `tasks.csv:12:1`, or words that identify it. */
  readonly place: string;
}

/** Turns parsed data into a row. Throws a fault unless it is an object of named values. */
export function rowOf(value: unknown, place: string, fault: (message: string) => Problem): Row {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw fault('a task must be an object of named values');
  const entries = Object.entries(value);
  if (entries.length === 0) throw fault('a task has no values');
  const values = Object.fromEntries(entries.map(([name, one]) => [name, fieldText(name, one)]));
  return { values, place };
}

/** Numbers become strings, null becomes an empty one, and nested values become JSON. */
function fieldText(name: string, value: unknown): string | readonly string[] {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  const isFiles = name === 'files' && Array.isArray(value) && value.every((one) => typeof one === 'string');
  if (isFiles) return value as readonly string[];
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A value as it appears in a prompt. */
export function promptValue(value: string | readonly string[]): string {
  return typeof value === 'string' ? value : value.join('\n');
}
