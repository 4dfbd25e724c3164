import { mayEndBreak, type Step } from './breaks.js';

/** Finds how much of the end of a text could be the beginning of something we search for. */
export class Beginnings {
  /** By their first byte. */
  readonly #known: (Uint8Array[] | undefined)[] = Array.from({ length: 256 });
  #longest = 0;

  constructor(all: readonly Uint8Array[]) {
    for (const bytes of all) {
      (this.#known[bytes[0] as number] ??= []).push(bytes);
      this.#longest = Math.max(this.#longest, bytes.length);
    }
  }

  /** Where the longest end of the first `size` bytes starts with which something longer begins; `size` if none does. */
  startAtEnd(text: Uint8Array, size: number, step: Step): number {
    const all = this.#known;
    const places: number[] = [];
    const most = this.#longest - 1;
    let start = size;
    for (let at = size - 1; at >= 0 && places.length < most; at--) {
      if (mayEndBreak(text[at] as number)) at = step(text, at);
      places.push(at);
      const known = all[text[at] as number];
      if (known !== undefined && isBeginning(known, text, places)) start = at;
    }
    return start;
  }
}

/** Whether one of these begins with the bytes at some places, of which the last comes first, and goes on. */
function isBeginning(known: readonly Uint8Array[], text: Uint8Array, places: readonly number[]): boolean {
  const last = places.length - 1;
  next: for (const bytes of known) {
    if (bytes.length <= places.length) continue;
    for (let i = 1; i <= last; i++) if (bytes[i] !== text[places[last - i] as number]) continue next;
    return true;
  }
  return false;
}
