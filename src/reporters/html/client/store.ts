import type { Fields } from './values.js';

/** What the page knows of each row without unpacking. */
export interface Index {
  readonly total: number;
  readonly rows: readonly (readonly [start: number, end: number, chunk: number, slot: number])[];
  /** The rows of turns. */
  readonly turns: readonly number[];
}

type Chunk = readonly (readonly Fields[])[];

/** Unpacks details when they are needed, each chunk once. */
export class Store {
  readonly index: Index;
  readonly #packed = whenLoaded().then(packedChunks);
  readonly #chunks = new Map<number, Promise<Chunk>>();

  constructor() {
    this.index = JSON.parse(document.getElementById('index')?.textContent ?? '') as Index;
  }

  /** The events of a row. */
  async eventsOf(row: number): Promise<readonly Fields[]> {
    const [, , chunk, slot] = this.index.rows[row] ?? [0, 0, -1, 0];
    return (await this.#chunk(chunk))[slot] ?? [];
  }

  #chunk(number: number): Promise<Chunk> {
    const known = this.#chunks.get(number);
    if (known) return known;
    const chunk = this.#packed.then((chunks) => unpack(chunks[number] ?? ''));
    this.#chunks.set(number, chunk);
    return chunk;
  }
}

/** The chunks come after the script: a long file may still be loading. */
function whenLoaded(): Promise<void> {
  if (document.readyState !== 'loading') return Promise.resolve();
  return new Promise((resolve) =>
    document.addEventListener('DOMContentLoaded', () => resolve(), { once: true }),
  );
}

function packedChunks(): readonly string[] {
  return [...document.querySelectorAll('script.chunk')].map(({ textContent }) => textContent ?? '');
}

async function unpack(base64: string): Promise<Chunk> {
  const binary = atob(base64);
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return (await new Response(stream).json()) as Chunk;
}
