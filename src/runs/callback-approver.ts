import type { CallbackApprover } from '../approvals/callback.js';
import type { PolicyDocument } from '../policy/document.js';
import type { RunRequest } from './settings.js';

const TIMEOUT_MS = 60_000;

/**
 * A function that answers takes the place of the no that nobody chose; what a policy says otherwise stays. A run that is
 * taken up again without one is answered no.
 */
export function withCallback(
  documents: readonly PolicyDocument[],
  { approve }: Pick<RunRequest, 'approve'>,
): readonly PolicyDocument[] {
  const [from, to] = approve ? (['deny', 'callback'] as const) : (['callback', 'deny'] as const);
  return documents.map((document) => (document.onAsk === from ? { ...document, onAsk: to } : document));
}

export function callbackOf({ approve, approveTimeoutMs }: RunRequest): {
  readonly callback?: CallbackApprover;
} {
  return approve ? { callback: { approve, timeoutMs: approveTimeoutMs ?? TIMEOUT_MS } } : {};
}
