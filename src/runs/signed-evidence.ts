import { signatureFault } from '../approvals/binding.js';
import { errorMessage } from '../lib/errors.js';
import { readTrustedKey } from '../policy/trusted-key.js';
import { configProblem } from '../protocol/problem.js';
import { hashesOf } from '../protocol/transcript.js';
import type { Vouched } from './read-evidence.js';

/**
 * Of a transcript only what one of these keys has signed counts: all that stood in it when the last signed answer was
 * given. What it says of its end nobody has signed, so what the run changed is not known.
 */
export function signedBy(keys: readonly string[], folder: string): Vouched {
  const trusted = keys.map((text) => publicKey(text, folder));
  return (transcript) => {
    const { lines, result } = transcript;
    const hashes = hashesOf(transcript);
    const sessionId = lines[0]?.session_id ?? '';
    const signed = lines.flatMap((line) => {
      if (line.type !== 'approval_response' || !line.binding) return [];
      const { binding, ...answer } = line;
      const fault = signatureFault(answer, binding, { sessionId, trustedKeys: [trusted], lines: hashes });
      return fault === undefined ? [hashes.indexOf(binding.transcript_sha256 ?? '')] : [];
    });
    const last = Math.max(-1, ...signed);
    if (last < 0) return { why: 'none of the trusted keys has signed it' };
    const { changes: _changes, ...end } = result ?? {};
    return { ...transcript, lines: lines.slice(0, last + 1), result: result && (end as typeof result) };
  };
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
