import type { RequestEnd } from '../protocol/admission.js';
import type { BatchNoticeEvent, Estimated } from './journal/event.js';

export interface Spending {
  readonly costUsd: number;
  readonly tokens: number;
}

/** What a budget is charged: what the provider told, and a guess where it told nothing. */
export interface Charge {
  readonly known: Spending;
  readonly estimated: Spending;
}

export const NOTHING: Spending = { costUsd: 0, tokens: 0 };

/** A guess counts for so much more, so that the budget holds though it was too low: thoughts, say, are not seen. */
const DOUBT = 1.5;

/** What a request is charged. */
export function charged({ usage, costUsd = 0 }: Pick<RequestEnd, 'usage' | 'costUsd'>): Charge {
  const tokens = usage?.total ?? (usage?.prompt ?? 0) + (usage?.output ?? 0);
  const known = { costUsd, tokens };
  if (!usage?.estimated) return { known, estimated: NOTHING };
  const estimated = { costUsd: costUsd * DOUBT, tokens: Math.ceil(tokens * DOUBT) };
  return { known: NOTHING, estimated };
}

/** Without the noise of floating point, which would let one more request through. */
export function plus(a: Spending, b: Spending): Spending {
  return { costUsd: Math.round((a.costUsd + b.costUsd) * 1e9) / 1e9, tokens: a.tokens + b.tokens };
}

/** As the journal spells it. */
export function toldCharge({ costUsd, tokens }: Spending): Estimated {
  return { cost_usd: costUsd, tokens };
}

/** What is a guess is not charged in silence. */
export const ESTIMATED: BatchNoticeEvent = {
  type: 'batch_notice',
  level: 'warning',
  code: 'usage',
  message:
    'the provider does not report how many tokens it used; the budget is charged by the length of the texts, and half as much again',
};
