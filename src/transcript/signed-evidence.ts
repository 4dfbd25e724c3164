import type { KeyObject } from 'node:crypto';
import { plainReason } from '../lib/errors.js';
import { readPublicKey } from '../lib/public-key.js';
import { configProblem } from '../protocol/problem.js';
import type { Vouched } from '../protocol/transcript.js';
import { readTranscript } from './reader.js';
import { transcriptSignatureFault, signedBy, signTranscript } from './signature.js';
import { verifyTranscript, type Verification } from './verify.js';

/** Only transcripts signed by one of these keys count; without a key, all do. */
export function vouchedBy(keys: readonly string[], folder: string): Vouched {
  if (keys.length === 0) return (transcript) => transcript;
  return signedBy(keys.map((text) => publicKey(text, folder)));
}

/** A key that `--trusted-key` names. */
export function publicKey(text: string, folder: string): string {
  try {
    return readPublicKey(text, folder);
  } catch (error) {
    throw configProblem('key', `--trusted-key ${text.split('\n')[0]}: ${plainReason(error)}`, {
      hint: 'Give a public ed25519 key: PEM, base64, or a file.',
    });
  }
}

/** Checks a transcript and who vouches for it; given a private key, signs it if it is whole. */
export async function verifySigned(
  path: string,
  { key, trusted }: { readonly key?: KeyObject; readonly trusted?: readonly string[] },
): Promise<Verification> {
  const found = await verifyTranscript(path);
  if (!found.valid) return found;
  const transcript = readTranscript(path);
  const fault = trusted && transcriptSignatureFault(transcript, trusted);
  if (fault !== undefined) return { valid: false, message: `${path}: ${fault}` };
  if (!key) return { valid: true, message: `${found.message}, signed by a trusted key` };
  return { valid: true, message: `${found.message}, signed in ${signTranscript(transcript, key)}` };
}
