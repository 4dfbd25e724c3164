import type { RequestEnd } from '../protocol/admission.js';
import type { BatchNoticeEvent, Estimated } from './journal/event.js';
import { roundDollars } from '../lib/money.js';

export interface Spending {
  readonly costUsd: number;
  readonly tokens: number;
}

/** What a budget is charged: reported usage, and an estimate where none was reported. */
export interface Charge {
  readonly known: Spending;
  readonly estimated: Spending;
}

export const NOTHING: Spending = { costUsd: 0, tokens: 0 };

/** An estimate counts this many times, so that the budget holds even if it was too low: it cannot see thoughts. */
const DOUBT = 1.5;

/** What a request is charged. */
export function chargeOf({ usage, costUsd = 0 }: Pick<RequestEnd, 'usage' | 'costUsd'>): Charge {
  const tokens = usage?.total ?? (usage?.prompt ?? 0) + (usage?.output ?? 0);
  const known = { costUsd, tokens };
  if (!usage?.estimated) return { known, estimated: NOTHING };
  const estimated = { costUsd: costUsd * DOUBT, tokens: Math.ceil(tokens * DOUBT) };
  return { known: NOTHING, estimated };
}

/** Without floating-point noise, which would let one more request through. */
export function addSpending(a: Spending, b: Spending): Spending {
  return { costUsd: roundDollars(a.costUsd + b.costUsd), tokens: a.tokens + b.tokens };
}

/** In the form of the journal. */
export function journalCharge({ costUsd, tokens }: Spending): Estimated {
  return { cost_usd: costUsd, tokens };
}

/** Says in the journal that charges are estimated. */
export const ESTIMATED: BatchNoticeEvent = {
  type: 'batch_notice',
  level: 'warning',
  code: 'usage',
  message:
    'the provider does not report how many tokens it uses; the budget is charged an estimate: what the length of the texts suggests, plus half',
};
