import { createHash } from 'node:crypto';
import type { QueueAddress } from './address.js';
import { LEDGER_LUA } from './ledger.lua.js';
import type { LedgerServer } from './ledger.js';
import { loadRedis } from './library.js';

/** All keys are in one slot, so that clusters work, too. */
export const PREFIX = '{bosun}';

const LONGEST_RETRY_MS = 2000;
const CONNECT_MS = 10_000;

/** How a connection behaves: it reconnects by itself as long as it is needed. */
export function redisOptions({ url }: QueueAddress) {
  return {
    url,
    connectTimeout: CONNECT_MS,
    maxRetriesPerRequest: null,
    retryStrategy: (times: number) => Math.min(LONGEST_RETRY_MS, 100 * 2 ** Math.min(times, 8)),
  };
}

/** The ledger as a script on Redis. */
export async function redisLedger(
  address: QueueAddress,
  onError: (error: Error) => void,
): Promise<LedgerServer> {
  const { Redis } = await loadRedis();
  const { url, ...options } = redisOptions(address);
  const redis = new Redis(url, { ...options, lazyConnect: true });
  redis.on('error', onError);
  const hash = createHash('sha1').update(LEDGER_LUA).digest('hex');
  await redis.connect().catch((error: unknown) => {
    redis.disconnect();
    throw error;
  });
  return {
    async call(batch, words) {
      const own = ['batch', 'holds', 'tasks', 'finished'].map((name) => `${PREFIX}:${name}:${batch}`);
      const keys = [...own, `${PREFIX}:workers`, `${PREFIX}:batches`];
      const found = await redis.evalsha(hash, keys.length, ...keys, ...words).catch((error: Error) => {
        if (!error.message.startsWith('NOSCRIPT')) throw error;
        return redis.eval(LEDGER_LUA, keys.length, ...keys, ...words);
      });
      return (found as unknown[]).flat().map(String);
    },
    async close() {
      redis.disconnect();
    },
  };
}
