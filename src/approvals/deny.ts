import { clause, sentence } from '../lib/text.js';
import type { Decision } from '../protocol/decision.js';
import type { ToolError } from '../protocol/tool-error.js';

const GO_ON = 'Do not repeat this call; continue without it, or end and say what is missing.';

/** `ask` with nobody to answer: the call is refused, and the model is told why. */
export function denyAsk(decision: Decision, allowed: string): ToolError {
  return {
    type: 'approval_denied',
    message: `Not approved: ${clause(decision.reason)}, and nobody can answer here. ${allowed} ${GO_ON}`,
  };
}

/** Somebody was asked, and the answer was no or none. */
export function notApproved(reason: string): ToolError {
  return { type: 'approval_denied', message: `Not approved: ${sentence(reason)} ${GO_ON}` };
}
