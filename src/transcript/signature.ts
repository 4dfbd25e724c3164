import type { KeyObject } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { canonicalJson } from '../lib/canonical-json.js';
import { isSigned, signatureOf, type Signature } from '../lib/ed25519.js';
import { errorCode } from '../lib/errors.js';
import { toJsonText } from '../lib/jsonl.js';
import { parseJson } from '../lib/parse-json.js';
import { readRegularFile } from '../lib/regular-file.js';
import type { Transcript, Vouched } from '../protocol/transcript.js';

/** The file with `.sig` added to the name of a transcript, for which its signer vouches. */
interface SignedTranscript {
  readonly v: 1;
  readonly session_id: string;
  /** Of its last line, which covers all lines. */
  readonly transcript_sha256: string;
  readonly signature: Signature;
}

const MAX_BYTES = 16_384;

/** Signs a transcript as it is now. Returns the path of the signature. */
export function signTranscript(transcript: Transcript, key: KeyObject): string {
  const file = signatureFile(transcript);
  const bound = boundTo(transcript);
  const text: SignedTranscript = { v: 1, ...bound, signature: signatureOf(transcriptBytes(bound), key) };
  writeFileSync(file, `${toJsonText(text)}\n`);
  return file;
}

/** Why none of these keys vouches for a transcript; undefined if one does. */
export function transcriptSignatureFault(
  transcript: Transcript,
  trusted: readonly string[],
): string | undefined {
  const file = signatureFile(transcript);
  let found: Partial<SignedTranscript> | null;
  try {
    found = parseJson(readRegularFile(file, MAX_BYTES).bytes.toString('utf8')) as typeof found;
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? 'it is not signed' : `${file} is not a signature`;
  }
  const { key, value } = found?.signature ?? {};
  if (found?.v !== 1 || typeof key !== 'string' || typeof value !== 'string')
    return `${file} is not a signature`;
  if (!trusted.includes(key)) return 'none of the trusted keys has signed it';
  return isSigned(transcriptBytes(boundTo(transcript)), { key, value })
    ? undefined
    : 'it is not what was signed: it was changed since, or the signature is of another run';
}

/** Only transcripts signed by one of these keys count. */
export function signedBy(trusted: readonly string[]): Vouched {
  return (transcript) => {
    const why = transcriptSignatureFault(transcript, trusted);
    return why === undefined ? transcript : { why };
  };
}

function signatureFile({ path }: Transcript): string {
  return `${path}.sig`;
}

function boundTo({ lines, end }: Transcript) {
  return { session_id: lines[0]?.session_id ?? '', transcript_sha256: end.hash };
}

function transcriptBytes(bound: ReturnType<typeof boundTo>): Buffer {
  return Buffer.from(canonicalJson({ v: 1, signs: 'transcript', ...bound }));
}
