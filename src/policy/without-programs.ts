import type { Policy } from '../protocol/decision.js';
import type { Kind } from '../protocol/kind.js';

/** A policy under which no command is run, whatever its rules say. */
export function withoutPrograms(policy: Policy, reason: string): Policy {
  const isCommand = ({ kind }: { readonly kind: Kind }) => kind === 'execute';
  const remedy = { none: 'No rule can allow it: see `The sandbox` in docs/security.md.' };
  return {
    ...policy,
    summary: `${policy.summary} No command can be run in this run.`,
    decide: async (request) =>
      isCommand(request) ? { decision: 'deny', rule: null, reason, remedy } : policy.decide(request),
    mayOffer: (tool) => !isCommand(tool) && policy.mayOffer(tool),
  };
}
