import { structuredPatch } from 'diff';
import type { FileChange } from '../../protocol/tool.js';

const CONTEXT_LINES = 3;
/** A diff that takes longer than this is shown as one block out, one block in. */
const TIMEOUT_MS = 500;

/** What changed in a file: a unified diff and its line counts. Only the part that differs is compared. */
export function fileChange(path: string, before: string, after: string): FileChange {
  const middle = differingLines(before, after);
  const patch = structuredPatch(path, path, middle.before, middle.after, '', '', {
    context: CONTEXT_LINES,
    timeout: TIMEOUT_MS,
  });
  const hunks = patch?.hunks ?? [wholeBlock(middle.before, middle.after)];
  let [lines_added, lines_removed] = [0, 0];
  const text: string[] = [`--- ${before === '' ? '/dev/null' : `a/${path}`}`, `+++ b/${path}`];
  for (const hunk of hunks) {
    text.push(
      `@@ -${range(hunk.oldStart + middle.offset, hunk.oldLines)} +${range(hunk.newStart + middle.offset, hunk.newLines)} @@`,
    );
    for (const line of hunk.lines) {
      if (line.startsWith('+')) lines_added++;
      else if (line.startsWith('-')) lines_removed++;
      text.push(line);
    }
  }
  return { path, diff: `${text.join('\n')}\n`, lines_added, lines_removed };
}

function range(start: number, lines: number): string {
  // A side without lines is counted from the line before it.
  return lines === 1 ? `${start}` : `${lines === 0 ? start - 1 : start},${lines}`;
}

interface Middle {
  readonly before: string;
  readonly after: string;
  /** Lines in front of it that both have. */
  readonly offset: number;
}

/** Cuts the lines off that both texts begin and end with, but for the context of the diff. */
function differingLines(before: string, after: string): Middle {
  const shortest = Math.min(before.length, after.length);
  let start = 0;
  while (start < shortest && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  let end = 0;
  while (
    end < shortest - start &&
    before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)
  ) {
    end++;
  }
  start = linesBack(before, start, CONTEXT_LINES + 1);
  const beforeEnd = linesOn(before, before.length - end, CONTEXT_LINES + 1);
  const afterEnd = after.length - (before.length - beforeEnd);
  return {
    before: before.slice(start, beforeEnd),
    after: after.slice(start, afterEnd),
    offset: countNewlines(before, start),
  };
}

/** The start of the line that is `lines` lines before the one at `index`. */
function linesBack(text: string, index: number, lines: number): number {
  let at = lineStart(text, index);
  for (let i = 0; i < lines && at > 0; i++) at = lineStart(text, at - 1);
  return at;
}

function lineStart(text: string, index: number): number {
  return index === 0 ? 0 : text.lastIndexOf('\n', index - 1) + 1;
}

/** The end of the line that is `lines` lines after the one at `index`. */
function linesOn(text: string, index: number, lines: number): number {
  let at = index;
  for (let i = 0; i <= lines; i++) {
    const newline = text.indexOf('\n', at);
    if (newline < 0) return text.length;
    at = newline + 1;
  }
  return at;
}

function countNewlines(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

function wholeBlock(before: string, after: string) {
  const old = before.split('\n');
  const fresh = after.split('\n');
  const lines = [...old.map((line) => `-${line}`), ...fresh.map((line) => `+${line}`)];
  return { oldStart: 1, oldLines: old.length, newStart: 1, newLines: fresh.length, lines };
}
