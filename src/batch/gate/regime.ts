import type { RequestEnd } from '../../protocol/admission.js';

/** What is to be told of a gate that changed. */
export interface GateNews {
  readonly kind: 'rejected' | 'reopened' | 'grown' | 'closed';
  readonly message: string;
  readonly concurrency?: number;
  readonly requestsPerMinute?: number;
  readonly waitMs?: number;
}

/** A rule about when requests may be sent. Times are milliseconds of one clock, given by whoever asks. */
export interface Regime {
  /** From when on one more may be sent, if nothing comes back before. Infinity: not before something comes back. */
  earliest(now: number, inFlight: number): number;
  sent(now: number): void;
  settled(end: RequestEnd, now: number): GateNews | undefined;
}

/** The provider has refused a request because there were too many. */
export function isRejected({ failure }: RequestEnd): boolean {
  return failure?.class === 'quota';
}
