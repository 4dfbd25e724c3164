import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { decodeText } from '../../lib/encoding.js';
import { pathOfOpenFile } from '../../lib/real-path.js';
import type { Piece } from './scan.js';

/** Files up to this size are read at once, larger ones in pieces. */
const PIECE_BYTES = 8 * 1024 * 1024;
const NEWLINE = 10;

/**
 * The text of a file in pieces of whole lines, or nothing if it is binary, gone, or replaced since it was found.
 * (UTF-32 is skipped: no engine finds it.)
 */
export function* filePieces(path: string): Generator<Piece> {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    return;
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || (pathOfOpenFile(file) ?? path) !== path) return;
    yield* readPieces(path, file, stats.size);
  } catch {
    // It became unreadable while it was read.
  } finally {
    closeSync(file);
  }
}

function* readPieces(path: string, file: number, size: number): Generator<Piece> {
  let rest: Buffer = Buffer.alloc(0);
  let firstLine = 1;
  for (let done = 0; done < size;) {
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size - done));
    const count = readSync(file, piece, 0, piece.length, null);
    if (count === 0) break;
    done += count;
    const bytes =
      rest.length > 0 ? Buffer.concat([rest, piece.subarray(0, count)]) : piece.subarray(0, count);
    const isLast = done >= size;
    const cut = isLast ? bytes.length : bytes.lastIndexOf(NEWLINE) + 1 || bytes.length;
    const decoded = decodeText(bytes.subarray(0, cut));
    if (!decoded || decoded.encoding.startsWith('utf32')) return;
    const isOneByte = !decoded.encoding.startsWith('utf16');
    if (isOneByte && bytes.includes(0, cut)) return;
    yield { path, text: decoded.text, firstLine };
    if (!isLast) firstLine += newlines(decoded.text);
    rest = bytes.subarray(cut);
  }
}

function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
