import { signedBy } from '../approvals/signed-part.js';
import { errorMessage } from '../lib/errors.js';
import { readTrustedKey } from '../policy/trusted-key.js';
import { configProblem } from '../protocol/problem.js';
import type { Vouched } from '../protocol/transcript.js';

/** Of transcripts only what one of these keys has signed counts; without a key, all of it. */
export function vouchedBy(keys: readonly string[], folder: string): Vouched {
  if (keys.length === 0) return (transcript) => transcript;
  return signedBy(keys.map((text) => publicKey(text, folder)));
}

/** A key that `--trusted-key` names. */
export function publicKey(text: string, folder: string): string {
  try {
    return readTrustedKey(text, folder);
  } catch (error) {
    throw configProblem('key', `--trusted-key ${text.split('\n')[0]}: ${errorMessage(error)}`, {
      hint: 'Give a public ed25519 key: PEM, base64, or a file.',
    });
  }
}
