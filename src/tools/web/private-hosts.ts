import { isIP } from 'node:net';
import { systemResolve } from '../../lib/addresses.js';
import { specialRange } from '../../lib/ip-address.js';
import { orAbort } from '../../lib/or-abort.js';
import type { WebSettings } from './settings.js';

/** Names that no public server has (RFC 6761, 6762, 8375, and what ICANN reserves for private networks). */
const PRIVATE_NAME = /(^|\.)(localhost|local|internal|intranet|lan|corp|home|home\.arpa|test)$/;
/** A name server that does not answer may not delay a fetch. */
const LOOKUP_MS = 2000;

/** Whether one of them is on a private network: a provider could not get there, and need not know of it. */
export async function anyPrivate(
  urls: readonly URL[],
  { resolve = systemResolve }: Pick<WebSettings, 'resolve'>,
  signal: AbortSignal,
): Promise<boolean> {
  const hosts = [...new Set(urls.map(({ hostname }) => hostname.replace(/^\[|\]$|\.$/g, '')))];
  const time = AbortSignal.any([signal, AbortSignal.timeout(LOOKUP_MS)]);
  const found = await Promise.all(hosts.map((host) => isPrivate(host, resolve, time)));
  return found.includes(true);
}

async function isPrivate(
  host: string,
  resolve: NonNullable<WebSettings['resolve']>,
  signal: AbortSignal,
): Promise<boolean> {
  if (isIP(host) > 0) return specialRange(host) !== undefined;
  if (!host.includes('.') || PRIVATE_NAME.test(host)) return true;
  try {
    const addresses = await orAbort(resolve(host), signal);
    return addresses.some(({ address }) => specialRange(address) !== undefined);
  } catch {
    // We cannot resolve the name; the provider may.
    return false;
  }
}
