import { PATTERN_MS, withTimeLimit } from '../../lib/time-limit.js';
import { excerpt } from './excerpt.js';
import type { SearchPattern } from './pattern.js';

export interface FoundLine {
  /** From 1. */
  readonly number: number;
  /** As it is shown. */
  readonly text: string;
  /** False for a line of context. */
  readonly isMatch: boolean;
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

/** How many matches are counted if fewer are shown: enough to see that the pattern is too broad. */
export const MAX_COUNTED = 10_000;

/** How much more may be kept; the rest is only counted. */
export interface Room {
  matches: number;
  characters: number;
}

/** Scans several pieces under one time limit. */
export function scanAll(
  pieces: readonly Piece[],
  pattern: SearchPattern,
  context: number,
  room: Room,
): Scan[] {
  return withTimeLimit(PATTERN_MS, () => pieces.map((piece) => scan(piece, pattern, context, room)));
}

/** Finds the lines that match, each on its own and without its ending. */
function scan({ text, firstLine }: Piece, pattern: SearchPattern, context: number, room: Room): Scan {
  const { expression } = pattern;
  const lines = new Map<number, FoundLine>();
  let matches = 0;

  function keep({ number, line }: NumberedLine, at?: number): void {
    const shown = excerpt(line, at ?? 0);
    lines.set(number, { number, text: shown, isMatch: at !== undefined });
    room.characters -= shown.length + 1;
  }

  for (const { start, end, number } of candidateLines(text, pattern)) {
    const line = lineAt(text, start, end);
    const match = expression.exec(line);
    if (!match) continue;
    if (++matches > MAX_COUNTED) break;
    if (room.matches <= 0 || room.characters <= 0) continue;
    room.matches--;
    for (const near of around(text, start, number, context)) if (!lines.has(near.number)) keep(near);
    keep({ number, line }, match.index);
  }
  const found = [...lines.values()].sort((a, b) => a.number - b.number);
  const shift = firstLine - 1;
  return {
    matches,
    lines: shift === 0 ? found : found.map((line) => ({ ...line, number: line.number + shift })),
  };
}

interface NumberedLine {
  readonly number: number;
  readonly line: string;
}

interface LineSpan {
  readonly start: number;
  readonly end: number;
  readonly number: number;
}

/** The lines that can match: those with one of the texts that every match contains, if there are any. */
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
function around(text: string, start: number, number: number, context: number): NumberedLine[] {
  const lines: NumberedLine[] = [];
  let end = start - 1;
  for (let i = 1; i <= context && end >= 0; i++) {
    const from = end === 0 ? 0 : text.lastIndexOf('\n', end - 1) + 1;
    lines.push({ number: number - i, line: lineAt(text, from, end) });
    end = from - 1;
  }
  let at = text.indexOf('\n', start);
  for (let i = 1; i <= context && at >= 0 && at + 1 < text.length; i++) {
    const newline = text.indexOf('\n', at + 1);
    const to = newline < 0 ? text.length : newline;
    lines.push({ number: number + i, line: lineAt(text, at + 1, to) });
    at = newline;
  }
  return lines;
}
