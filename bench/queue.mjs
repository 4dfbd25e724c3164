// What a queue costs a task: node bench/queue.mjs URL… (servers that are there for nothing else).
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startGeminiServer, text } from '../test/helpers/gemini-server.mjs';

const require = createRequire(import.meta.url);
const print = (line) => process.stdout.write(`${line}\n`);
const bin = fileURLToPath(new URL('../bin/bosun.js', import.meta.url));
const TASKS = Number(process.env['BENCH_TASKS'] ?? 60);
const WAITING = Number(process.env['BENCH_WAITING'] ?? 2000);
const WORKERS = 2;
const CONCURRENCY = 4;

const root = mkdtempSync(join(tmpdir(), 'bosun-bench-'));
const workspace = join(root, 'workspace');
mkdirSync(workspace);
writeFileSync(join(workspace, 'a.txt'), 'a\n');
const git = (...args) =>
  execFileSync('git', ['-c', 'user.name=b', '-c', 'user.email=b@example.org', ...args], { cwd: workspace });
git('init', '-q');
git('add', '-A');
git('commit', '-qm', 'all');
const tasksOf = (count) => {
  const file = join(root, `${count}.jsonl`);
  writeFileSync(
    file,
    Array.from({ length: count }, (_, i) => JSON.stringify({ id: `t${i}`, n: `${i}` })).join('\n'),
  );
  return file;
};
const model = await startGeminiServer(() => ({ parts: [text('done')] }), { keepBodies: false });
const env = {
  PATH: process.env['PATH'],
  HOME: root,
  GEMINI_API_KEY: 'bench-key-0123456789',
  GOOGLE_GEMINI_BASE_URL: model.url,
};
const start = (...args) => spawn(process.execPath, [bin, ...args], { cwd: root, env, stdio: 'ignore' });
const ended = (child) => new Promise((resolve) => child.once('exit', resolve));
const batch = (name, count, ...more) =>
  start(
    'batch',
    'run',
    '-p',
    'Say {{n}}',
    '--tasks',
    tasksOf(count),
    '--name',
    name,
    '-C',
    workspace,
    '--policy',
    'read-only',
    '-m',
    'gemini-2.5-flash',
    '--isolation',
    'clone',
    '--out',
    join(root, name),
    ...more,
  );

/** Milliseconds from the first to the last end of a task, per task. */
async function paced(name, run) {
  const started = performance.now();
  const code = await ended(run);
  if (code !== 0) throw new Error(`${name} ended with ${code}`);
  return (performance.now() - started) / TASKS;
}

try {
  const local = await paced('local', batch('local', TASKS, '--concurrency', `${WORKERS * CONCURRENCY}`));
  print(
    `local: ${local.toFixed(0)} ms a task (${TASKS} tasks, ${WORKERS * CONCURRENCY} at once, start included)`,
  );
  for (const url of process.argv.slice(2)) {
    const server = await serverAt(url);
    const workers = Array.from({ length: WORKERS }, () =>
      start('worker', '--queue', url, '--repository', workspace, '--concurrency', `${CONCURRENCY}`),
    );
    await server.workers(WORKERS);
    const before = await server.operations();
    const queued = await paced('queue', batch(`queue-${server.kind}`, TASKS, '--queue', url));
    const operations = (await server.operations()) - before;
    for (const worker of workers) worker.kill('SIGTERM');
    await Promise.all(workers.map(ended));
    print(
      `${server.kind}: ${queued.toFixed(0)} ms a task, ${(queued - local).toFixed(0)} ms more than local; ${(operations / TASKS).toFixed(0)} operations of the server a task`,
    );
    const empty = await server.memory();
    const waiting = batch(`waiting-${server.kind}`, WAITING, '--queue', url);
    await server.waiting(WAITING);
    print(
      `${server.kind}: ${(((await server.memory()) - empty) / WAITING / 1024).toFixed(2)} KB of the server for each of ${WAITING} waiting tasks`,
    );
    waiting.kill('SIGTERM');
    await ended(waiting);
    await server.close();
  }
} finally {
  await model.close();
  rmSync(root, { recursive: true, force: true });
}

async function serverAt(url) {
  const { Queue, createPostgresBackend } = require('bullmq');
  const isRedis = url.startsWith('redis');
  const queue = isRedis
    ? new Queue('bosun-tasks', { connection: { url }, prefix: '{bosun}' })
    : new Queue(
        'bosun-tasks',
        { connection: { connectionString: url, migrate: true }, prefix: '{bosun}' },
        createPostgresBackend,
      );
  const own = isRedis ? redisFacts(url) : postgresFacts(url);
  const until = async (condition) => {
    while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  return {
    kind: isRedis ? 'redis' : 'postgres',
    ...own,
    workers: (count) => until(async () => (await queue.getWorkersCount()) >= count),
    waiting: (count) => until(async () => (await queue.getWaitingCount()) >= count),
    close: async () => {
      await queue.obliterate({ force: true });
      await queue.close();
      await own.close();
    },
  };
}

function redisFacts(url) {
  const { Redis } = require('ioredis');
  const redis = new Redis(url);
  const number = async (section, name) =>
    Number(new RegExp(`${name}:(\\d+)`).exec(await redis.info(section))?.[1]);
  return {
    memory: () => number('memory', 'used_memory'),
    operations: () => number('stats', 'total_commands_processed'),
    close: async () => redis.disconnect(),
  };
}

function postgresFacts(url) {
  const { Pool } = require('pg');
  const pool = new Pool({ connectionString: url });
  const number = async (sql) => Number((await pool.query(`SELECT ${sql} AS n`)).rows[0].n);
  return {
    memory: () => number('pg_database_size(current_database())'),
    operations: () => number('(SELECT xact_commit FROM pg_stat_database WHERE datname = current_database())'),
    close: () => pool.end(),
  };
}
