import type { ApiError } from './error-body.js';

export interface QuotaFacts {
  /** Whether waiting may help. */
  readonly retryable: boolean;
  readonly hint?: string;
}

/** Reasons for which a 403 is about an amount, not about access. */
const QUOTA_REASONS =
  /^((user|daily)?(rateLimit|limit|quota)Exceeded|(RATE_LIMIT|QUOTA)_(EXCEEDED|EXHAUSTED))$/i;

const FOR_LONG = /per_?(day|week|month)|daily/i;
const FOR_NOW = /per_?(second|minute|hour)/i;
/** Words for an account that must pay first. Errors of a minute's quota mention billing as well. */
const UNPAID = /billing|credit|spending|prepa(y|id)|payment/i;

export function isAboutQuota({ reasons }: Pick<ApiError, 'reasons'>): boolean {
  return reasons.some((reason) => QUOTA_REASONS.test(reason));
}

/**
 * Whether a quota is free again soon. A day's quota is not, whatever the server says about when to come back; for the
 * rest the server's structured data counts for more than the prose around it.
 */
export function judgeQuota({ message, quotas, reasons, retryDelayMs }: ApiError): QuotaFacts {
  const names = quotaNames({ message, quotas, reasons });
  if (FOR_LONG.test(names)) {
    const hint = 'The quota is for a day or longer: try again later, raise it, or list a model.fallback.';
    return { retryable: false, hint };
  }
  if (/\blimit: 0(?![.\d])/.test(message)) {
    const hint = 'This account has no quota for the model: enable billing, or use another model.';
    return { retryable: false, hint };
  }
  if (FOR_NOW.test(names) || retryDelayMs !== undefined || !UNPAID.test(message)) return { retryable: true };
  return { retryable: false, hint: 'Check the plan and the billing of the project.' };
}

/** The server's names for the quota, wherever they are. */
function quotaNames({ message, quotas, reasons }: Pick<ApiError, 'message' | 'quotas' | 'reasons'>): string {
  return [...quotas, ...reasons, ...(message.match(/\w+_per_\w+/g) ?? [])].join(' ');
}

/** A shorter wait is not about a day's quota, whatever the error says. */
const LONG_MS = 5 * 60_000;
const DAY_S = 24 * 3600;

/** Milliseconds until a long quota is free again. A day's quota begins at midnight in California. */
export function resetMs(error: ApiError, now: Date): number | undefined {
  const { retryDelayMs = 0 } = error;
  if (retryDelayMs > LONG_MS) return retryDelayMs;
  if (!/per_?day|daily/i.test(quotaNames(error))) return undefined;
  const there = new Intl.DateTimeFormat('en-US', {
    timeZone: 'America/Los_Angeles',
    hourCycle: 'h23',
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  const [hours = 0, minutes = 0, seconds = 0] = there.format(now).split(':').map(Number);
  return (DAY_S - hours * 3600 - minutes * 60 - seconds) * 1000;
}
