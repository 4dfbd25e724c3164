import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, type ZlibOptions } from 'node:zlib';
import { errorCode } from '../../lib/errors.js';

type Unpack = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>;

const UNPACKERS: ReadonlyMap<string, Unpack> = new Map([
  ['gzip', promisify(gunzip) as Unpack],
  ['x-gzip', promisify(gunzip) as Unpack],
  ['br', promisify(brotliDecompress) as Unpack],
  // Some servers mean the format with a header, some the one without.
  [
    'deflate',
    (bytes, options) => promisify(((bytes[0] ?? 0) & 0x0f) === 8 ? inflate : inflateRaw)(bytes, options),
  ],
]);

/** No honest server compresses a page more often. */
const MAX_LAYERS = 2;

/** A body after decompression, which may not grow beyond the limit. */
export async function unpack(
  bytes: Buffer,
  encoding: string,
  limit: number,
): Promise<{ readonly bytes: Buffer } | { readonly fault: string }> {
  const layers = encoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (layers.length > MAX_LAYERS) return { fault: `it is compressed ${layers.length} times over` };
  let unpacked = bytes;
  for (const name of layers.toReversed()) {
    const undo = UNPACKERS.get(name);
    if (!undo) return { fault: `it is compressed in an unknown way: ${name}` };
    try {
      unpacked = await undo(unpacked, { maxOutputLength: limit });
    } catch (error) {
      if (errorCode(error) === 'ERR_BUFFER_TOO_LARGE') {
        return { fault: `it unpacks to more than ${limit / 1024 / 1024} MiB` };
      }
      return { fault: `its ${name} data are broken` };
    }
  }
  return { bytes: unpacked };
}
