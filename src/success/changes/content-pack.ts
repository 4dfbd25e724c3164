import { appendFileSync, closeSync, openSync, readSync, rmSync } from 'node:fs';

/** Where a content is in a pack. */
export type Packed = readonly [at: number, length: number];

const MAX_BYTES = 128 * 1024 * 1024;
const BATCH = 1024 * 1024;

/** Many short contents in one file, up to a size limit. */
export class ContentPack {
  readonly #file: string;
  #size = 0;
  #batch: Buffer[] = [];
  #waiting = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** Removes what an interrupted run has left. */
  clear(): void {
    rmSync(this.#file, { force: true });
  }

  /** Contents can be read after `flush`. */
  add(content: Buffer | undefined): Packed | undefined {
    if (!content || this.#size + content.length > MAX_BYTES) return undefined;
    const packed = [this.#size, content.length] as const;
    this.#size += content.length;
    this.#batch.push(content);
    this.#waiting += content.length;
    if (this.#waiting > BATCH) this.flush();
    return packed;
  }

  flush(): void {
    appendFileSync(this.#file, Buffer.concat(this.#batch), { mode: 0o600 });
    this.#batch = [];
    this.#waiting = 0;
  }

  read([at, length]: Packed): Buffer {
    const content = Buffer.alloc(length);
    const file = openSync(this.#file, 'r');
    try {
      if (readSync(file, content, 0, length, at) < length) throw new Error(`${this.#file} is cut off`);
      return content;
    } finally {
      closeSync(file);
    }
  }
}
