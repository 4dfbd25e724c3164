import type { ApprovalAnswer, ConfirmationRequest } from './approval.js';

/** The approver in the program that uses Bosun. The signal fires when an answer would come too late. */
export type Approve = (
  request: ConfirmationRequest,
  context: { readonly signal: AbortSignal },
) => Promise<ApprovalAnswer> | ApprovalAnswer;
