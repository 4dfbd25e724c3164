import { errorMessage } from '../lib/errors.js';
import { readPublicKey } from '../lib/public-key.js';
import { policyFolder, policyProblem, type PolicySource } from './place.js';

/** A key of `approvals.trusted_keys`: PEM, base64 (of SPKI or of the 32 bytes), or a PEM file beside the policy. */
export function trustedKey(text: string, source: PolicySource, index: number): string {
  const path = ['approvals', 'trusted_keys', index];
  try {
    return readPublicKey(text, policyFolder(source));
  } catch (error) {
    const shown = text.trim().split('\n')[0];
    throw policyProblem(source, path, `\`${shown}\` is not a public ed25519 key: ${errorMessage(error)}`);
  }
}
