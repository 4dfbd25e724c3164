import { joinedHits, placeholder, type Hit } from './hits.js';
import type { Matcher } from './matcher.js';
import type { GoOn } from './shape.js';

/** Bytes in, bytes out. What `write` holds back comes out later, at the latest with `end`. */
export interface ByteFilter {
  write(chunk: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

/** The most to hold back, even if it may still be the beginning of something. */
const MAX_HELD = 64 * 1024;
const NOTHING = Buffer.alloc(0);

/** Removes secrets from bytes as they come, however they are cut. Holds back only what could be the start of one. */
export class StreamFilter implements ByteFilter {
  readonly #matcher: Matcher;
  /** Bytes not passed on yet. A placeholder has already replaced the first `covered` ones. */
  #held: Buffer = NOTHING;
  #covered = 0;
  /** The name of that placeholder, if nothing followed it. */
  #last: string | undefined;
  #open: readonly { readonly from: number; readonly goOn: GoOn }[] = [];
  #before = -1;

  constructor(matcher: Matcher) {
    this.#matcher = matcher;
  }

  write(chunk: Uint8Array): Uint8Array {
    return chunk.length === 0 ? NOTHING : this.#take(chunk, false);
  }

  end(): Uint8Array {
    return this.#take(NOTHING, true);
  }

  #take(chunk: Uint8Array, final: boolean): Uint8Array {
    const bytes = this.#held.length === 0 ? asBuffer(chunk) : Buffer.concat([this.#held, chunk]);
    const scanned = this.#matcher.scan(bytes, this.#before, final);
    const before = { start: 0, end: this.#covered, name: this.#last ?? '' };
    const still = this.#open.map(({ from, goOn }) => ({ start: -1, ...goOn(bytes, from, final), goOn }));
    for (const { end } of still) before.end = Math.max(before.end, end);
    const open = [...still.filter((one) => one.open), ...scanned.open];
    const undecided = Math.min(scanned.cut, ...open.map(({ end }) => end));
    const cut = bytes.length - undecided > MAX_HELD ? bytes.length : undecided;

    const hits = joinedHits(scanned.hits, this.#last === undefined ? undefined : before);
    const { out, done, last } = this.#replace(bytes, hits, cut);
    // What begins after the cut is found again.
    this.#open = open
      .filter(({ start, end }) => start < cut && end >= cut)
      .map(({ end, goOn }) => ({ from: end - cut, goOn }));
    this.#last = last;
    this.#covered = done - cut;
    if (cut > 0) this.#before = bytes[cut - 1] as number;
    this.#held = cut === bytes.length ? NOTHING : bytes.subarray(cut);
    return out;
  }

  /** Everything up to the cut, with placeholders. `done` is where that ends: a hit may go beyond the cut. */
  #replace(bytes: Uint8Array, hits: readonly Hit[], cut: number) {
    if (hits.length === 0) return { out: bytes.subarray(0, cut), done: cut, last: undefined };
    const pieces: Uint8Array[] = [];
    let done = 0;
    let last: string | undefined;
    for (const [i, { start, end, name }] of hits.entries()) {
      const isOld = i === 0 && this.#last !== undefined;
      if (start >= cut && !isOld) break;
      if (start > done) pieces.push(bytes.subarray(done, start));
      if (!isOld) pieces.push(Buffer.from(placeholder(name)));
      done = end;
      last = name;
    }
    if (done < cut) {
      pieces.push(bytes.subarray(done, cut));
      [done, last] = [cut, undefined];
    }
    return { out: pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces), done, last };
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
