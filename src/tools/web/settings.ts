import type { NetworkGuard } from '../../protocol/decision.js';
import type { Ground } from '../../protocol/provider.js';
import type { Resolve } from '../../lib/addresses.js';

export interface FetchLimits {
  /** For one URL with all its redirects. */
  readonly timeMs: number;
  /** Of a body, before and after it is unpacked. */
  readonly bodyBytes: number;
  readonly redirects: number;
}

export const FETCH_LIMITS: FetchLimits = { timeMs: 30_000, bodyBytes: 10 * 1024 * 1024, redirects: 10 };

/** What the web tools need from the run. */
export interface WebSettings {
  readonly network: NetworkGuard;
  /** The provider's own web access, if it has any. */
  readonly ground: Ground | undefined;
  readonly userAgent: string;
  /** The most characters of output that the model gets. */
  readonly outputCap: number;
  readonly limits?: FetchLimits;
  /** How names are resolved; the system's way unless given. */
  readonly resolve?: Resolve;
}

/** For tools that are only described and judged, never run. */
export const NO_WEB: WebSettings = {
  network: { fault: () => 'there is no network here', allowsPrivate: () => false },
  ground: undefined,
  userAgent: 'bosun',
  outputCap: 0,
};
