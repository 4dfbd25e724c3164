import { hashesOf, type Vouched } from '../protocol/transcript.js';
import { signatureFault } from './binding.js';

/**
 * Of a transcript only what one of these keys has signed counts: all that stood in it when the last signed answer was
 * given. What it says of its end nobody has signed, so what the run changed is not known.
 */
export function signedBy(trusted: readonly string[]): Vouched {
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
