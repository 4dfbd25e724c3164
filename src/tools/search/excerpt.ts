import { headOf, tailOf } from '../../lib/truncate.js';

/** How many characters of a line are shown; of a longer one those around the match. */
const MAX_LINE = 500;
const BEFORE_MATCH = 100;

/** A line as it is shown. `at` is where the match in it begins. */
export function excerpt(line: string, at: number): string {
  if (line.length <= MAX_LINE) return apart(line);
  const start = Math.max(0, Math.min(at - BEFORE_MATCH, line.length - MAX_LINE));
  const piece = apart(tailOf(headOf(line, start + MAX_LINE), MAX_LINE));
  return `${start > 0 ? '…' : ''}${piece}${start + MAX_LINE < line.length ? '…' : ''} [${line.length} characters]`;
}

/** Copies a text: a piece of a string would keep all of the file in memory. */
function apart(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
