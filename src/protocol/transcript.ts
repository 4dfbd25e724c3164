import { SCHEMA_VERSION, type ResultEvent, type TranscriptLine } from './event.js';

/** Where a transcript continues: its length and its last line. */
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
  /** The last line was incomplete, and is not among `lines`. */
  readonly torn: boolean;
  /** The first line whose hash or number does not follow from the one before it. */
  readonly brokenAt: number | undefined;
  /** Where the next line belongs. */
  readonly end: TranscriptEnd;
  /** The last line, if the run ended. */
  readonly result: (TranscriptLine & ResultEvent) | undefined;
}

/** The hash of each line of an intact transcript. */
export function hashesOf({ lines, end }: Pick<Transcript, 'lines' | 'end'>): string[] {
  return [...lines.slice(1).map(({ prev }) => prev), end.hash];
}

/** How a transcript differs from what its writer wrote, and what to do about that. */
export interface TranscriptFault {
  readonly why: string;
  readonly hint?: string;
}

/** Looks for what its writer did not write, line by line. `faultsOf` checks a line against the schema. */
export function transcriptFault(
  { lines, brokenAt }: Transcript,
  faultsOf: (line: unknown) => readonly unknown[],
): TranscriptFault | undefined {
  const newer = lines.find(({ v }) => v > SCHEMA_VERSION);
  if (newer)
    return {
      why: `it has version ${newer.v}, but this Bosun only knows version ${SCHEMA_VERSION}`,
      hint: 'Update Bosun.',
    };
  if (brokenAt !== undefined) return { why: `it was changed: its hash chain breaks at line ${brokenAt}` };
  if (lines.some(({ session_id }) => session_id !== lines[0]?.session_id))
    return { why: 'it holds lines of different runs' };
  for (const [i, line] of lines.entries()) {
    const [fault] = faultsOf(line);
    if (fault !== undefined) return { why: `line ${i + 1} is not valid: ${String(fault)}` };
  }
  return undefined;
}

/** How much of an intact transcript may be trusted: all of it, unless a check says otherwise. */
export type Vouched = (transcript: Transcript) => Transcript | { readonly why: string };
