import { createPublicKey, type KeyObject } from 'node:crypto';
import { resolve } from 'node:path';
import { errorMessage } from '../lib/errors.js';
import { readRegularFile } from '../lib/regular-file.js';
import { folderOf, policyProblem, type PolicySource } from './place.js';

/** What an ed25519 key in SPKI begins with. */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

/** A key of `approvals.trusted_keys`: PEM, base64 (of SPKI or of the 32 bytes), or a PEM file beside the policy. */
export function trustedKey(text: string, source: PolicySource, index: number): string {
  const path = ['approvals', 'trusted_keys', index];
  try {
    return readTrustedKey(text, folderOf(source));
  } catch (error) {
    const shown = text.trim().split('\n')[0];
    throw policyProblem(source, path, `\`${shown}\` is no public ed25519 key: ${errorMessage(error)}`);
  }
}

/** The same wherever a key is named; a file is looked for in `folder`. Throws what is wrong with it. */
export function readTrustedKey(text: string, folder: string): string {
  const key = keyIn(text) ?? createPublicKey(readRegularFile(resolve(folder, text), 16_384).bytes);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`it is a key for ${key.asymmetricKeyType}`);
  return key.export({ format: 'der', type: 'spki' }).toString('base64');
}

function keyIn(text: string): KeyObject | undefined {
  if (text.includes('-----BEGIN')) return createPublicKey(text);
  if (!/^[A-Za-z0-9+/]{43,59}=?$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  const key = bytes.length === 32 ? Buffer.concat([SPKI_HEAD, bytes]) : bytes;
  return key.length === 44 ? createPublicKey({ key, format: 'der', type: 'spki' }) : undefined;
}
