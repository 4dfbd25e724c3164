import type { KeyObject } from 'node:crypto';
import { canonicalJson } from '../lib/canonical-json.js';
import { isSigned, signatureOf } from '../lib/ed25519.js';
import { sha256 } from '../lib/ids.js';
import type { AnswerBinding, ApprovalAnswer, RecordedRequest } from '../protocol/approval.js';

/** What must still match an answer when it is acted on. */
export interface Circumstances {
  readonly sessionId: string;
  readonly argumentsSha256: string;
  readonly requestSha256: string;
  /** The hash as older versions computed it: their answers still count. */
  readonly formerRequestSha256?: string;
  readonly policySha256: string;
  /** The hashes of the lines that the transcript has now. */
  readonly lines: readonly string[];
  /** For each policy that names keys: one of them must have signed. */
  readonly trustedKeys: readonly (readonly string[])[];
  readonly now: Date;
}

/** The hash of what a call does: its tool and its arguments. */
export function argumentsHash(tool: string, args: unknown): string {
  return sha256(canonicalJson([tool, args]));
}

/** The hash of what the approver is shown. */
export function requestHash(request: RecordedRequest): string {
  return sha256(canonicalJson(request));
}

/** Binds an answer to the call, the policy, the transcript and a time, and signs it all if there is a key. */
export function bindAnswer(
  answer: ApprovalAnswer,
  circumstances: Omit<Circumstances, 'trustedKeys' | 'now'>,
  expires: Date,
  key?: KeyObject,
): AnswerBinding {
  const { sessionId, argumentsSha256, requestSha256, policySha256, lines } = circumstances;
  const binding: AnswerBinding = {
    arguments_sha256: argumentsSha256,
    request_sha256: requestSha256,
    policy_sha256: policySha256,
    transcript_sha256: lines.at(-1) ?? '',
    expires_at: expires.toISOString(),
  };
  if (!key) return binding;
  return { ...binding, signature: signatureOf(answerBytes(answer, binding, sessionId), key) };
}

/** Why an answer no longer counts, or never did. */
export function bindingFault(
  answer: ApprovalAnswer,
  binding: AnswerBinding | undefined,
  at: Circumstances,
): string | undefined {
  if (!binding) return 'it is bound to nothing';
  if (binding.arguments_sha256 !== at.argumentsSha256) return 'it is for another call';
  if (binding.policy_sha256 !== at.policySha256) return 'the policy has changed';
  if (![at.requestSha256, at.formerRequestSha256].includes(binding.request_sha256))
    return 'what the call would do is not what was shown';
  // Not `<`: a date that cannot be read counts as expired.
  if (!(new Date(binding.expires_at) > at.now)) return `it expired at ${binding.expires_at}`;
  return answerSignatureFault(answer, binding, at);
}

/** Why the signature of an answer is not by one of the trusted keys. */
export function answerSignatureFault(
  answer: ApprovalAnswer,
  binding: AnswerBinding,
  { sessionId, trustedKeys, lines }: Pick<Circumstances, 'sessionId' | 'trustedKeys' | 'lines'>,
): string | undefined {
  const { signature, transcript_sha256 } = binding;
  if (!signature) return trustedKeys.length > 0 ? 'it is not signed' : undefined;
  if (!isSigned(answerBytes(answer, binding, sessionId), signature)) return 'its signature is wrong';
  const trusted = trustedKeys.every((keys) => keys.includes(signature.key));
  if (!trusted) return 'it is signed by a key that the policy does not trust';
  if (trustedKeys.length === 0) return undefined;
  if (transcript_sha256 === undefined) return 'it was signed by an older version, without the transcript';
  return lines.includes(transcript_sha256) ? undefined : 'the transcript is not the one that was signed';
}

/** All that an answer says and is bound to, including the run. */
function answerBytes(answer: ApprovalAnswer, binding: AnswerBinding, sessionId: string): Buffer {
  const { tool_call_id, selected_option_id, file_details, reason } = answer;
  const { signature: _none, ...bound } = binding;
  const said = { tool_call_id, selected_option_id, file_details, reason };
  return Buffer.from(canonicalJson({ ...said, ...bound, session_id: sessionId }));
}
