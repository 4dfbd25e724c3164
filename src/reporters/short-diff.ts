import { count, neutralizeCommands, revealHidden } from '../lib/text.js';
import { headOf } from '../lib/truncate.js';

const MAX_LINES = 12;

/** The changed lines of a diff without context, and not too many: for a log. */
export function shortDiff(diff: string, width: number): string[] {
  const changed = diff.split('\n').filter((line) => /^(@@|[-+](?!(--|\+\+) ))/.test(line));
  const shown = changed.slice(0, changed.length > MAX_LINES + 1 ? MAX_LINES : undefined);
  const more = changed.slice(shown.length).filter((line) => !line.startsWith('@@')).length;
  const lines = shown.map((line) => clippedLine(line.replace(/^(@@ .*? @@).*$/, '$1'), width));
  return more > 0 ? [...lines, `… and ${count(more, 'more changed line')}`] : lines;
}

/** Keeps the start of the line: indentation matters. */
function clippedLine(line: string, width: number): string {
  const shown = neutralizeCommands(revealHidden(headOf(line, width * 10)));
  return shown.length > width ? `${headOf(shown, width - 1)}…` : shown;
}
