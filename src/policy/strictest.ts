import type { DecisionWord } from '../protocol/decision.js';

const STRICTNESS: Readonly<Record<DecisionWord, number>> = { allow: 0, ask: 1, deny: 2 };

/** The strictest of some decisions; the first of those that are equally strict. */
export function strictest<E extends { readonly decision: DecisionWord }>(evidence: readonly E[]): E {
  return evidence.reduce((worst, one) =>
    STRICTNESS[one.decision] > STRICTNESS[worst.decision] ? one : worst,
  );
}
