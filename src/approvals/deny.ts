import type { Decision } from '../protocol/decision.js';
import type { ToolError } from '../protocol/tool-error.js';

/** `ask` with nobody to answer: the call is refused, and the model is told why. */
export function denyAsk(decision: Decision, allowed: string): ToolError {
  return {
    type: 'approval_denied',
    message: `Not approved: ${decision.reason}. ${allowed} Do not repeat this call; go on without it, or end and say what is missing.`,
  };
}
