import { lookUpFailure, type Ground } from '../protocol/provider.js';
import type { Budget } from './budget.js';

/** What tools look up on the web counts like what the run itself asks. `asked` is the model that the run talks to now. */
export function chargedLookUps(
  asked: { readonly model: string; readonly ground?: Ground | undefined },
  budget: Budget,
): Ground {
  return async (request, signal) => {
    if (!budget.canSpend()) return lookUpFailure('the limit on tokens or cost is reached');
    // Another model may have taken the place of the first.
    if (!asked.ground) return lookUpFailure(`${asked.model} cannot look things up`);
    const reply = await asked.ground(request, signal);
    if (reply.type !== 'grounded') return reply;
    const cost_usd = budget.chargeTokens(reply.usage, reply.model);
    return { ...reply, ...(cost_usd !== undefined && { cost_usd }) };
  };
}
