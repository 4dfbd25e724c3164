import type { IncomingHttpHeaders } from 'node:http';

/** How long a server wants us to wait, in milliseconds; undefined if it does not say so clearly. */
export function retryAfterMs(headers: IncomingHttpHeaders, now = Date.now()): number | undefined {
  const exact = numberIn(headers['retry-after-ms']);
  if (exact !== undefined) return exact;
  const said = headers['retry-after']?.trim();
  if (!said) return usedUpFor(headers);
  const seconds = numberIn(said);
  if (seconds !== undefined) return seconds * 1000;
  const date = said.endsWith(' GMT') ? Date.parse(said) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function numberIn(value: string | string[] | undefined): number | undefined {
  return typeof value === 'string' && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : undefined;
}

/** OpenAI says when each of its two counters is full again; it matters only for one that is used up. */
function usedUpFor(headers: IncomingHttpHeaders): number | undefined {
  const waits = ['requests', 'tokens'].flatMap((counter) =>
    numberIn(headers[`x-ratelimit-remaining-${counter}`]) === 0
      ? (durationMs(headers[`x-ratelimit-reset-${counter}`]) ?? [])
      : [],
  );
  return waits.length > 0 ? Math.max(...waits) : undefined;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `1s`, `6m0s`, `17ms`, `1h2m3.5s`. A number without a unit may be anything. */
function durationMs(value: string | string[] | undefined): number | undefined {
  if (typeof value !== 'string' || !/^(\d+(\.\d+)?(ms|[smhd]))+$/.test(value)) return undefined;
  let sum = 0;
  for (const [, amount, unit = ''] of value.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)) {
    sum += Number(amount) * (UNITS[unit] ?? 0);
  }
  return sum;
}
