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

/** What the tools for the web need of the run. */
export interface WebSettings {
  readonly network: NetworkGuard;
  /** The provider's own way to the web, if it has one. */
  readonly ground: Ground | undefined;
  readonly userAgent: string;
  /** Characters of output that the model gets at most. */
  readonly outputCap: number;
  readonly limits?: FetchLimits;
  /** How names become addresses; the system's way unless given. */
  readonly resolve?: Resolve;
}

/** For tools that are only described and judged, never run. */
export const NO_WEB: WebSettings = {
  network: { fault: () => 'there is no network here', allowsPrivate: () => false },
  ground: undefined,
  userAgent: 'bosun',
  outputCap: 0,
};
