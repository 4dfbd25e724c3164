import { resolve } from 'node:path';
import { publicKeyIn } from '../lib/ed25519.js';
import { errorMessage } from '../lib/errors.js';
import { readRegularFile } from '../lib/regular-file.js';
import { folderOf, policyProblem, type PolicySource } from './place.js';

/** A key of `approvals.trusted_keys`: PEM, base64 (of SPKI or of the 32 bytes), or a PEM file beside the policy. */
export function trustedKey(text: string, source: PolicySource, index: number): string {
  const path = ['approvals', 'trusted_keys', index];
  try {
    return readTrustedKey(text, folderOf(source));
  } catch (error) {
    const shown = text.trim().split('\n')[0];
    throw policyProblem(source, path, `\`${shown}\` is not a public ed25519 key: ${errorMessage(error)}`);
  }
}

/** Reads a key wherever it is named; files are relative to `folder`. Throws what is wrong with it. */
export function readTrustedKey(text: string, folder: string): string {
  const file = () => readRegularFile(resolve(folder, text), 16_384).bytes.toString('utf8');
  const key = publicKeyIn(text) ?? publicKeyIn(file());
  if (key === undefined) throw new Error('it is neither PEM nor base64');
  return key;
}
