import { retryAfterMs } from '../../../providers/http/retry-after.js';
import type { Answer } from './answer.js';

/** GitHub asks for at least this if it does not say more. */
const UNSAID_MS = 60_000;

/** How long GitHub wants no more requests; undefined if an answer is not about that. */
export function limitedFor({ status, headers, body }: Answer): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const said = retryAfterMs(headers);
  if (said !== undefined) return said;
  const reset = Number(headers['x-ratelimit-reset']);
  if (headers['x-ratelimit-remaining'] === '0')
    return Number.isFinite(reset) ? Math.max(1000, reset * 1000 - Date.now()) : UNSAID_MS;
  const { message } = (body ?? {}) as { readonly message?: unknown };
  const isAbout = status === 429 || /rate limit|abuse detection/i.test(String(message));
  return isAbout ? UNSAID_MS : undefined;
}
