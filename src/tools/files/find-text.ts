import { uniformEnding, withEnding } from './line-endings.js';

/** One place where a text was found, and what is to stand there instead. */
export interface Match {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

export interface Search {
  readonly matches: readonly Match[];
  /** How it was found, if not to the letter. */
  readonly tolerance?: 'line endings' | 'white space';
}

/** Finds every place that `wanted` can mean: to the letter, else but for line endings, else but for white space. */
export function findText(text: string, wanted: string, replacement: string): Search {
  const ending = uniformEnding(text);
  const fitted = ending ? withEnding(replacement, ending) : replacement;

  // A bare LF in a file of CRLF would cut an ending in two.
  const cutsEndings = ending === '\r\n' && /(?<!\r)\n/.test(wanted);
  const exact = (cutsEndings ? [] : occurrences(text, wanted)).map((at) => {
    // Where endings are mixed, one that is taken out is taken out whole.
    const cutsOne = text[at] === '\n' && text[at - 1] === '\r' && !fitted.startsWith('\n');
    return { start: cutsOne ? at - 1 : at, end: at + wanted.length, replacement: fitted };
  });
  if (exact.length > 0) return { matches: exact };

  const byEnding = ignoringLineEndings(text, wanted, fitted);
  if (byEnding.length > 0) return { matches: byEnding, tolerance: 'line endings' };

  const byLines = ignoringWhiteSpace(text, wanted, replacement);
  return byLines.length > 0 ? { matches: byLines, tolerance: 'white space' } : { matches: [] };
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

function occurrences(text: string, wanted: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) found.push(at);
  return found;
}

function ignoringLineEndings(text: string, wanted: string, replacement: string): Match[] {
  if (!text.includes('\r\n') && !wanted.includes('\r\n')) return [];
  const lf = withEnding(text, '\n');
  const wantedLf = withEnding(wanted, '\n');
  const carriageReturns = occurrences(text, '\r\n');
  let passed = 0;
  // Maps an index in the LF text to the original; matches come in order, so one walk is enough.
  const original = (index: number) => {
    while (passed < carriageReturns.length && (carriageReturns[passed] as number) < index + passed) passed++;
    return index + passed;
  };
  return occurrences(lf, wantedLf).map((at) => {
    const start = original(at);
    return { start, end: original(at + wantedLf.length), replacement };
  });
}

interface Line {
  readonly start: number;
  readonly text: string;
  /** Just behind the line's text and in front of its ending. */
  readonly end: number;
}

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start <= text.length;) {
    const newline = text.indexOf('\n', start);
    const next = newline < 0 ? text.length + 1 : newline + 1;
    const end = newline > start && text[newline - 1] === '\r' ? newline - 1 : Math.min(next - 1, text.length);
    lines.push({ start, text: text.slice(start, end), end });
    start = next;
  }
  return lines;
}

/** Whole lines that are the same but for indentation and trailing white space. The file's own stays. */
function ignoringWhiteSpace(text: string, wanted: string, replacement: string): Match[] {
  const asked = withEnding(wanted, '\n').split('\n');
  const wantedLines = trimBlankEdges(asked);
  if (wantedLines.length === 0) return [];
  const given = trimEdgesLike(asked, withEnding(replacement, '\n').split('\n'));
  // Lines that were asked for with their ending go with it.
  const whole = given.length === 0 && asked.at(-1)?.trim() === '';
  const keys = wantedLines.map((line) => line.trim());
  const lines = linesOf(text);
  const trimmed = lines.map((line) => line.text.trim());
  const ending = uniformEnding(text) ?? '\n';
  const matches: Match[] = [];
  for (let i = 0; i + keys.length <= lines.length; i++) {
    if (!keys.every((key, k) => trimmed[i + k] === key)) continue;
    const found = lines.slice(i, i + keys.length);
    matches.push({
      start: (found[0] as Line).start,
      end: whole ? (lines[i + keys.length]?.start ?? text.length) : (found.at(-1) as Line).end,
      replacement: reindent(given, wantedLines, found).join(ending),
    });
    i += keys.length - 1;
  }
  return matches;
}

function trimBlankEdges(lines: readonly string[]): string[] {
  const from = lines.findIndex((line) => line.trim() !== '');
  const to = lines.findLastIndex((line) => line.trim() !== '');
  return from < 0 ? [] : lines.slice(from, to + 1);
}

/** Takes as many blank lines off the edges of the new text as the wanted one has there. */
function trimEdgesLike(wanted: readonly string[], fresh: readonly string[]): string[] {
  const isBlank = (line: string | undefined) => line !== undefined && line.trim() === '';
  let [from, to] = [0, fresh.length];
  while (isBlank(wanted[from]) && from < to && isBlank(fresh[from])) from++;
  for (let i = 1; isBlank(wanted.at(-i)) && to > from && isBlank(fresh[to - 1]); i++) to--;
  return fresh.slice(from, to);
}

/** Gives new lines the file's indentation; a line that was there before stays as the file has it. */
function reindent(fresh: readonly string[], wanted: readonly string[], found: readonly Line[]): string[] {
  const shortest = Math.min(fresh.length, wanted.length);
  let head = 0;
  while (head < shortest && fresh[head] === wanted[head]) head++;
  let tail = 0;
  while (tail < shortest - head && fresh.at(-1 - tail) === wanted.at(-1 - tail)) tail++;

  const indents = new Map<string, string>();
  const kept = new Map<string, string>();
  const learn = (line: string, i: number) => {
    const own = (found[i] as Line).text;
    if (line.trim() !== '') indents.set(indentOf(line), indentOf(own));
    kept.set(line, own);
  };
  wanted.forEach(learn);
  // The lines that are replaced know best, the first of them before the others.
  for (let i = wanted.length - tail - 1; i >= head; i--) learn(wanted[i] as string, i);
  const known = [...indents.keys()].sort((a, b) => b.length - a.length);
  return fresh.map((line, i) => {
    if (i < head) return (found[i] as Line).text;
    if (i >= fresh.length - tail) return (found.at(i - fresh.length) as Line).text;
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
