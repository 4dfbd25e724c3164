import type { Readable } from 'node:stream';

export interface ReadLimits {
  readonly firstByteMs: number;
  readonly maxBytes: number;
}

/** All of a stream, or why it was given up. Does not wait for ever for the first byte. */
export function readStream(
  stream: Readable,
  { firstByteMs, maxBytes }: ReadLimits,
): Promise<Buffer | 'timeout' | 'too_large'> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = (result: Buffer | 'timeout' | 'too_large') => {
      clearTimeout(timer);
      stream.destroy();
      resolve(result);
    };
    const timer = setTimeout(finish, firstByteMs, 'timeout');
    stream.on('data', (chunk: Buffer) => {
      clearTimeout(timer);
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxBytes) finish('too_large');
    });
    stream.once('end', () => finish(Buffer.concat(chunks)));
    stream.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}
