import { occurrencesOf } from '../../lib/occurrences.js';
import { uniformEnding, withEnding } from './line-endings.js';
import { MAX_FILE_BYTES } from './read-bytes.js';
import { unescapings } from './unescape.js';

/** A place where a text was found, and its replacement. */
export interface Match {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

export interface Search {
  readonly matches: readonly Match[];
  /** How it was found, if not exactly. */
  readonly tolerance?: 'line endings' | 'white space' | 'escaping';
}

/** More places than this are not counted, and never changed. */
export const MAX_PLACES = 100_000;

/**
 * Finds every place that `wanted` can mean: exactly, else ignoring line endings, else ignoring white space; else the
 * only place that it can mean without its escapes.
 */
export function findText(text: string, wanted: string, replacement: string): Search {
  const search = findAsWritten(text, wanted, replacement);
  if (search.matches.length > 0) return search;
  const found = unescapings(wanted, replacement)
    .map((meant) => findAsWritten(text, meant.wanted, meant.replacement).matches)
    .filter((matches) => matches.length > 0);
  const [matches = []] = found;
  return found.length === 1 && matches.length === 1 ? { matches, tolerance: 'escaping' } : search;
}

function findAsWritten(text: string, wanted: string, replacement: string): Search {
  const ending = uniformEnding(text);
  const fitted = ending ? withEnding(replacement, ending) : replacement;

  // A single LF in a CRLF file would split an ending.
  const cutsEndings = ending === '\r\n' && /(?<!\r)\n/.test(wanted);
  const exact = (cutsEndings ? [] : occurrences(text, wanted)).map((at) => {
    // With mixed endings, an ending is removed whole.
    const cutsOne = text[at] === '\n' && text[at - 1] === '\r' && !fitted.startsWith('\n');
    return { start: cutsOne ? at - 1 : at, end: at + wanted.length, replacement: fitted };
  });
  if (exact.length > 0) return { matches: exact };

  const byEnding = ignoringLineEndings(text, wanted, fitted);
  if (byEnding.length > 0) return { matches: byEnding, tolerance: 'line endings' };

  const byLines = ignoringWhiteSpace(text, wanted, replacement);
  return byLines.length > 0 ? { matches: byLines, tolerance: 'white space' } : { matches: [] };
}

/** The length of a text with every match replaced. */
export function lengthAfter(text: string, matches: readonly Match[]): number {
  return matches.reduce(
    (sum, { start, end, replacement }) => sum + replacement.length - (end - start),
    text.length,
  );
}

export function applyMatches(text: string, matches: readonly Match[]): string {
  let result = '';
  let done = 0;
  for (const { start, end, replacement } of matches) {
    result += text.slice(done, start) + replacement;
    done = end;
  }
  return result + text.slice(done);
}

/** The engine's own search is faster, but takes for ever on some long texts. */
const LONG = 4000;

function occurrences(text: string, wanted: string, most = MAX_PLACES): number[] {
  if (wanted.length > LONG) return occurrencesOf(text, wanted);
  const found: number[] = [];
  let at = text.indexOf(wanted);
  for (; at >= 0 && found.length <= most; at = text.indexOf(wanted, at + wanted.length)) found.push(at);
  return found;
}

function ignoringLineEndings(text: string, wanted: string, replacement: string): Match[] {
  if (!text.includes('\r\n') && !wanted.includes('\r\n')) return [];
  const lf = withEnding(text, '\n');
  const wantedLf = withEnding(wanted, '\n');
  const carriageReturns = occurrences(text, '\r\n', Infinity);
  let passed = 0;
  // Maps an index in the LF text to the original; matches come in order, so one pass is enough.
  const original = (index: number) => {
    while (passed < carriageReturns.length && (carriageReturns[passed] as number) < index + passed) passed++;
    return index + passed;
  };
  return occurrences(lf, wantedLf).map((at) => {
    const start = original(at);
    return { start, end: original(at + wantedLf.length), replacement };
  });
}

/** Whole lines that differ only in indentation and trailing white space. The file's own stays. */
function ignoringWhiteSpace(text: string, wanted: string, replacement: string): Match[] {
  const asked = withEnding(wanted, '\n').split('\n');
  const wantedLines = trimBlankEdges(asked);
  if (wantedLines.length === 0) return [];
  const lines = text.split('\n');
  const places = occurrencesOf(lines.map(trim), wantedLines.map(trim)).slice(0, MAX_PLACES + 1);
  if (places.length === 0) return [];
  const given = trimEdgesLike(asked, withEnding(replacement, '\n').split('\n'));
  // Lines that were given with their ending are replaced with it.
  const whole = given.length === 0 && asked.at(-1)?.trim() === '';
  const ending = uniformEnding(text) ?? '\n';
  const starts = startsOf(lines);
  // This many would be rejected for their size anyway.
  const tooMany = places.length * replacement.length > MAX_FILE_BYTES;
  return places.map((first) => {
    const next = first + wantedLines.length;
    const found = lines
      .slice(first, next)
      .map((line, i) => withoutReturn(line, first + i < lines.length - 1));
    const end = (starts[next - 1] as number) + (found.at(-1) as string).length;
    return {
      start: starts[first] as number,
      end: whole ? (starts[next] ?? text.length) : end,
      replacement: tooMany ? replacement : reindent(given, wantedLines, found).join(ending),
    };
  });
}

const trim = (line: string) => line.trim();

function startsOf(lines: readonly string[]): number[] {
  let next = 0;
  return lines.map((line) => {
    const start = next;
    next += line.length + 1;
    return start;
  });
}

/** A line without the CR of its ending, if any. */
function withoutReturn(line: string, isEnded: boolean): string {
  return isEnded && line.endsWith('\r') ? line.slice(0, -1) : line;
}

function trimBlankEdges(lines: readonly string[]): string[] {
  const from = lines.findIndex((line) => line.trim() !== '');
  const to = lines.findLastIndex((line) => line.trim() !== '');
  return from < 0 ? [] : lines.slice(from, to + 1);
}

/** Removes as many blank lines from the edges of the new text as the wanted one has there. */
function trimEdgesLike(wanted: readonly string[], fresh: readonly string[]): string[] {
  const isBlank = (line: string | undefined) => line !== undefined && line.trim() === '';
  let [from, to] = [0, fresh.length];
  while (isBlank(wanted[from]) && from < to && isBlank(fresh[from])) from++;
  for (let i = 1; isBlank(wanted.at(-i)) && to > from && isBlank(fresh[to - 1]); i++) to--;
  return fresh.slice(from, to);
}

/** Gives new lines the file's indentation; lines that were there before stay as in the file. */
function reindent(fresh: readonly string[], wanted: readonly string[], found: readonly string[]): string[] {
  const shortest = Math.min(fresh.length, wanted.length);
  let head = 0;
  while (head < shortest && fresh[head] === wanted[head]) head++;
  let tail = 0;
  while (tail < shortest - head && fresh.at(-1 - tail) === wanted.at(-1 - tail)) tail++;

  const indents = new Map<string, string>();
  const kept = new Map<string, string>();
  const learn = (line: string, i: number) => {
    const own = found[i] as string;
    if (line.trim() !== '') indents.set(indentOf(line), indentOf(own));
    kept.set(line, own);
  };
  wanted.forEach(learn);
  // The replaced lines are the best guide, the first ones before the others.
  for (let i = wanted.length - tail - 1; i >= head; i--) learn(wanted[i] as string, i);
  const known = [...indents.keys()].sort((a, b) => b.length - a.length);
  return fresh.map((line, i) => {
    if (i < head) return found[i] as string;
    if (i >= fresh.length - tail) return found.at(i - fresh.length) as string;
    const same = kept.get(line);
    if (same !== undefined || line.trim() === '') return same ?? line;
    const indent = indentOf(line);
    const prefix = known.find((candidate) => indent.startsWith(candidate));
    if (prefix === undefined) return line;
    return (indents.get(prefix) ?? '') + line.slice(prefix.length);
  });
}

function indentOf(line: string): string {
  return /^\s*/.exec(line)?.[0] ?? '';
}
