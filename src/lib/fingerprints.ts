import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from 'node:fs';

const CHUNK = 1 << 20;

/** What a file or a link is, in one word: two are the same if and only if this is. Its times do not matter. */
export function fingerprint(path: string, isLink: boolean): string {
  try {
    return isLink ? `link ${readlinkSync(path)}` : fileFingerprint(path);
  } catch (error) {
    return `unreadable ${(error as NodeJS.ErrnoException).code ?? ''}`;
  }
}

function fileFingerprint(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const { mode } = fstatSync(file);
    const hash = createHash('sha1');
    const chunk = Buffer.allocUnsafe(CHUNK);
    for (let n = readSync(file, chunk); n > 0; n = readSync(file, chunk)) hash.update(chunk.subarray(0, n));
    return `file ${mode & 0o111 ? 'x' : '-'} ${hash.digest('hex')}`;
  } finally {
    closeSync(file);
  }
}
