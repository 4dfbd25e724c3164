import { createHash } from 'node:crypto';
import { closeSync, createReadStream, mkdirSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline, Readable, type Transform } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';

/** A file to pack: its name in the pack, and where it is. */
export interface PackedFile {
  readonly name: string;
  readonly path: string;
  readonly size: number;
}

/** The most bytes of a piece, before it becomes text. */
export const PIECE_BYTES = 384 * 1024;
/** A pack that unpacks to more is not ours. */
const MAX_UNPACKED = 1024 * 1024 * 1024;
const MAX_HEAD = 4096;
const MAX_FILES = 100_000;
/** The names allowed in a pack: none leads out of its folder, and none is hidden. */
const NAME =
  /^(?:end\.json|changes\.patch|transcript\.jsonl|transcript\.jsonl\.d\/[A-Za-z0-9_%~-][A-Za-z0-9._%~-]{0,254})$/;

export interface Chosen {
  readonly files: readonly PackedFile[];
  readonly left: { readonly files: number; readonly bytes: number };
}

/** What to pack of an attempt's folder: all but stored outputs always, and of those the small ones first. */
export function chooseFiles(folder: string, maxOutputs: number): Chosen {
  const always = ['end.json', 'transcript.jsonl', 'changes.patch'].flatMap((name) => packed(folder, name));
  const outputs = (outputNames(join(folder, 'transcript.jsonl.d')) ?? [])
    .flatMap((name) => packed(folder, `transcript.jsonl.d/${name}`))
    .toSorted((a, b) => a.size - b.size);
  let room = maxOutputs;
  const taken = outputs.filter(({ size }) => (room -= size) >= 0);
  const left = outputs.slice(taken.length);
  return {
    files: [...always, ...taken],
    left: { files: left.length, bytes: left.reduce((sum, { size }) => sum + size, 0) },
  };
}

function packed(folder: string, name: string): PackedFile[] {
  const path = join(folder, name);
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() && NAME.test(name) ? [{ name, path, size: found.size }] : [];
}

function outputNames(folder: string): string[] | undefined {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(folder) : undefined;
}

/** Files as one compressed stream, in pieces. */
export async function* packPieces(files: readonly PackedFile[]): AsyncGenerator<Buffer> {
  const gzip = through(framed(files), createGzip({ level: 6 }));
  let pending: Buffer[] = [];
  let size = 0;
  for await (const chunk of gzip as AsyncIterable<Buffer>) {
    pending.push(chunk);
    size += chunk.length;
    while (size >= PIECE_BYTES) {
      const all = Buffer.concat(pending);
      yield all.subarray(0, PIECE_BYTES);
      pending = [all.subarray(PIECE_BYTES)];
      size -= PIECE_BYTES;
    }
  }
  if (size > 0) yield Buffer.concat(pending);
}

/** Passes errors of the source on to the stream, so that its reader gets them. */
function through<T extends Transform>(source: AsyncIterable<Buffer>, stream: T): T {
  pipeline(Readable.from(source), stream, () => {});
  return stream;
}

/** Each file after a line with its name and size. If it grew meanwhile it is cut, else filled up. */
async function* framed(files: readonly PackedFile[]): AsyncGenerator<Buffer> {
  for (const { name, path, size } of files) {
    yield Buffer.from(`${JSON.stringify({ name, size })}\n`);
    let left = size;
    if (size > 0)
      for await (const chunk of createReadStream(path, { end: size - 1 }) as AsyncIterable<Buffer>) {
        left -= chunk.length;
        yield chunk;
      }
    if (left > 0) yield Buffer.alloc(left);
  }
}

/** Unpacks pieces into a folder. Throws if no worker packs like that. */
export async function unpackPieces(pieces: AsyncIterable<Buffer>, folder: string): Promise<void> {
  const unzipped = through(pieces, createGunzip());
  const unpacker = new Unpacker(folder);
  try {
    for await (const chunk of unzipped as AsyncIterable<Buffer>) unpacker.take(chunk);
    unpacker.end();
  } finally {
    unpacker.close();
  }
}

/** Parses a stream: alternately a line with a name and a size, and that many bytes. */
class Unpacker {
  readonly #folder: string;
  readonly #seen = new Set<string>();
  #head: Buffer = Buffer.alloc(0);
  #file: number | undefined;
  /** Of the file. */
  #left = 0;
  /** The bytes unpacked, and those announced. */
  #total = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  take(chunk: Buffer): void {
    for (let rest = chunk; rest.length > 0;)
      rest = this.#file === undefined ? this.#takeHead(rest) : this.#takeContent(this.#file, rest);
  }

  end(): void {
    if (this.#file !== undefined || this.#head.length > 0) throw new Error('its end is missing');
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #takeHead(chunk: Buffer): Buffer {
    const end = chunk.indexOf(10);
    this.#head = Buffer.concat([this.#head, end < 0 ? chunk : chunk.subarray(0, end)]);
    if (this.#head.length > MAX_HEAD) throw new Error('it has no file names');
    if (end < 0) return Buffer.alloc(0);
    const { name, size } = headOf(this.#head, this.#seen);
    this.#total += this.#head.length + size;
    // Nothing is unpacked that does not fit.
    if (this.#total > MAX_UNPACKED) throw new Error(`it unpacks to more than ${MAX_UNPACKED} bytes`);
    this.#head = Buffer.alloc(0);
    this.#file = createNew(join(this.#folder, name));
    this.#left = size;
    // No bytes follow that could end an empty file.
    if (size === 0) this.close();
    return chunk.subarray(end + 1);
  }

  #takeContent(file: number, chunk: Buffer): Buffer {
    const part = chunk.subarray(0, this.#left);
    for (let done = 0; done < part.length;) done += writeSync(file, part, done);
    this.#left -= part.length;
    if (this.#left === 0) this.close();
    return chunk.subarray(part.length);
  }
}

function headOf(bytes: Buffer, seen: Set<string>): { readonly name: string; readonly size: number } {
  const { name, size } = JSON.parse(bytes.toString('utf8')) as { name?: unknown; size?: unknown };
  if (typeof name !== 'string' || !NAME.test(name) || seen.has(name))
    throw new Error(`it has a file that no worker packs: ${JSON.stringify(name)}`);
  if (!Number.isSafeInteger(size) || (size as number) < 0) throw new Error('it has a file without a size');
  if (seen.add(name).size > MAX_FILES) throw new Error(`it has more than ${MAX_FILES} files`);
  return { name, size: size as number };
}

function createNew(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return openSync(path, 'wx', 0o600);
}

/** The hash of pieces, one after the other. */
export function pieceHash() {
  const hash = createHash('sha256');
  let [pieces, bytes] = [0, 0];
  return {
    add(piece: Buffer): void {
      hash.update(piece);
      pieces++;
      bytes += piece.length;
    },
    note: () => ({ pieces, bytes, sha256: hash.copy().digest('hex') }),
  };
}
