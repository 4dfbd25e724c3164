import type { ApproverCommand } from '../protocol/decision.js';
import type { PolicyDocument } from './document.js';
import type { RuleSet } from './fold.js';

/**
 * A function that answers takes the place of the no that nobody chose; what a policy says otherwise stays. A run that is
 * taken up again without one is answered no.
 */
export function withCallback(
  documents: readonly PolicyDocument[],
  isThere: boolean,
): readonly PolicyDocument[] {
  const [from, to] = isThere ? (['deny', 'callback'] as const) : (['callback', 'deny'] as const);
  return documents.map((document) => (document.onAsk === from ? { ...document, onAsk: to } : document));
}

/** The programs that policies let answer. */
export function approversIn(sets: readonly Pick<RuleSet, 'onAsk'>[]): ApproverCommand[] {
  return sets.flatMap(({ onAsk }) => (typeof onAsk === 'object' ? onAsk : []));
}
