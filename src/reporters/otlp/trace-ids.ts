import { sha256 } from '../../lib/ids.js';

/** Where the spans of a run belong. */
export interface TraceContext {
  readonly traceId: string;
  readonly traceState?: string;
  /** The span that started Bosun, if there is one. */
  readonly parentSpanId?: string;
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-|$)/;
const NOTHING = /^0+$/;

/** The trace that the environment names (W3C Trace Context), or one of the run's own. */
export function traceContext(
  runId: string,
  { TRACEPARENT: parent = '', TRACESTATE: state }: Readonly<Record<string, string | undefined>>,
): TraceContext {
  const [, traceId = '', parentSpanId = ''] = TRACEPARENT.exec(parent.trim().toLowerCase()) ?? [];
  const isGiven = traceId !== '' && !NOTHING.test(traceId) && !NOTHING.test(parentSpanId);
  if (!isGiven) return { traceId: idOf(runId, 32) };
  return { traceId, parentSpanId, ...(state && { traceState: state }) };
}

/** Always the same for a part of a run: what is sent again replaces what was sent. */
export function spanIdOf(runId: string, part: string): string {
  return idOf(`${runId} ${part}`, 16);
}

function idOf(text: string, digits: number): string {
  return sha256(text).slice(0, digits);
}
