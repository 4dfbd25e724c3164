import { existsSync } from 'node:fs';
import { plainReason } from '../../lib/errors.js';
import { sha256 } from '../../lib/ids.js';
import { eventIn, splitLines } from '../../lib/jsonl.js';
import { readRegularFile } from '../../lib/regular-file.js';
import { batchProblem } from '../spec.js';
import type { JournalLine } from './event.js';

export const NO_PREVIOUS = '0'.repeat(64);

/** Where a journal continues. */
export interface JournalEnd {
  readonly bytes: number;
  readonly seq: number;
  readonly hash: string;
}

export interface Journal {
  readonly lines: readonly JournalLine[];
  /** The last line is incomplete, and not among `lines`. */
  readonly torn: boolean;
  /** The first line that is invalid, or not chained to the one before it. */
  readonly brokenAt: number | undefined;
  /** What is wrong with that line. */
  readonly fault?: string;
  readonly end: JournalEnd;
}

const BROKEN_CHAIN = 'the hash chain is broken: this line or the one before it was changed';

const EMPTY: Journal = {
  lines: [],
  torn: false,
  brokenAt: undefined,
  end: { bytes: 0, seq: 0, hash: NO_PREVIOUS },
};

/** Reads a journal as far as it is valid. An incomplete last line of a killed writer does not count. */
export function readJournal(path: string): Journal {
  if (!existsSync(path)) return EMPTY;
  const lines: JournalLine[] = [];
  let prev = NO_PREVIOUS;
  let size = 0;
  const faultOf = attemptFaults();
  for (const { number, bytes, whole } of splitLines(read(path))) {
    const line = eventIn<JournalLine>(bytes);
    const isNext = line?.prev === prev && line.seq === lines.length;
    // A line without its newline may be whole by chance; what is not flushed has not happened.
    const torn = !whole;
    const end = { bytes: size, seq: lines.length, hash: prev };
    if (torn) return { lines, torn, brokenAt: undefined, end };
    const fault = line && isNext ? faultOf(line) : BROKEN_CHAIN;
    if (!line || fault !== undefined)
      return { lines, torn, brokenAt: number, ...(fault !== undefined && { fault }), end };
    prev = sha256(bytes);
    size += bytes.length + 1;
    lines.push(line);
  }
  return { lines, torn: false, brokenAt: undefined, end: { bytes: size, seq: lines.length, hash: prev } };
}

/** Reads a journal that must be exactly what its writers wrote. */
export function readSoundJournal(path: string): Journal {
  const journal = readJournal(path);
  if (journal.brokenAt !== undefined)
    throw batchProblem(
      `${path}:${journal.brokenAt}:1: the journal was changed: ${journal.fault}`,
      'Use another folder with --out, or restore the journal.',
    );
  return journal;
}

/** Says what is wrong with an event: an attempt's number belongs to one key and its folder. */
function attemptFaults(): (line: JournalLine) => string | undefined {
  const keys = new Map<string, string>();
  return (line) => {
    if (line.type !== 'task_start') return undefined;
    const name = `${line.attempt} ${line.id}`;
    const known = keys.get(name) ?? line.key;
    keys.set(name, known);
    return known === line.key
      ? undefined
      : `attempt ${line.attempt} of ${line.id} was started before, under another key`;
  };
}

function read(path: string): Buffer {
  try {
    return readRegularFile(path).bytes;
  } catch (error) {
    throw batchProblem(`the journal ${path} cannot be read: ${plainReason(error)}`);
  }
}
