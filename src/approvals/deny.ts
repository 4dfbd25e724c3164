import { withoutPeriod, sentence } from '../lib/text.js';
import type { Decision } from '../protocol/decision.js';
import type { ToolError } from '../protocol/tool-error.js';

const GO_ON = 'Do not repeat this call; continue without it, or end and say what is missing.';

/** `ask` without an approver: the call is denied, and the model is told why. */
export function denyAsk(decision: Decision, allowed: string): ToolError {
  return {
    type: 'approval_denied',
    message: `Not approved: ${withoutPeriod(decision.reason)}, and nobody can answer here. ${allowed} ${GO_ON}`,
  };
}

/** An approver was asked, and said no or nothing. */
export function notApproved(reason: string): ToolError {
  return { type: 'approval_denied', message: `Not approved: ${sentence(reason)} ${GO_ON}` };
}
