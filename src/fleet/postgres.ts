import type { QueueAddress } from './address.js';
import { LEDGER_SQL, LEDGER_VERSION } from './ledger.sql.js';
import type { LedgerServer } from './ledger.js';
import { loadPostgres } from './library.js';
import type { ServerClock } from './server-clock.js';

const CONNECT_MS = 10_000;
/** Any number, equal for all: decides who creates the tables first. */
const SETUP_LOCK = 7_203_511_402;

/** How BullMQ reaches the server; it creates its tables itself. */
export function postgresOptions({ url }: QueueAddress, most: number) {
  return {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: 'bosun',
    migrate: true,
    max: most,
  };
}

/** The ledger as a function on PostgreSQL. */
export async function postgresLedger(
  address: QueueAddress,
  onError: (error: Error) => void,
  clock: ServerClock,
): Promise<LedgerServer> {
  const { Pool } = await loadPostgres();
  const { migrate: _migrate, ...options } = postgresOptions(address, 4);
  const pool = new Pool(options);
  pool.on('error', onError);
  const client = await pool.connect().catch(async (error: unknown) => {
    await pool.end();
    throw error;
  });
  try {
    await client.query('SELECT pg_advisory_lock($1)', [SETUP_LOCK]);
    const { rows } = await client
      .query<{ version: number }>('SELECT bosun.version() AS version')
      .catch(() => ({ rows: [] }));
    if (rows[0]?.version !== LEDGER_VERSION) await client.query(LEDGER_SQL);
    await hearTime(client, clock);
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [SETUP_LOCK]).catch(() => {});
    client.release();
  }
  return {
    async call(batch, words) {
      // Clocks may be set while a worker is running.
      if (words[0] === 'beat') await hearTime(pool, clock);
      const { rows } = await pool.query<{ found: string[] }>('SELECT bosun.ledger($1, $2) AS found', [
        `batch ${batch}`,
        words,
      ]);
      return rows[0]?.found ?? [];
    },
    close: () => pool.end(),
  };
}

async function hearTime(
  client: { query(sql: string): Promise<{ rows: { now: string }[] }> },
  clock: ServerClock,
): Promise<void> {
  const askedAt = Date.now();
  const { rows } = await client.query('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now');
  clock.heard(Number(rows[0]?.now), askedAt);
}
