import { closeSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDiskFull } from './errors.js';
import { makeFolders } from './folders.js';
import type { OutputRoom } from './output-room.js';
import { formatSize } from './size.js';

/** The file for a long output, as far as there is room. */
export class StoredOutput {
  readonly #path: string;
  readonly #room: OutputRoom;
  #file: number | undefined;
  #stored = 0;
  #cut = false;

  private constructor(path: string, file: number, room: OutputRoom) {
    this.#path = path;
    this.#file = file;
    this.#room = room;
  }

  /** Undefined if there can be no file. Throws if the disk is full. */
  static open(path: string, room: OutputRoom): StoredOutput | undefined {
    try {
      makeFolders(dirname(path), 0o700);
      return new StoredOutput(path, openSync(path, 'w', 0o600), room);
    } catch (error) {
      if (isDiskFull(error)) throw error;
      return undefined;
    }
  }

  write(chunk: Uint8Array): void {
    if (this.#cut) return;
    const taken = this.#room.take(chunk.length);
    this.#cut = taken < chunk.length;
    const stored = this.#cut ? chunk.subarray(0, wholeCharacters(chunk, taken)) : chunk;
    this.#write(stored);
    this.#stored += stored.length;
    if (this.#cut)
      this.#write(Buffer.from(`\n[${this.#note('')}: it may take ${formatSize(this.#room.limit)}]\n`));
  }

  get isWhole(): boolean {
    return !this.#cut;
  }

  /** What a reader has to know: where it is, and whether it is complete. */
  describe(shown: string): string {
    return this.#cut ? this.#note(` in ${shown}`) : `full output: ${shown}`;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #note(where: string): string {
    const limit = 'limits.stored_output, for all outputs of the run, is used up';
    return `only the first ${this.#stored} bytes stored${where}: ${limit}`;
  }

  #write(chunk: Uint8Array): void {
    if (this.#file === undefined) return;
    try {
      for (let done = 0; done < chunk.length;) done += writeSync(this.#file, chunk, done);
    } catch (error) {
      // Half an output is useless, and its space may be needed to report what happened.
      this.close();
      rmSync(this.#path, { force: true });
      throw error;
    }
  }
}

/** The largest size up to `size` at which no UTF-8 character is cut. */
function wholeCharacters(bytes: Uint8Array, size: number): number {
  let end = size;
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end--;
  return end;
}

/** The size of all outputs in a folder; 0 if there is no folder. */
export function sizeOfOutputs(folder: string): number {
  try {
    const files = readdirSync(folder).filter((name) => name.endsWith('.txt'));
    return files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  } catch {
    return 0;
  }
}
