// What a batch costs beside the least that does the same: `npm run bench:batch [-- FILTER] [--check]`.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { measure } from './measure.mjs';
import { isMissed, tableOf } from './table.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const BOSUN = [process.execPath, here('../bin/bosun.js')];
const isCheck = process.argv.includes('--check');
const filter = process.argv.slice(2).find((word) => !word.startsWith('-')) ?? '';
const runs = Number(process.env.BENCH_RUNS ?? 3);
const MB = 1024;

const root = mkdtempSync(join(tmpdir(), 'bosun-bench-batch-'));
const rows = [];
let places = 0;
const SCENARIOS = {
  'throughput 20 ms': () => throughput(20, { target: 2 }),
  'throughput 500 ms': () => throughput(500, { target: 1.1 }),
  'gate declared': () => gate('rate: {requests_per_minute: 120}', { rejected: 0, time: 1.05 }),
  'gate adaptive': () => gate('', { rejected: 8, time: 1.25 }),
  'finished tasks': finished,
  workspaces,
};

try {
  for (const [name, run] of Object.entries(SCENARIOS)) if (name.includes(filter)) await run();
} finally {
  rmSync(root, { recursive: true, force: true });
}
process.stdout.write(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}\n${tableOf(rows)}`);
if (isCheck && rows.some(isMissed)) process.exitCode = 1;

/** 1,000 tasks of three turns, 64 at once, by turns with the bare loop. */
async function throughput(delayMs, { target }) {
  const tasks = Number(process.env.BENCH_TASKS ?? 1000);
  const samples = { bare: [], bosun: [] };
  for (let i = 0; i < runs; i++) {
    const server = await startServer({ turns: 3, delayMs });
    const { workspace, env, file } = place(server, list(tasks), 'concurrency: 64');
    const bare = [
      process.execPath,
      here('bare-batch.mjs'),
      server.url,
      tasks,
      64,
      join(workspace, 'bare.jsonl'),
    ];
    samples.bare.push(await measure(bare.map(String), { cwd: workspace, env }));
    samples.bosun.push(await measure(batch(workspace, file), { cwd: workspace, env }));
    server.end();
  }
  const best = (side, field) => Math.min(...samples[side].map((one) => one[field]));
  const what = `${tasks} tasks x 3 turns at ${delayMs} ms, 64 at once`;
  const cpu = best('bosun', 'cpu') / best('bare', 'cpu');
  rows.push({
    what: `${what}: time`,
    bare: best('bare', 'ms'),
    bosun: best('bosun', 'ms'),
    unit: 'ms',
    cpu,
    target,
  });
  const memory = (side) => best(side, 'own') / MB;
  rows.push({ what: `${what}: memory`, bare: memory('bare'), bosun: memory('bosun'), unit: 'MB', most: 250 });
}

/** 24 tasks of five turns, 12 at once, against a quota of ten requests in five seconds: 60 seconds at best. */
async function gate(rate, { rejected: most, time: target }) {
  const quota = { requests: 10, windowMs: 5000 };
  const server = await startServer({ turns: 5, delayMs: 200, quota });
  const { workspace, env, file } = place(server, list(24), `concurrency: 12\n${rate}`);
  const { ms } = await measure(batch(workspace, file), { cwd: workspace, env, memory: false });
  const { total, rejected } = await server.ask();
  server.end();
  const what = `24 tasks x 5 turns, quota 10 in 5 s, ${rate ? 'declared' : 'adaptive'}`;
  rows.push({ what: `${what}: time`, bare: 60, bosun: ms / 1000, unit: 's', target });
  rows.push({ what: `${what}: rejected`, bare: 100, bosun: (100 * rejected) / total, unit: '%', most });
}

/** What it takes to see that 10,000 tasks are done. */
async function finished() {
  const tasks = 10_000;
  const server = await startServer({});
  const { workspace, env, file, out } = place(server, list(tasks), 'limits: {tokens: 0}');
  // Its tasks are known then, and none of them has begun.
  await measure(batch(workspace, file), { cwd: workspace, env, memory: false }).catch(() => {});
  writeFileSync(file, readFileSync(file, 'utf8').replace('limits: {tokens: 0}', ''));
  finishAll(out);
  const samples = { status: [], rerun: [] };
  for (let i = 0; i < runs; i++) {
    const options = { cwd: workspace, env, memory: false };
    samples.status.push((await measure([...BOSUN, 'batch', 'status', out], options)).ms);
    samples.rerun.push((await measure(batch(workspace, file), options)).ms);
  }
  const { total } = await server.ask();
  server.end();
  if (total > 0) throw new Error(`${total} tasks were not taken for finished`);
  for (const [name, times] of Object.entries(samples))
    rows.push({
      ...{ what: `10,000 finished tasks: ${name}`, bare: 1500, bosun: Math.min(...times), unit: 'ms' },
      most: 1500,
    });
}

/** Writes what a journal says of tasks that were completed. */
function finishAll(out) {
  const journal = join(out, 'journal.jsonl');
  const lines = readFileSync(journal, 'utf8').trimEnd().split('\n');
  const { tasks, batch_id } = JSON.parse(readFileSync(join(out, 'batch.json'), 'utf8'));
  const hash = (text) => createHash('sha256').update(text).digest('hex');
  const more = [];
  const add = (event) => {
    const seq = lines.length + more.length;
    const timestamp = new Date().toISOString();
    const prev = hash(more.at(-1) ?? lines.at(-1));
    more.push(JSON.stringify({ v: 1, seq, timestamp, batch_id, ...event, prev }));
  };
  for (const { id, key } of tasks) {
    const transcript = `tasks/${id}/1/transcript.jsonl`;
    const common = { id, key, attempt: 1 };
    add({ type: 'task_start', ...common, parts: {}, resumed: false, transcript });
    add({
      ...{ type: 'task_end', ...common, ended: true, status: 'completed', exit_code: 0, reason: null },
      ...{ response: 'It says nothing new.', patch: null, transcript, cost_usd: 0.001, tokens: 330 },
      ...{ turns: 3, duration_ms: 100, waited_ms: 0, requests: 3 },
    });
  }
  appendFileSync(journal, `${more.join('\n')}\n`);
}

/** 50 clones of a repository with 6,000 files, beside those that git makes by itself, one after the other. */
async function workspaces() {
  const clones = Number(process.env.BENCH_CLONES ?? 50);
  const rounds = Math.min(runs, 2);
  const server = await startServer({ hang: true });
  const source = join(root, 'source');
  await makeRepository(source, 6000);
  const samples = { bare: [], bosun: [] };
  for (let i = 0; i < rounds; i++) {
    const { env, file, out } = place(server, list(clones), held(clones), 'codemod');
    const bare = join(root, `clones-${i}`);
    const one = (n) => `git clone --quiet --shared ${source} ${bare}/${n}`;
    const script = Array.from({ length: clones }, (_, n) => one(n)).join(' && ');
    await settle();
    samples.bare.push((await measure(['bash', '-c', script], { env, memory: false })).ms);
    // Nothing is removed in between: ext4 without a journal passes over what was deleted in the last minutes, one by one.
    await settle();
    samples.bosun.push(await untilAllHaveBegun(batch(source, file, out), out, clones, env));
  }
  server.end();
  rows.push({
    ...{ what: `${clones} workspaces of 6,000 files, best of ${rounds}`, unit: 'ms', target: 1.3 },
    ...{ bare: Math.min(...samples.bare), bosun: Math.min(...samples.bosun) },
  });
}

/** What runs do in their workspaces is no part of making those: setup keeps them from beginning. */
function held(concurrency) {
  return `concurrency: ${concurrency}\nworkspace: {setup: ["sleep 3600"]}`;
}

/** Neither side waits for what the other has left to the disk. */
function settle() {
  return measure(['sync'], { memory: false });
}

function makeRepository(path, files) {
  const git = (...args) =>
    measure(['git', '-C', path, '-c', 'user.name=b', '-c', 'user.email=b@example.org', ...args]);
  for (let i = 0; i < files; i++) {
    const folder = join(path, `package-${i % 60}`, 'src');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `module-${i}.ts`), `export const value${i} = ${i};\n`.repeat(20));
  }
  return git('init', '--quiet')
    .then(() => git('add', '-A'))
    .then(() => git('commit', '--quiet', '-m', 'all'));
}

/** From the first to the last workspace: by then all have one, and none was used again. */
async function untilAllHaveBegun(command, out, count, env) {
  const child = spawn(command[0], command.slice(1), { env, stdio: 'ignore' });
  const journal = join(out, 'journal.jsonl');
  let events = [];
  while (events.filter(({ type }) => type === 'task_start').length < count && child.exitCode === null) {
    await wait(50);
    if (!existsSync(journal)) continue;
    const lines = readFileSync(journal, 'utf8').split('\n').slice(0, -1);
    events = lines.map((line) => JSON.parse(line));
  }
  child.kill('SIGTERM');
  if (child.exitCode === null) await once(child, 'close');
  const times = events.map(({ timestamp }) => Date.parse(timestamp));
  return times.at(-1) - times[0];
}

function list(count) {
  return Array.from({ length: count }, (_, i) => `{"id":"task-${i}","n":${i}}`).join('\n');
}

/** A workspace, and beside it a batch for these tasks. */
function place(server, tasks, more, policy = 'read-only') {
  const folder = join(root, `place-${++places}`);
  const workspace = join(folder, 'workspace');
  const [file, out] = [join(folder, 'batch.yaml'), join(folder, 'out')];
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, 'note.txt'), 'Nothing new.\n');
  writeFileSync(join(folder, 'tasks.jsonl'), `${tasks}\n`);
  writeFileSync(
    file,
    `version: 1\nname: bench\nprompt: Look at task {{n}}.\ntasks: {file: tasks.jsonl}\npolicy: ${policy}\n${more}\n`,
  );
  const env = {
    ...{ PATH: process.env.PATH ?? '', HOME: root, GEMINI_API_KEY: 'bench' },
    GOOGLE_GEMINI_BASE_URL: server.url,
  };
  return { workspace, file, out, env };
}

function batch(workspace, file, out = join(file, '..', 'out')) {
  return [...BOSUN, 'batch', 'run', file, '-C', workspace, '--out', out, '-m', 'gemini-2.5-flash', '--quiet'];
}

async function startServer(settings) {
  const child = fork(here('batch-server.mjs'), [JSON.stringify(settings)]);
  const next = () => new Promise((resolve) => child.once('message', resolve));
  const { url } = await next();
  return {
    url,
    ask: () => {
      child.send('count');
      return next();
    },
    end: () => child.send('end'),
  };
}
