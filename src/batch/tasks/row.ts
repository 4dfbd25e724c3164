import type { Problem } from '../../protocol/problem.js';
import type { Values } from '../spec.js';

/** A task as its source has it, and where that is. */
export interface Row {
  readonly values: Values;
  /** What stands for its id unless it has one among its values. */
  readonly id?: string;
  /** `tasks.csv:12:1`, or words that say which one it is. */
  readonly place: string;
}

/** Makes a row of what was read. Throws a fault if it is no object of named values. */
export function rowOf(value: unknown, place: string, fault: (message: string) => Problem): Row {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw fault('a task must be an object of named values');
  const entries = Object.entries(value);
  if (entries.length === 0) throw fault('a task has no values');
  const values = Object.fromEntries(entries.map(([name, one]) => [name, fieldText(name, one)]));
  return { values, place };
}

/** Numbers become strings, nothing becomes an empty one, and what has parts is said as JSON. */
function fieldText(name: string, value: unknown): string | readonly string[] {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  const isFiles = name === 'files' && Array.isArray(value) && value.every((one) => typeof one === 'string');
  if (isFiles) return value as readonly string[];
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A value as a prompt has it. */
export function spoken(value: string | readonly string[]): string {
  return typeof value === 'string' ? value : value.join('\n');
}
