// What a queue costs a task: node bench/queue.mjs URL… (servers that are there for nothing else).
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { call, startGeminiServer, text } from '../test/helpers/gemini-server.mjs';

const require = createRequire(import.meta.url);
const print = (line) => process.stdout.write(`${line}\n`);
const bin = fileURLToPath(new URL('../bin/bosun.js', import.meta.url));
const TASKS = Number(process.env['BENCH_TASKS'] ?? 60);
const WAITING = Number(process.env['BENCH_WAITING'] ?? 10_000);
const WORKERS = 2;
const CONCURRENCY = 4;
const MORE_TURNS = 5;
const MANY_WORKERS = 4;
const MANY_CONCURRENCY = 16;
const WINDOW_MS = Number(process.env['BENCH_WINDOW_MS'] ?? 30_000);

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
let turnsOfTask = 1;
const model = await startGeminiServer(({ body }) => {
  const turn = (body?.contents ?? []).filter(({ role }) => role === 'model').length + 1;
  // Each call is another one: a model that repeats itself is stopped.
  return turn < turnsOfTask
    ? { parts: [call('list_directory', { path: '.', ignore: [`${turn}`] })] }
    : { parts: [text('done')] };
});
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
  const columns = [];
  for (const url of process.argv.slice(2)) {
    const server = await serverAt(url);
    // Right before, so that both have the same machine.
    const local = await paced(
      'local',
      batch(`local-${server.kind}`, TASKS, '--concurrency', `${WORKERS * CONCURRENCY}`),
    );
    print(
      `${server.kind}: ${local.toFixed(0)} ms a task without it (${TASKS} tasks, ${WORKERS * CONCURRENCY} at once, start included)`,
    );
    columns.push({
      kind: server.kind,
      local,
      ...(await costOfATask(server, url, local)),
      ...(await costOfWaiting(server, url)),
    });
    await server.close();
  }
  printPage(columns);
} finally {
  await model.close();
  rmSync(root, { recursive: true, force: true });
}

/** What docs/scale.md says, as it says it. */
function printPage(columns) {
  const row = (what, tell) => print(`| ${[what, ...columns.map(tell)].join(' | ')} |`);
  print('\nFor docs/scale.md:\n');
  row('measured', ({ kind }) => kind);
  row('---', () => '---');
  row('wall time per task of one request', ({ queued }) => `${queued.toFixed(0)} ms`);
  row('the same without a queue, right before', ({ local }) => `${local.toFixed(0)} ms`);
  row('server memory (disk) for a waiting task', ({ kb }) => `${kb.toFixed(1)} KB`);
  row('operations (transactions) per task', ({ perTask }) => perTask.toFixed(0));
  row('and for each request to the model', ({ perRequest }) => perRequest.toFixed(0));
  row(`${WAITING} tasks are in the queue after`, ({ filledS }) => `${filledS} s`);
  row(
    `${MANY_WORKERS} workers x ${MANY_CONCURRENCY}: tasks done in ${WINDOW_MS / 1000} s`,
    ({ done }) => done,
  );
  row('operations a second meanwhile', ({ perSecond }) => perSecond.toFixed(0));
  row('of a core by the server meanwhile', ({ core }) =>
    core === undefined ? '' : `${(core * 100).toFixed(0)} %`,
  );
}

/** Time against the same without a queue, and what the server does: for a task, and for each request more. */
async function costOfATask(server, url, local) {
  const stop = await startWorkers(server, url, WORKERS, CONCURRENCY);
  const operations = [];
  const facts = {};
  for (const turns of [1, MORE_TURNS]) {
    turnsOfTask = turns;
    const before = await server.operations();
    const queued = await paced('queue', batch(`${server.kind}-${turns}`, TASKS, '--queue', url));
    operations.push(((await server.operations()) - before) / TASKS);
    if (turns > 1) continue;
    facts.queued = queued;
    print(
      `${server.kind}: ${queued.toFixed(0)} ms a task, ${(queued - local).toFixed(0)} ms more than local`,
    );
  }
  turnsOfTask = 1;
  const [one, more] = operations;
  const each = (more - one) / (MORE_TURNS - 1);
  facts.perTask = one - each;
  facts.perRequest = each;
  print(
    `${server.kind}: ${(one - each).toFixed(1)} operations of the server a task, and ${each.toFixed(1)} a request`,
  );
  await stop();
  return facts;
}

/** Memory for each task that waits, and how fast workers get through many of them. */
async function costOfWaiting(server, url) {
  const empty = await server.memory();
  const started = performance.now();
  const waiting = batch(`waiting-${server.kind}`, WAITING, '--queue', url);
  await server.waiting(WAITING);
  const filledS = seconds(started);
  const kb = ((await server.memory()) - empty) / WAITING / 1024;
  print(
    `${server.kind}: ${WAITING} tasks are in the queue after ${filledS} s; ${kb.toFixed(2)} KB of the server for each`,
  );
  const stop = await startWorkers(server, url, MANY_WORKERS, MANY_CONCURRENCY);
  await server.cpu?.();
  const [from, before, used] = [performance.now(), await server.left(), await server.operations()];
  await new Promise((resolve) => setTimeout(resolve, WINDOW_MS));
  const done = before - (await server.left());
  const operations = (await server.operations()) - used;
  const cpu = await server.cpu?.();
  print(
    `${server.kind}: ${MANY_WORKERS} workers x ${MANY_CONCURRENCY} did ${done} of them in ${seconds(from)} s, ${(operations / done).toFixed(0)} operations a task${cpu === undefined ? '' : `, ${((cpu / Number(seconds(from))) * 100).toFixed(0)} % of a core by the server`}`,
  );
  const took = Number(seconds(from));
  const gone = ended(waiting);
  waiting.kill('SIGTERM');
  await stop();
  await gone;
  return {
    kb,
    filledS,
    done,
    perSecond: operations / took,
    core: cpu === undefined ? undefined : cpu / took,
  };
}

async function startWorkers(server, url, count, concurrency) {
  const workers = Array.from({ length: count }, () =>
    start(
      ...['worker', '--queue', url, '--repository', workspace],
      ...['--concurrency', `${concurrency}`, '--grace', '1s'],
    ),
  );
  await server.workers(count);
  return async () => {
    for (const worker of workers) worker.kill('SIGTERM');
    await Promise.all(workers.map(ended));
  };
}

function seconds(from) {
  return ((performance.now() - from) / 1000).toFixed(1);
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
    left: async () => (await queue.getWaitingCount()) + (await queue.getActiveCount()),
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
  let lastCpu = 0;
  const number = async (section, name) =>
    Number(new RegExp(`${name}:([\\d.]+)`).exec(await redis.info(section))?.[1]);
  return {
    memory: () => number('memory', 'used_memory'),
    operations: () => number('stats', 'total_commands_processed'),
    cpu: async () => {
      const used = async () => (await number('cpu', 'used_cpu_user')) + (await number('cpu', 'used_cpu_sys'));
      const before = lastCpu;
      lastCpu = await used();
      return lastCpu - before;
    },
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
