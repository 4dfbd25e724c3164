import { isDeeperThan, MAX_DEPTH } from '../../lib/depth.js';
import type { JSONRPCMessage, Transport } from './sdk.js';

/** What a server may send: this many messages at once, and this many more every second. */
interface Allowance {
  readonly burst: number;
  readonly perSecond: number;
}

/** Answers and progress messages are far below. */
const MESSAGES: Allowance = { burst: 20_000, perSecond: 1000 };
/** Each must be answered. */
const REQUESTS: Allowance = { burst: 100, perSecond: 10 };

/**
 * Sits between a server and the reader of its messages. One that sends more than anyone can need is reported, once,
 * and then ignored; what is nested too deep to process is replaced by an error.
 */
export function guardedTransport(transport: Transport, onFlood: (what: string) => void): Transport {
  const admitsMessage = meter(MESSAGES);
  const admitsRequest = meter(REQUESTS);
  let read: Transport['onmessage'];
  let isFlood = false;

  const onmessage: Transport['onmessage'] = (message, extra) => {
    if (isFlood) return;
    const isRequest = 'id' in message && 'method' in message;
    if (!admitsMessage() || (isRequest && !admitsRequest())) {
      isFlood = true;
      onFlood(isRequest ? 'it sent too many requests' : 'it sent too many messages');
    } else if (!isDeeperThan(message, MAX_DEPTH)) read?.(message, extra);
    else if ('id' in message && !isRequest) read?.(tooDeep(message.id as string), extra);
  };
  Object.assign(transport, { onmessage });
  return new Proxy(transport, {
    get(target, key) {
      if (key === 'onmessage') return read;
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
    set(target, key, value) {
      if (key !== 'onmessage') return Reflect.set(target, key, value);
      read = value as Transport['onmessage'];
      return true;
    },
  });
}

function tooDeep(id: string | number): JSONRPCMessage {
  const message = `its answer is nested deeper than ${MAX_DEPTH} levels`;
  return { jsonrpc: '2.0', id, error: { code: -32_000, message } };
}

function meter({ burst, perSecond }: Allowance): () => boolean {
  let left = burst;
  let last = performance.now();
  return () => {
    const now = performance.now();
    left = Math.min(burst, left + ((now - last) * perSecond) / 1000) - 1;
    last = now;
    return left >= 0;
  };
}
