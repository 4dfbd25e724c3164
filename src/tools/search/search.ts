import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SearchPattern } from './pattern.js';
import { filePieces } from './pieces.js';
import { MAX_COUNTED, scanAll, type FoundLine, type Piece } from './scan.js';

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
  /** How many characters of the results are useful. */
  readonly cap: number;
  readonly signal: AbortSignal;
}

/** Characters scanned, and time spent, before other work gets a turn. */
const BATCH_SIZE = 4_000_000;
const TURN_MS = 100;

/** Searches files in order. Only this decides what matches. */
export async function searchFiles(paths: readonly string[], request: SearchRequest): Promise<Found> {
  const { pattern, context, maxMatches, cap, signal } = request;
  const room = { matches: maxMatches, characters: cap };
  const files = new Map<string, FoundLine[]>();
  let matches = 0;
  let batch: Piece[] = [];
  let size = 0;
  let turnEnd = performance.now() + TURN_MS;

  function scanBatch(): void {
    const scans = scanAll(batch, pattern, context, room);
    for (const [i, scan] of scans.entries()) {
      const { path } = batch[i] as Piece;
      matches += scan.matches;
      if (scan.matches > 0) files.set(path, [...(files.get(path) ?? []), ...scan.lines]);
    }
    [batch, size] = [[], 0];
  }

  for (const piece of piecesOfAll(paths)) {
    if (piece) batch.push(piece);
    size += piece?.text.length ?? 0;
    if (size < BATCH_SIZE && performance.now() < turnEnd) continue;
    scanBatch();
    await nextTurn();
    if (signal.aborted || matches > MAX_COUNTED) break;
    turnEnd = performance.now() + TURN_MS;
  }
  scanBatch();
  const shown = [...files].map(([path, lines]) => ({ path, lines })).filter(({ lines }) => lines.length > 0);
  return { files: shown, matches, matchingFiles: files.size };
}

/** The pieces of all files; undefined after each file, since some have none. */
function* piecesOfAll(paths: readonly string[]): Generator<Piece | undefined> {
  for (const path of paths) {
    yield* filePieces(path);
    yield undefined;
  }
}
