import { headOf } from '../../lib/truncate.js';
import { nearestPlace } from './nearest-place.js';

const MAX_LINES = 60;
const LINES_IN_FRONT = 15;
const MAX_LINE_LENGTH = 400;

/** A part of a text with line numbers, around the place where `wanted` is or should be, to copy from. */
export function currentSlice(text: string, wanted: string): string {
  const lines = text.split(/\r?\n/);
  const at = wanted === '' ? 0 : (lineWith(text, wanted) ?? nearestPlace(lines, wanted.split(/\r?\n/)) ?? 0);
  const first = Math.max(0, Math.min(at - LINES_IN_FRONT, lines.length - MAX_LINES));
  const last = Math.min(lines.length, first + MAX_LINES);
  const slice = numberedLines(lines.slice(first, last), first);
  return `Lines ${first + 1} to ${last} of ${lines.length} as they are now; copy old_string from them, without the numbers:\n${slice}`;
}

function lineWith(text: string, wanted: string): number | undefined {
  const index = text.indexOf(wanted);
  return index < 0 ? undefined : text.slice(0, index).split('\n').length - 1;
}

/** Lines as the model sees them: each after its number, counted from 1. */
export function numberedLines(lines: readonly string[], first: number): string {
  return lines.map((line, i) => `${first + i + 1}| ${cutLine(line)}`).join('\n');
}

function cutLine(line: string): string {
  if (line.length <= MAX_LINE_LENGTH) return line;
  const shown = headOf(line, MAX_LINE_LENGTH);
  return `${shown}… [${line.length - shown.length} more characters]`;
}
