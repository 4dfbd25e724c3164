import { fileChange } from '../lib/line-diff.js';
import type { Facts } from './facts.js';

/** One part in which a run went differently than recorded, as a diff. */
export interface Drift {
  readonly part: keyof Facts;
  readonly diff: string;
}

const ORDER = ['outcome', 'decisions', 'answer', 'changes'] as const satisfies (keyof Facts)[];

/** Where a run differs from its recording. What the recording does not know counts as the same. */
export function driftBetween(recorded: Facts, now: Facts): Drift[] {
  return ORDER.flatMap((part) => {
    const before = recorded[part];
    if (before === undefined) return [];
    const [old, fresh] = [textOfLines(before), textOfLines(now[part] ?? ['not known'])];
    return old === fresh ? [] : [{ part, diff: withoutHeader(fileChange(part, old, fresh).diff) }];
  });
}

function textOfLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** Both sides are the same part of the same case. */
function withoutHeader(diff: string): string {
  return diff.split('\n').slice(2).join('\n');
}
