import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SearchPattern } from './pattern.js';
import { piecesOf } from './pieces.js';
import { scanAll, type FoundLine, type Piece } from './scan.js';

export interface FileMatches {
  readonly path: string;
  readonly lines: readonly FoundLine[];
}

export interface Found {
  readonly files: readonly FileMatches[];
  readonly matches: number;
  readonly matchingFiles: number;
}

export interface SearchRequest {
  readonly pattern: SearchPattern;
  readonly context: number;
  readonly maxMatches: number;
  readonly signal: AbortSignal;
}

/** How many matches are counted when fewer are shown: enough to see that the pattern is too broad. */
export const MAX_COUNTED = 10_000;
/** Characters that are scanned before others get a turn. */
const BATCH_SIZE = 4_000_000;

/** Searches files in their order. This, and nothing else, decides what matches. */
export async function searchFiles(paths: readonly string[], request: SearchRequest): Promise<Found> {
  const { pattern, context, maxMatches, signal } = request;
  const files = new Map<string, FoundLine[]>();
  let matches = 0;
  let batch: Piece[] = [];
  let size = 0;

  function scanBatch(): void {
    const scans = scanAll(batch, pattern, context, Math.max(0, maxMatches - matches));
    for (const [i, scan] of scans.entries()) {
      const { path } = batch[i] as Piece;
      matches += scan.matches;
      if (scan.matches > 0) files.set(path, [...(files.get(path) ?? []), ...scan.lines]);
    }
    [batch, size] = [[], 0];
  }

  for (const path of paths) {
    if (signal.aborted || matches > MAX_COUNTED) break;
    for (const piece of piecesOf(path)) {
      batch.push(piece);
      size += piece.text.length;
      if (size < BATCH_SIZE) continue;
      scanBatch();
      await nextTurn();
    }
  }
  scanBatch();
  const shown = [...files].map(([path, lines]) => ({ path, lines })).filter(({ lines }) => lines.length > 0);
  return { files: shown, matches, matchingFiles: files.size };
}
