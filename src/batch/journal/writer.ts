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
  /** The flush that is under way, and the one that waits for its end. */
  #flushing: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  /** What was left half-written is cut off. */
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

  /** Writes an event and flushes it. Throws if that fails, or another process writes the journal by now. */
  append(event: BatchEvent): JournalLine {
    const line = this.write(event);
    this.#orProblem(() => fdatasyncSync(this.#file));
    return line;
  }

  /** The same, but the event may be lost with the machine until it is flushed. */
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

  /** Resolves when all that was written is flushed. Who comes while a flush is under way shares the one after it. */
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

  /** Whole or not at all: behind half a line, of a full disk say, every later one would be a break in the chain. */
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

  /** No batch goes on without its journal; what is in it is safe. */
  #problem(error: unknown): Problem {
    const message = `the journal ${this.#path} can no longer be written: ${errorMessage(error)}`;
    const hint = 'Fix that, then run the same command to continue.';
    return new Problem('tool_infra_error', 'journal', message, { hint, cause: error });
  }
}
