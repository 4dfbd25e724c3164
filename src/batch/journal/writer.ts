import { closeSync, fdatasync, fdatasyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { attempt } from '../../lib/attempt.js';
import { errorMessage } from '../../lib/errors.js';
import { sha256 } from '../../lib/ids.js';
import { toJsonLine } from '../../lib/jsonl.js';
import type { Lease } from '../../lib/lease.js';
import { Problem } from '../../protocol/problem.js';
import { JOURNAL_VERSION, type BatchEvent, type JournalLine } from './event.js';
import type { JournalEnd } from './reader.js';

const flushFile = promisify(fdatasync);

/** Appends events to a journal, each chained to the one before it. */
export class JournalWriter {
  readonly #path: string;
  readonly #file: number;
  readonly #batchId: string;
  readonly #lease: Pick<Lease, 'check'>;
  #seq: number;
  #prev: string;
  #bytes: number;
  /** The flush in progress, and the one that waits for it. */
  #flushing: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  /** Removes an incomplete last line. */
  constructor(path: string, batchId: string, end: JournalEnd, lease: Pick<Lease, 'check'>) {
    this.#path = path;
    this.#batchId = batchId;
    this.#lease = lease;
    this.#file = openSync(path, 'a', 0o600);
    ftruncateSync(this.#file, end.bytes);
    this.#bytes = end.bytes;
    this.#seq = end.seq;
    this.#prev = end.hash;
  }

  /** Writes an event and flushes it. Throws if that fails, or another process has taken over the journal. */
  append(event: BatchEvent): JournalLine {
    const line = this.write(event);
    this.#orProblem(() => fdatasyncSync(this.#file));
    return line;
  }

  /** Writes an event without a flush: a crash of the machine may lose it. */
  write(event: BatchEvent): JournalLine {
    const line: JournalLine = {
      v: JOURNAL_VERSION,
      seq: this.#seq,
      timestamp: new Date().toISOString(),
      batch_id: this.#batchId,
      ...event,
      prev: this.#prev,
    };
    const text = toJsonLine(line);
    this.#orProblem(() => {
      this.#lease.check();
      this.#put(Buffer.from(`${text}\n`));
    });
    this.#seq++;
    this.#prev = sha256(text);
    return line;
  }

  /** Resolves when everything written is flushed. Callers during a flush share the next one. */
  flush(): Promise<void> {
    this.#next ??= this.#flushing.then(() => {
      this.#next = undefined;
      const flushed = flushFile(this.#file).catch((error: unknown) => {
        throw this.#problem(error);
      });
      this.#flushing = flushed.catch(() => {});
      return flushed;
    });
    return this.#next;
  }

  close(): void {
    closeSync(this.#file);
  }

  /** Whole or not at all: after half a line (on a full disk, say), every later one would break the chain. */
  #put(bytes: Buffer): void {
    try {
      for (let done = 0; done < bytes.length;) done += writeSync(this.#file, bytes, done);
      this.#bytes += bytes.length;
    } catch (error) {
      attempt(() => ftruncateSync(this.#file, this.#bytes));
      throw error;
    }
  }

  #orProblem(work: () => void): void {
    try {
      work();
    } catch (error) {
      throw this.#problem(error);
    }
  }

  /** No batch continues without its journal; what is in it is safe. */
  #problem(error: unknown): Problem {
    const message = `the journal ${this.#path} can no longer be written: ${errorMessage(error)}`;
    const hint = 'Fix that, then run the same command to continue.';
    return new Problem('tool_infra_error', 'journal', message, { hint, cause: error });
  }
}
