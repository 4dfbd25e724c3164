import { errorMessage } from '../../lib/errors.js';
import { toJsonLine } from '../../lib/jsonl.js';
import type { Payload } from '../document.js';
import type { CollectorSettings } from './settings.js';

/** Sends everything at once. Throws one error that says what did not arrive; headers never appear in it. */
export async function sendPayloads(
  payloads: readonly Payload[],
  { urls, headers, timeoutMs }: CollectorSettings,
): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs);
  const faults = await Promise.all(
    payloads.map(async ({ signal: name, body }) => {
      const fault = await send(urls[name], toJsonLine(body), headers, signal);
      return fault === undefined ? [] : `${name}: ${fault}`;
    }),
  );
  const all = faults.flat();
  if (all.length > 0) throw new Error(all.join('; '));
}

async function send(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      signal,
      // Headers hold keys, which are meant for this server only.
      redirect: 'error',
    });
    await response.body?.cancel();
    return response.ok ? undefined : `the collector answered HTTP ${response.status}`;
  } catch (error) {
    if (signal.aborted) return 'the collector did not answer in time';
    const { cause } = error as { readonly cause?: unknown };
    return errorMessage(cause instanceof Error ? cause : error);
  }
}
