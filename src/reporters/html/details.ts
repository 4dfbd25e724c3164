import { deflateRawSync } from 'node:zlib';

/** Where the details of a row are: the number of a chunk, and the position in it. */
export type DetailPlace = readonly [chunk: number, slot: number];

const CHUNK_CHARACTERS = 256 * 1024;
/** The page must unpack quickly, and the run must not wait for us. */
const LEVEL = 3;

/** Packs what the page shows only on demand: small in memory and in the file, whatever tools print. */
export class Details {
  readonly #chunks: string[] = [];
  #waiting: string[] = [];
  #characters = 0;

  add(events: readonly object[]): DetailPlace {
    const place: DetailPlace = [this.#chunks.length, this.#waiting.length];
    const json = JSON.stringify(events);
    this.#waiting.push(json);
    this.#characters += json.length;
    if (this.#characters >= CHUNK_CHARACTERS) this.#pack();
    return place;
  }

  /** Each chunk: a JSON array, deflated, in base64. */
  chunks(): readonly string[] {
    if (this.#waiting.length > 0) this.#pack();
    return this.#chunks;
  }

  #pack(): void {
    const json = `[${this.#waiting.join(',')}]`;
    this.#chunks.push(deflateRawSync(json, { level: LEVEL }).toString('base64'));
    this.#waiting = [];
    this.#characters = 0;
  }
}
