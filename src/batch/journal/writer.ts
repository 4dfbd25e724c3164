import { closeSync, fdatasyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { sha256 } from '../../lib/ids.js';
import { toJsonLine } from '../../lib/jsonl.js';
import type { Lease } from '../../lib/lease.js';
import { JOURNAL_VERSION, type BatchEvent, type JournalLine } from './event.js';
import type { JournalEnd } from './reader.js';

/** Appends events to a journal, each chained to the one before it, and flushed when `append` returns. */
export class JournalWriter {
  readonly #file: number;
  readonly #batchId: string;
  readonly #lease: Pick<Lease, 'check'>;
  #seq: number;
  #prev: string;

  /** What was left half-written is cut off. */
  constructor(path: string, batchId: string, end: JournalEnd, lease: Pick<Lease, 'check'>) {
    this.#batchId = batchId;
    this.#lease = lease;
    this.#file = openSync(path, 'a', 0o600);
    ftruncateSync(this.#file, end.bytes);
    this.#seq = end.seq;
    this.#prev = end.hash;
  }

  /** Throws if it cannot be written, or another process writes the journal by now. */
  append(event: BatchEvent): JournalLine {
    const line: JournalLine = {
      v: JOURNAL_VERSION,
      seq: this.#seq,
      timestamp: new Date().toISOString(),
      batch_id: this.#batchId,
      ...event,
      prev: this.#prev,
    };
    const text = toJsonLine(line);
    const bytes = Buffer.from(`${text}\n`);
    this.#lease.check();
    for (let done = 0; done < bytes.length;) done += writeSync(this.#file, bytes, done);
    fdatasyncSync(this.#file);
    this.#seq++;
    this.#prev = sha256(text);
    return line;
  }

  close(): void {
    closeSync(this.#file);
  }
}
