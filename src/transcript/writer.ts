import {
  closeSync,
  existsSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { plainReason } from '../lib/errors.js';
import { sha256 } from '../lib/ids.js';
import { toJsonLine } from '../lib/jsonl.js';
import { SCHEMA_VERSION, type RunEvent, type TranscriptLine } from '../protocol/event.js';
import { configProblem } from '../protocol/problem.js';
import type { TranscriptEnd } from '../protocol/transcript.js';

const flushFile = promisify(fdatasync);

export const NO_PREVIOUS = '0'.repeat(64);

/** Where to write the full outputs of calls: next to the transcript. */
export function outputFolder(transcript: string): string {
  return `${transcript}.d`;
}

/** Appends events to a transcript, each chained to the one before it. A line is in the file when `append` returns. */
export class TranscriptWriter {
  readonly #sessionId: string;
  readonly #file: number;
  /** Only a file can be flushed. */
  readonly #isFile: boolean;
  readonly #mayWrite: () => void;
  /** Stamped lines that are not written yet: a line that others follow was serialized for its hash. */
  readonly #spelled = new Map<TranscriptLine, string>();
  #seq = 0;
  #prev = NO_PREVIOUS;

  /**
   * Continues a transcript if its end is given; otherwise an earlier file of that name is set aside. `mayWrite`
   * throws if another process has taken it over, and is called before every write.
   */
  constructor(path: string, sessionId: string, end?: TranscriptEnd, mayWrite: () => void = () => {}) {
    this.#sessionId = sessionId;
    this.#mayWrite = mayWrite;
    try {
      mayWrite();
      if (!end) setAside(path);
      this.#file = openSync(path, 'a', 0o600);
      this.#isFile = fstatSync(this.#file).isFile();
      if (end) this.#goOn(end);
    } catch (error) {
      throw configProblem('transcript', `the transcript ${path} cannot be written: ${plainReason(error)}`, {
        hint: 'Choose another place with --transcript.',
        cause: error,
      });
    }
  }

  /** Removes the incomplete line of a killed writer. */
  #goOn({ bytes, whole, seq, hash }: TranscriptEnd): void {
    ftruncateSync(this.#file, bytes);
    if (!whole) writeSync(this.#file, '\n');
    this.#seq = seq;
    this.#prev = hash;
  }

  /** Writes stamped events, all at once, and flushes if they must last. Throws if they cannot be written. */
  append(...lines: readonly TranscriptLine[]): void {
    this.write(...lines);
    if (lines.some(mustLast) && this.#isFile) fdatasyncSync(this.#file);
  }

  /** Like `append`, without a flush. */
  write(...lines: readonly TranscriptLine[]): void {
    const texts = lines.map((line) => this.#spelled.get(line) ?? toJsonLine(line));
    this.#spelled.clear();
    const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
    this.#mayWrite();
    for (let done = 0; done < bytes.length;) done += writeSync(this.#file, bytes, done);
    this.#seq += lines.length;
    this.#prev = sha256(texts.at(-1) ?? '');
  }

  /** Flushes what was written, and lets other runs go on meanwhile. */
  async flush(): Promise<void> {
    if (this.#isFile) await flushFile(this.#file);
  }

  /** Adds an event to the chain: after `last`, if that is not written yet. */
  stamp(event: RunEvent, last?: TranscriptLine): TranscriptLine {
    return {
      v: SCHEMA_VERSION,
      seq: last ? last.seq + 1 : this.#seq,
      timestamp: new Date().toISOString(),
      session_id: this.#sessionId,
      ...event,
      prev: last ? sha256(this.#spell(last)) : this.#prev,
    };
  }

  #spell(line: TranscriptLine): string {
    const text = toJsonLine(line);
    this.#spelled.set(line, text);
    return text;
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** The end of a run; and the start of a call that changes something, before it does. */
function mustLast(line: TranscriptLine): boolean {
  return line.type === 'result' || line.type === 'tool_start';
}

/** Keeps what an earlier run wrote under the same name: `t.jsonl` becomes `t.jsonl.1`. */
function setAside(path: string): void {
  const existing = statSync(path, { throwIfNoEntry: false });
  // A pipe could make us wait for its reader for ever.
  if (existing && !existing.isFile() && !existing.isCharacterDevice()) throw new Error('it is not a file');
  if (!existing?.isFile() || existing.size === 0) return;
  let n = 1;
  while (existsSync(`${path}.${n}`)) n++;
  const folder = outputFolder(path);
  if (existsSync(folder)) renameSync(folder, `${folder}.${n}`);
  renameSync(path, `${path}.${n}`);
}
