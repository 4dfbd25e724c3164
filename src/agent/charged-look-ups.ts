import { lookUpFailure, type Ground } from '../protocol/provider.js';
import type { Budget } from './budget.js';

/** Web look-ups of tools count like the run's own requests. `asked` is the current model of the run. */
export function chargedLookUps(
  asked: { readonly model: string; readonly ground?: Ground | undefined },
  budget: Budget,
): Ground {
  return async (request, signal) => {
    if (!budget.canSpend()) return lookUpFailure('the limit on tokens or cost is reached');
    // A fallback may have replaced the first model.
    if (!asked.ground) return lookUpFailure(`${asked.model} cannot look things up`);
    const reply = await asked.ground(request, signal);
    if (reply.type !== 'grounded') return reply;
    const cost_usd = budget.chargeTokens(reply.usage, reply.model);
    return { ...reply, ...(cost_usd !== undefined && { cost_usd }) };
  };
}
