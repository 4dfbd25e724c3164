import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from 'node:fs';

const CHUNK = 1 << 20;

export interface SeenFile {
  /** What it is, in one word: two are the same if and only if this is. Its times do not matter. */
  readonly state: string;
  /** Absent if it is longer than asked for, or cannot be read. Of a link it is where it leads. */
  readonly content?: Buffer;
}

/** Looks at a file or a link; of one that has up to `most` bytes the content is kept. */
export function seeFile(path: string, isLink: boolean, most = 0): SeenFile {
  try {
    if (!isLink) return readFile(path, most);
    const target = readlinkSync(path);
    return { state: `link ${target}`, content: Buffer.from(target) };
  } catch (error) {
    return { state: `unreadable ${(error as NodeJS.ErrnoException).code ?? ''}` };
  }
}

function readFile(path: string, most: number): SeenFile {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const { mode, size } = fstatSync(file);
    const hash = createHash('sha1');
    const isKept = size <= most;
    const kept: Buffer[] = [];
    const chunk = Buffer.allocUnsafe(Math.min(size + 1, CHUNK));
    for (let n = readSync(file, chunk); n > 0; n = readSync(file, chunk)) {
      const piece = chunk.subarray(0, n);
      hash.update(piece);
      if (isKept) kept.push(Buffer.from(piece));
    }
    const state = `file ${mode & 0o111 ? 'x' : '-'} ${hash.digest('hex')}`;
    return isKept ? { state, content: Buffer.concat(kept) } : { state };
  } finally {
    closeSync(file);
  }
}
