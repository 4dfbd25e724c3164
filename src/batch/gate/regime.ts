import type { RequestEnd } from '../../protocol/admission.js';

/** What to report about a gate that changed. */
export interface GateNews {
  readonly kind: 'rejected' | 'reopened' | 'grown' | 'closed';
  readonly message: string;
  readonly concurrency?: number;
  readonly requestsPerMinute?: number;
  readonly waitMs?: number;
}

/** A rule about when requests may be sent. Times are milliseconds of one clock, which the caller reads. */
export interface Regime {
  /** When the next request may be sent if none ends before. Infinity: not before one ends. */
  earliest(now: number, inFlight: number): number;
  sent(now: number): void;
  settled(end: RequestEnd, now: number): GateNews | undefined;
}

/** The provider has rejected a request because there were too many. */
export function isRejected({ failure }: RequestEnd): boolean {
  return failure?.class === 'quota';
}
