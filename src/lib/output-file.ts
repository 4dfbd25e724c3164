import { decodeText } from './encoding.js';
import { UNBOUNDED, type OutputRoom } from './output-room.js';
import type { ByteFilter } from './redact/stream.js';
import { StoredOutput } from './stored-output.js';
import { cleanText } from './text.js';
import { cutNotice, headOf, sharesOf, tailOf } from './truncate.js';

/** UTF-8 needs at most this many bytes for one UTF-16 unit that we count as a character. */
const BYTES_PER_CHARACTER = 3;
/** How much of the beginning is checked for binary data. */
const SNIFF_BYTES = 64 * 1024;

const AS_IT_IS: ByteFilter = { write: (chunk) => chunk, end: () => new Uint8Array() };

export interface OutputFileOptions {
  /** All output passes it first. */
  readonly filter?: ByteFilter;
  /** The room that the file shares with others. */
  readonly room?: OutputRoom;
}

interface Finished {
  readonly text: string;
  readonly bytes: number;
  readonly binary: boolean;
  readonly path: string | undefined;
  /** Where it is, and whether it is complete. */
  readonly note?: string;
  /** The part that was not shown yet. */
  readonly rest?: Uint8Array;
}

/**
 * Takes output of any size. Short output stays in memory; long output goes to `path` as it comes, and only its
 * head and tail stay in memory.
 */
export class OutputFile {
  readonly #path: string;
  readonly #shown: string;
  readonly #cap: number;
  readonly #memoryLimit: number;
  readonly #tailBytes: number;
  readonly #headBytes: number;
  readonly #filter: ByteFilter;
  readonly #room: OutputRoom;
  #chunks: Uint8Array[] = [];
  #held = 0;
  #bytes = 0;
  #binary = false;
  #stored: StoredOutput | undefined;
  #spilled = false;
  #head: Uint8Array = new Uint8Array();

  /** `shown` is the name of the file in the text. */
  constructor(path: string, shown: string, cap: number, options: OutputFileOptions = {}) {
    const { head, tail } = sharesOf(cap);
    this.#path = path;
    this.#shown = shown;
    this.#cap = cap;
    this.#filter = options.filter ?? AS_IT_IS;
    this.#room = options.room ?? UNBOUNDED;
    this.#headBytes = head * BYTES_PER_CHARACTER;
    this.#tailBytes = tail * BYTES_PER_CHARACTER;
    this.#memoryLimit = cap * BYTES_PER_CHARACTER;
  }

  /** Returns what may be shown now. */
  write(chunk: Uint8Array): Uint8Array {
    const filtered = this.#filter.write(chunk);
    if (filtered.length > 0) this.#take(filtered);
    return filtered;
  }

  #take(chunk: Uint8Array): void {
    if (this.#bytes < SNIFF_BYTES && chunk.includes(0)) this.#binary = true;
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    if (this.#spilled) {
      this.#stored?.write(chunk);
      this.#forgetMiddle();
    } else if (this.#bytes > this.#memoryLimit) {
      this.#spill();
      this.#forgetMiddle();
    }
  }

  finish(): Finished {
    const rest = this.#filter.end();
    if (rest.length > 0) this.#take(rest);
    return { ...this.#finish(), ...(rest.length > 0 && { rest }) };
  }

  #finish(): Omit<Finished, 'rest'> {
    const held = Buffer.concat(this.#chunks);
    const forgotten = this.#bytes - held.length;
    this.#binary ||= isBinary(forgotten === 0 ? held : Buffer.from(this.#head));
    if (this.#binary)
      return this.#finished(
        `[binary output, ${this.#bytes} bytes${this.#stored?.isWhole === false ? this.#where() : ''}]`,
      );
    if (forgotten === 0) {
      const text = cleanText(held.toString('utf8'));
      if (text.length <= this.#cap) return this.#finished(text);
      if (!this.#spilled) this.#spill();
      return this.#finished(this.#cut(text, text));
    }
    const head = cleanText(withoutBrokenEdge(Buffer.from(this.#head).toString('utf8'), 'end'));
    // What the head contains is not shown again.
    const tail = held.subarray(Math.max(0, this.#headBytes - forgotten));
    return this.#finished(this.#cut(head, cleanText(withoutBrokenEdge(tail.toString('utf8'), 'start'))));
  }

  #finished(text: string): Omit<Finished, 'rest'> {
    this.#stored?.close();
    this.#chunks = [];
    const common = { text, bytes: this.#bytes, binary: this.#binary };
    if (!this.#stored) return { ...common, path: undefined };
    return { ...common, path: this.#shown, note: this.#stored.describe(this.#shown) };
  }

  #cut(from: string, to: string): string {
    const shares = sharesOf(this.#cap);
    const head = headOf(from, shares.head);
    const tail = tailOf(to, shares.tail);
    const cut = this.#bytes - Buffer.byteLength(head) - Buffer.byteLength(tail);
    return head + cutNotice(`about ${Math.max(1, cut)} bytes`, this.#where()) + tail;
  }

  #where(): string {
    return this.#stored ? `; ${this.#stored.describe(this.#shown)}` : '';
  }

  /** From now on everything goes to the file. Without one the middle is lost, which the note says. */
  #spill(): void {
    this.#spilled = true;
    this.#head = Buffer.concat(this.#chunks).subarray(0, this.#headBytes);
    this.#stored = StoredOutput.open(this.#path, this.#room);
    for (const chunk of this.#chunks) this.#stored?.write(chunk);
  }

  #forgetMiddle(): void {
    let first = this.#chunks[0];
    while (first && this.#held - first.length >= this.#tailBytes) {
      this.#chunks.shift();
      this.#held -= first.length;
      first = this.#chunks[0];
    }
  }
}

function isBinary(bytes: Buffer): boolean {
  // The last character may be cut.
  return [0, 1, 2, 3].every(
    (cut) => decodeText(bytes.subarray(0, Math.max(0, bytes.length - cut))) === undefined,
  );
}

/** A cut in the middle of a character decodes to replacement characters that the output never had. */
function withoutBrokenEdge(text: string, edge: 'start' | 'end'): string {
  return edge === 'start' ? text.replace(/^\ufffd{1,3}/, '') : text.replace(/\ufffd{1,3}$/, '');
}
