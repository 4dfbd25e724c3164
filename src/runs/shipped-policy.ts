import { loadShipped, type ShippedPlace, type ShippedPolicies } from '../policy/shipped.js';
import { policyFlags } from './policy-flags.js';
import { factsOfPolicy, type Orders, type PolicyFacts } from './policy-facts.js';

/** Reads policies from elsewhere as strictly as any other, under a ceiling. Throws a Problem. */
export async function openShipped(
  shipped: ShippedPolicies,
  orders: Omit<Orders, 'policies' | 'mode'>,
  place: ShippedPlace,
): Promise<PolicyFacts> {
  return factsOfPolicy(await loadShipped(shipped, policyFlags(orders), place), orders);
}
