import { numberedLines } from './current-slice.js';
import { nearestPlace } from './nearest-place.js';

const MAX_LINE_LENGTH = 400;
const MAX_LINES_SHOWN = 12;

/** Where a missing text probably should have been, and what differs there. */
export function explainMiss(text: string, wanted: string): string {
  const lines = text.split(/\r?\n/);
  const wantedLines = wanted.split(/\r?\n/);
  const first = nearestPlace(lines, wantedLines);
  if (first === undefined)
    return 'Nothing in the file resembles it. Read the file again before the next try.';

  const last = Math.min(lines.length, first + Math.min(wantedLines.length, MAX_LINES_SHOWN));
  const report = [`The nearest place is line ${first + 1}:`, numberedLines(lines.slice(first, last), first)];
  const differing = wantedLines.findIndex((line, i) => line !== lines[first + i]);
  if (differing < 0) return report.join('\n');
  const asked = wantedLines[differing] as string;
  const inFile = lines[first + differing];
  const from = windowStart(asked, inFile ?? '');
  report.push(
    `Line ${first + differing + 1} differs${from > 0 ? ` (from character ${from + 1})` : ''}:`,
    `  old_string: ${quotedLine(asked, from)}`,
    `  file:       ${inFile === undefined ? '(end of file)' : quotedLine(inFile, from)}`,
  );
  return report.join('\n');
}

/** Where two lines must be cut so that the difference is visible. */
function windowStart(a: string, b: string): number {
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  return same < MAX_LINE_LENGTH - 50 ? 0 : same - 50;
}

/** Blanks of every kind but the plain one, and invisible characters. */
const UNSEEN = /[\u007f-\u00a0\u00ad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]/g;

/** Quoted as JSON, so that tabs and trailing blanks can be seen. */
function quotedLine(line: string, from: number): string {
  return JSON.stringify(line.slice(from, from + MAX_LINE_LENGTH)).replaceAll(
    UNSEEN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
