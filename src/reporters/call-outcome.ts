import { basename } from 'node:path';
import { formatDuration } from '../lib/duration.js';
import { withoutPeriod } from '../lib/text.js';
import type { PolicyDecisionEvent, ToolResultEvent } from '../protocol/event.js';

/** Shorter times are not worth a word in a log. */
const LONG_MS = 1000;

/** How a call ended, for people who follow a run. */
export interface CallOutcome {
  readonly ok: boolean;
  /** The policy or an approver said no. */
  readonly denied: boolean;
  /** What went wrong, as the end of a sentence. */
  readonly fault?: string;
  /** A further fact: `exit 1`. */
  readonly fact?: string;
}

export function callOutcome(result: ToolResultEvent, decision: PolicyDecisionEvent | undefined): CallOutcome {
  const { error, status, process, suppressed } = result;
  const denied = error?.type === 'policy_denied' || error?.type === 'approval_denied';
  if (error) return { ok: false, denied, fault: denied ? decisionText(error, decision) : error.message };
  if (process?.signal) return { ok: false, denied, fact: `killed by ${process.signal}` };
  // For the model this is a result like any other; people want to know that it failed.
  if (process?.exit_code) return { ok: false, denied, fact: `exit ${process.exit_code}` };
  return { ok: status === 'success', denied, ...(suppressed && { fact: 'suppressed' }) };
}

/** ` (exit 1, 12.3 s)`; only long times are shown. */
export function factsText(fact: string | undefined, ms: number): string {
  const facts = [fact, ms >= LONG_MS && formatDuration(ms)].filter(Boolean);
  return facts.length > 0 ? ` (${facts.join(', ')})` : '';
}

/** The decision and its rule. The error's message is for the model, and says more. */
function decisionText(
  { type, message }: NonNullable<ToolResultEvent['error']>,
  decision: PolicyDecisionEvent | undefined,
): string {
  if (!decision) return message;
  const { rule, reason } = decision;
  const by = rule ? ` by rule ${rule.id} (${basename(rule.file)}:${rule.line})` : '';
  if (type === 'policy_denied') return `denied${by}: ${withoutPeriod(reason)}`;
  return `not approved${rule ? `, asked${by}` : ''}: ${withoutPeriod(reason)}`;
}
