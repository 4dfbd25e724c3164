import type { ApproverCommand } from '../protocol/decision.js';
import type { PolicyDocument } from './document.js';
import type { RuleSet } from './fold.js';

/**
 * A function that answers replaces the default denial; any other choice of a policy stays. If a run is resumed without
 * one, the answer is no.
 */
export function withCallback(
  documents: readonly PolicyDocument[],
  isThere: boolean,
): readonly PolicyDocument[] {
  const [from, to] = isThere ? (['deny', 'callback'] as const) : (['callback', 'deny'] as const);
  return documents.map((document) => (document.onAsk === from ? { ...document, onAsk: to } : document));
}

/** The approver programs of policies. */
export function approversIn(sets: readonly Pick<RuleSet, 'onAsk'>[]): ApproverCommand[] {
  return sets.flatMap(({ onAsk }) => (typeof onAsk === 'object' ? onAsk : []));
}
