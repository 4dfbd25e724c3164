import { attempt } from '../../lib/attempt.js';
import { compileSchema } from '../../lib/schema.js';
import { oneLine } from '../../lib/text.js';
import type { GateNews } from './regime.js';
import type { GateEvent } from '../journal/event.js';
import { GATE_SCHEMA } from '../journal/schema.js';

/** The journal's event for what a gate reports. */
export function gateEvent(
  account: string,
  { waitMs, requestsPerMinute, ...news }: GateNews,
  worker?: string,
): GateEvent {
  return {
    type: 'gate',
    account,
    ...news,
    ...(waitMs !== undefined && { wait_ms: Math.round(waitMs) }),
    ...(requestsPerMinute !== undefined && { requests_per_minute: requestsPerMinute }),
    ...(worker !== undefined && { worker }),
  };
}

const MAX_TEXT = 300;

/** A gate event that came through a queue; undefined if it is not one. */
export async function readGateEvent(text: string): Promise<GateEvent | undefined> {
  const said: unknown = attempt(() => JSON.parse(text));
  const [fault] = (await compileSchema(GATE_SCHEMA))(said);
  if (fault !== undefined) return undefined;
  const event = said as GateEvent;
  const { account, message, worker } = event;
  return {
    ...event,
    account: oneLine(account, MAX_TEXT),
    message: oneLine(message, MAX_TEXT),
    ...(worker !== undefined && { worker: oneLine(worker, MAX_TEXT) }),
  };
}
