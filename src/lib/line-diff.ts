import { structuredPatch, type StructuredPatchHunk } from 'diff';

export interface LineDiff {
  readonly path: string;
  readonly diff: string;
  readonly lines_added: number;
  readonly lines_removed: number;
}

const CONTEXT_LINES = 3;
/** A diff that takes longer than this becomes one block out, one block in. */
const TIMEOUT_MS = 500;
const MAX_COMPARED_CHARACTERS = 2_000_000;

/**
 * What changed in a file: a unified diff and its line counts. `before` is undefined for a file that is new. Only
 * the part that differs is compared.
 */
export function fileChange(path: string, before: string | undefined, after: string): LineDiff {
  const { hunks, offset } = compare(before ?? '', after);
  let [lines_added, lines_removed] = [0, 0];
  const text: string[] = [
    `--- ${before === undefined ? '/dev/null' : headerName(`a/${path}`)}`,
    `+++ ${headerName(`b/${path}`)}`,
  ];
  for (const hunk of hunks) {
    text.push(
      `@@ -${range(hunk.oldStart + offset, hunk.oldLines)} +${range(hunk.newStart + offset, hunk.newLines)} @@`,
    );
    for (const line of hunk.lines) {
      if (line.startsWith('+')) lines_added++;
      else if (line.startsWith('-')) lines_removed++;
      text.push(line);
    }
  }
  return { path, diff: capped(text), lines_added, lines_removed };
}

/** A name as git writes it: quoted if a character could be misread, and with a tab after one with blanks. */
function headerName(name: string): string {
  if (!MISREAD.test(name)) return name.includes(' ') ? `${name}\t` : name;
  const escaped = name.replaceAll(new RegExp(MISREAD, 'g'), (character) =>
    /["\\]/.test(character) ? `\\${character}` : `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  return `"${escaped}"`;
}

const MISREAD = /[\u0000-\u001f\u007f"\\]/;

/** Larger diffs are for programs, which can read the files. */
const MAX_DIFF_CHARACTERS = 1_000_000;

function capped(lines: readonly string[]): string {
  let size = 0;
  const fits = lines.findIndex((line) => (size += line.length + 1) > MAX_DIFF_CHARACTERS);
  if (fits < 0) return `${lines.join('\n')}\n`;
  return `${lines.slice(0, fits).join('\n')}\n[… ${lines.length - fits} more lines of this diff …]\n`;
}

type Hunk = Pick<StructuredPatchHunk, 'oldStart' | 'oldLines' | 'newStart' | 'newLines' | 'lines'>;

function compare(
  before: string,
  after: string,
): { readonly hunks: readonly Hunk[]; readonly offset: number } {
  for (let around = CONTEXT_LINES + 1; ; around *= 8) {
    const middle = differingLines(before, after, around);
    const { offset } = middle;
    const options = { context: CONTEXT_LINES, timeout: TIMEOUT_MS };
    const tooLarge = middle.before.length + middle.after.length > MAX_COMPARED_CHARACTERS;
    const patch = tooLarge
      ? undefined
      : structuredPatch('', '', middle.before, middle.after, '', '', options);
    if (!patch) return { hunks: [wholeBlock(middle.before, middle.after)], offset };
    // With repeated lines, a difference may be found later than necessary; it needs its context there too.
    const enough =
      (middle.atStart || contextOf(patch.hunks[0]?.lines) >= CONTEXT_LINES) &&
      (middle.atEnd || contextOf(patch.hunks.at(-1)?.lines.toReversed()) >= CONTEXT_LINES);
    if (enough) return { hunks: patch.hunks, offset };
  }
}

/** How many lines there are before the first that changed. */
function contextOf(lines: readonly string[] = []): number {
  return lines.findIndex((line) => !line.startsWith(' '));
}

function range(start: number, lines: number): string {
  // A side without lines is counted from the line before it.
  return lines === 1 ? `${start}` : `${lines === 0 ? start - 1 : start},${lines}`;
}

interface Middle {
  readonly before: string;
  readonly after: string;
  /** Common lines before it. */
  readonly offset: number;
  readonly atStart: boolean;
  readonly atEnd: boolean;
}

/** Removes the lines that both texts begin and end with, except for some context. */
function differingLines(before: string, after: string, around: number): Middle {
  const same = commonStart(before, after);
  const end = commonEnd(before, after, Math.min(before.length, after.length) - same);
  const start = linesBack(before, same, around);
  const beforeEnd = linesOn(before, before.length - end, around);
  const afterEnd = after.length - (before.length - beforeEnd);
  return {
    before: before.slice(start, beforeEnd),
    after: after.slice(start, afterEnd),
    offset: countNewlines(before, start),
    atStart: start === 0,
    atEnd: beforeEnd === before.length,
  };
}

/** Whole chunks are compared fast; only the one that differs is compared by character. */
const CHUNK = 65_536;

function commonStart(before: string, after: string): number {
  const shortest = Math.min(before.length, after.length);
  let at = 0;
  while (at + CHUNK <= shortest && before.slice(at, at + CHUNK) === after.slice(at, at + CHUNK)) at += CHUNK;
  while (at < shortest && before.charCodeAt(at) === after.charCodeAt(at)) at++;
  return at;
}

/** The length of the common end, up to `most`. */
function commonEnd(before: string, after: string, most: number): number {
  const [old, fresh] = [before.length, after.length];
  const chunkAt = (text: string, end: number) => text.slice(end - CHUNK, end);
  let size = 0;
  while (size + CHUNK <= most && chunkAt(before, old - size) === chunkAt(after, fresh - size)) size += CHUNK;
  while (size < most && before.charCodeAt(old - 1 - size) === after.charCodeAt(fresh - 1 - size)) size++;
  return size;
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
  const old = textLines(before);
  const fresh = textLines(after);
  const lines = [...withSign('-', old), ...withSign('+', fresh)];
  return { oldStart: 1, oldLines: old.lines.length, newStart: 1, newLines: fresh.lines.length, lines };
}

interface Lines {
  readonly lines: readonly string[];
  /** Its last line has a newline. */
  readonly closed: boolean;
}

function textLines(text: string): Lines {
  const closed = text === '' || text.endsWith('\n');
  const lines = text.split('\n');
  return { lines: closed ? lines.slice(0, -1) : lines, closed };
}

function withSign(sign: string, { lines, closed }: Lines): string[] {
  const shown = lines.map((line) => sign + line);
  return closed ? shown : [...shown, '\\ No newline at end of file'];
}
