import { difference } from '../../lib/nearest.js';

const MAX_LINES_SEARCHED = 20_000;
const MAX_LINE_LENGTH = 400;
const MAX_LINES_SHOWN = 12;
/** Lines that differ more than this have nothing to do with each other. */
const TOO_DIFFERENT = 0.5;

/** Where a text that was not found probably should have been, and what is different there. */
export function explainMiss(text: string, wanted: string): string {
  const lines = text.split(/\r?\n/);
  const wantedLines = wanted.split(/\r?\n/);
  const anchor = wantedLines.findIndex((line) => line.trim() !== '');
  const at = anchor < 0 ? undefined : nearestLine(lines, wantedLines[anchor] as string);
  if (at === undefined) return 'Nothing in the file resembles it. Read the file again before the next try.';

  const first = Math.max(0, at - anchor);
  const last = Math.min(lines.length, first + Math.min(wantedLines.length, MAX_LINES_SHOWN));
  const shown = lines
    .slice(first, last)
    .map((line, i) => `${first + i + 1}| ${line.slice(0, MAX_LINE_LENGTH)}`);
  const report = [`The nearest place is line ${first + 1}:`, ...shown];
  const differing = wantedLines.findIndex((line, i) => line !== lines[first + i]);
  if (differing >= 0) {
    const inFile = lines[first + differing];
    report.push(
      `Line ${first + differing + 1} differs:`,
      `  old_string: ${quoted(wantedLines[differing] as string)}`,
      `  file:       ${inFile === undefined ? '(end of file)' : quoted(inFile)}`,
    );
  }
  return report.join('\n');
}

/** Quoted as JSON, so that tabs and trailing blanks can be seen. */
function quoted(line: string): string {
  return JSON.stringify(line.slice(0, MAX_LINE_LENGTH));
}

function nearestLine(lines: readonly string[], wanted: string): number | undefined {
  const key = wanted.trim().slice(0, MAX_LINE_LENGTH);
  let best: number | undefined;
  let bestDifference = TOO_DIFFERENT;
  for (let i = 0; i < Math.min(lines.length, MAX_LINES_SEARCHED); i++) {
    const line = (lines[i] as string).trim().slice(0, MAX_LINE_LENGTH);
    // Lengths alone can rule a line out, and cost nothing.
    if (Math.abs(line.length - key.length) > bestDifference * Math.max(line.length, key.length)) continue;
    const d = difference(line, key);
    if (d < bestDifference) [best, bestDifference] = [i, d];
    if (d === 0) break;
  }
  return best;
}
