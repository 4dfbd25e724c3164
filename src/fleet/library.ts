import type * as BullMQ from 'bullmq';
import type * as IORedis from 'ioredis';
import type * as Pg from 'pg';
import { errorCode } from '../lib/errors.js';
import { configProblem } from '../protocol/problem.js';
import type { QueueAddress } from './address.js';

export type Bull = typeof BullMQ;
export type RedisLibrary = typeof IORedis;
export type PostgresLibrary = typeof Pg;

const CLIENTS = { redis: 'ioredis', postgres: 'pg' } as const;

/** BullMQ. Its build for `import` does not load in Node, the other one does. */
export function loadBull({ kind }: QueueAddress): Promise<Bull> {
  return load(kind, async () => wholeModule(await import('bullmq')));
}

export function loadRedis(): Promise<RedisLibrary> {
  return load('redis', async () => wholeModule(await import('ioredis')));
}

export function loadPostgres(): Promise<PostgresLibrary> {
  return load('postgres', async () => wholeModule(await import('pg')));
}

/** What a CommonJS module exports, however it was loaded. */
function wholeModule<T extends object>(module: T): T {
  return (module as { default?: T }).default ?? module;
}

/** Few users need queues: they install what that takes. */
async function load<T>(kind: QueueAddress['kind'], importing: () => Promise<T>): Promise<T> {
  try {
    return await importing();
  } catch (error) {
    if (!['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes(errorCode(error) ?? '')) throw error;
    throw configProblem('queue', 'queues need packages that are not installed', {
      hint: `Install them next to bosun: npm install bullmq@6 ${CLIENTS[kind]}`,
      cause: error,
    });
  }
}
