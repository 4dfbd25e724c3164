import { headOf } from '../../lib/truncate.js';

const MAX_LINES = 2000;
const MAX_LINE_LENGTH = 2000;

export interface LineRange {
  /** From 0. */
  readonly first: number;
  readonly count: number | undefined;
}

export type Selection =
  { readonly type: 'lines'; readonly text: string } | { readonly type: 'past_end'; readonly total: number };

/** A page of a text. Says what was left out, and how to read on. */
export function selectLines(text: string, { first, count }: LineRange): Selection {
  if (text === '') return { type: 'lines', text: '[The file is empty.]' };
  const lines = text.split('\n');
  // A newline at the end closes the last line, and does not begin another one.
  const total = text.endsWith('\n') ? lines.length - 1 : lines.length;
  if (first >= total) return { type: 'past_end', total };
  const last = Math.min(total, first + Math.min(count ?? MAX_LINES, MAX_LINES));

  let cutLines = 0;
  const page = lines.slice(first, last).map((line) => {
    if (line.length <= MAX_LINE_LENGTH) return line;
    cutLines++;
    const shown = headOf(line, MAX_LINE_LENGTH);
    return `${shown}… [${line.length - shown.length} more characters]`;
  });
  const body = page.join('\n') + (last === total && text.endsWith('\n') ? '\n' : '');
  const notes: string[] = [];
  if (first > 0 || last < total) notes.push(`Lines ${first + 1} to ${last} of ${total}.`);
  if (last < total) notes.push(`To read on: offset ${last}.`);
  if (cutLines > 0) notes.push(`Lines longer than ${MAX_LINE_LENGTH} characters are cut (${cutLines}).`);
  return { type: 'lines', text: notes.length > 0 ? `[${notes.join(' ')}]\n${body}` : body };
}
