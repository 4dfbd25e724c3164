import { resolve } from 'node:path';
import { publicKeyIn } from './ed25519.js';
import { readRegularFile } from './regular-file.js';

/** Reads a key wherever it is named; files are relative to `folder`. Throws what is wrong with it. */
export function readPublicKey(text: string, folder: string): string {
  const file = () => readRegularFile(resolve(folder, text), 16_384).bytes.toString('utf8');
  const key = publicKeyIn(text) ?? publicKeyIn(file());
  if (key === undefined) throw new Error('it is neither PEM nor base64');
  return key;
}
