import type { LookupAddress } from 'node:dns';
import type { Resolve } from '../../lib/addresses.js';
import { formatDuration } from '../../lib/duration.js';

/** Lookups use threads that file access needs as well: most of them are left to that. */
const AT_A_TIME = 2;

/** Looks up few names at a time, and concurrent requests for a name only once. Nobody waits longer than `limitMs`. */
export function fewLookups(resolve: Resolve, limitMs: number): Resolve {
  const asked = new Map<string, Promise<readonly LookupAddress[]>>();
  const waiting: (() => void)[] = [];
  let running = 0;

  async function inTurn(host: string): Promise<readonly LookupAddress[]> {
    if (running === AT_A_TIME) await new Promise<void>((go) => waiting.push(go));
    else running++;
    try {
      return await resolve(host);
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  }

  return (host) => {
    let lookup = asked.get(host);
    if (!lookup) {
      lookup = inTurn(host).finally(() => asked.delete(host));
      asked.set(host, lookup);
    }
    return inTime(lookup, limitMs);
  };
}

function inTime<T>(work: Promise<T>, limitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`no answer within ${formatDuration(limitMs)}`));
    const timer = setTimeout(late, limitMs).unref();
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
