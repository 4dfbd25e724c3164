import { withTimeLimit } from '../../lib/time-limit.js';
import type { SearchPattern } from './pattern.js';

export interface FoundLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** Where the match begins; undefined for a line that is there for its context. */
  readonly at: number | undefined;
}

export interface Scan {
  readonly matches: number;
  /** Matching lines with those around them, in order; only as many matches as were asked for. */
  readonly lines: readonly FoundLine[];
}

/** Some lines of a file. */
export interface Piece {
  readonly path: string;
  readonly text: string;
  /** The number of its first line, from 1. */
  readonly firstLine: number;
}

/** An expression that takes longer than this over a batch of files runs away. */
const BATCH_MS = 3000;

/** Scans several pieces under one time limit. Of all their matches the first `keep` are kept. */
export function scanAll(
  pieces: readonly Piece[],
  pattern: SearchPattern,
  context: number,
  keep: number,
): Scan[] {
  let left = keep;
  return withTimeLimit(BATCH_MS, () =>
    pieces.map((piece) => {
      const found = scan(piece, pattern, context, left);
      left = Math.max(0, left - found.matches);
      return found;
    }),
  );
}

/** Finds the lines that match, each on its own and without its ending. */
function scan({ text, firstLine }: Piece, pattern: SearchPattern, context: number, keep: number): Scan {
  const { expression } = pattern;
  const lines = new Map<number, FoundLine>();
  let matches = 0;
  for (const { start, end, number } of candidateLines(text, pattern)) {
    const line = lineAt(text, start, end);
    const match = expression.exec(line);
    if (!match) continue;
    matches++;
    if (matches > keep) continue;
    for (const near of around(text, start, number, context))
      if (!lines.has(near.number)) lines.set(near.number, near);
    lines.set(number, { number, text: line, at: match.index });
  }
  const found = [...lines.values()].sort((a, b) => a.number - b.number);
  const shift = firstLine - 1;
  return {
    matches,
    lines: shift === 0 ? found : found.map((line) => ({ ...line, number: line.number + shift })),
  };
}

interface LineSpan {
  readonly start: number;
  readonly end: number;
  readonly number: number;
}

/** The lines that can match: those with one of the texts that every match has, if there are such texts. */
function* candidateLines(text: string, { literals, ignoreCase }: SearchPattern): Generator<LineSpan> {
  const hint = literals && hintOf(literals, ignoreCase);
  let number = 1;
  let counted = 0;
  for (let start = 0; start < text.length;) {
    if (hint) {
      hint.lastIndex = start;
      const hit = hint.exec(text);
      if (!hit) return;
      start = text.lastIndexOf('\n', hit.index) + 1;
      for (let at = text.indexOf('\n', counted); at >= 0 && at < start; at = text.indexOf('\n', at + 1)) {
        number++;
        counted = at + 1;
      }
    }
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    yield { start, end, number };
    if (!hint) number++;
    start = end + 1;
  }
}

function hintOf(literals: readonly string[], ignoreCase: boolean): RegExp {
  const escaped = literals.map((literal) => literal.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`));
  return new RegExp(escaped.join('|'), ignoreCase ? 'gi' : 'g');
}

function lineAt(text: string, start: number, end: number): string {
  return text.slice(start, end > start && text[end - 1] === '\r' ? end - 1 : end);
}

/** Lines before and after one. */
function around(text: string, start: number, number: number, context: number): FoundLine[] {
  const lines: FoundLine[] = [];
  let end = start - 1;
  for (let i = 1; i <= context && end >= 0; i++) {
    const from = end === 0 ? 0 : text.lastIndexOf('\n', end - 1) + 1;
    lines.push({ number: number - i, text: lineAt(text, from, end), at: undefined });
    end = from - 1;
  }
  let at = text.indexOf('\n', start);
  for (let i = 1; i <= context && at >= 0 && at + 1 < text.length; i++) {
    const newline = text.indexOf('\n', at + 1);
    const to = newline < 0 ? text.length : newline;
    lines.push({ number: number + i, text: lineAt(text, at + 1, to), at: undefined });
    at = newline;
  }
  return lines;
}
