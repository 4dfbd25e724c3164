import type { ResultEvent, TranscriptLine } from './event.js';

/** Where a transcript goes on: how long it is, and what its last line was. */
export interface TranscriptEnd {
  readonly bytes: number;
  /** False if the last line lacks its newline. */
  readonly whole: boolean;
  readonly seq: number;
  readonly hash: string;
}

export interface Transcript {
  readonly path: string;
  readonly lines: readonly TranscriptLine[];
  /** The last line was not finished, and is not among `lines`. */
  readonly torn: boolean;
  /** The first line whose hash or number does not follow from the one before it. */
  readonly brokenAt: number | undefined;
  /** Where the next line belongs. */
  readonly end: TranscriptEnd;
  /** The last line, if the run came to its end. */
  readonly result: (TranscriptLine & ResultEvent) | undefined;
}

/** The hash of each line of a sound transcript. */
export function hashesOf({ lines, end }: Pick<Transcript, 'lines' | 'end'>): string[] {
  return [...lines.slice(1).map(({ prev }) => prev), end.hash];
}
