// Bosun beside other agents that are installed here, on the same scripted API: `npm run bench:peers`. Not part of any check.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startGeminiServer, text } from '../test/helpers/gemini-server.mjs';
import { measure, median } from './measure.mjs';

const RUNS = Number(process.env.BENCH_RUNS ?? 7);
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const report = (line) => void process.stdout.write(`${line}\n`);

/** Agents that take the address of a Gemini API from the environment, and a task from the command line. */
const PEERS = [
  { name: 'bare loop', command: (url) => [process.execPath, here('bare-loop.mjs'), url, 'go'] },
  {
    name: 'bosun --policy codemod',
    command: () => [
      process.execPath,
      here('../bin/bosun.js'),
      'run',
      '--policy',
      'codemod',
      '-m',
      'gemini-bench',
      '-p',
      'go',
    ],
  },
  { name: 'gemini', program: 'gemini', command: () => ['gemini', '-m', 'gemini-bench', '-p', 'go'] },
  {
    name: 'pi',
    program: 'pi',
    command: () => ['pi', '--provider', 'google', '--model', 'gemini-bench', '-p', 'go'],
  },
];

const root = mkdtempSync(join(tmpdir(), 'bosun-peers-'));
try {
  for (const peer of PEERS) await look(peer);
} finally {
  rmSync(root, { recursive: true, force: true });
}

async function look({ name, program, command }) {
  const version = program && versionOf(program);
  if (program && version === undefined) return report(`${name}: not installed`);
  const first = [];
  try {
    for (let i = 0; i < RUNS; i++) first.push(await firstRequest(command));
    report(`${name}${version ? ` ${version}` : ''}: ${median(first).toFixed(0)} ms to the first request`);
  } catch (error) {
    report(`${name} ${version ?? ''}: ${String(error.message).split('\n')[0].slice(0, 200)}`);
  }
}

async function firstRequest(command) {
  const cwd = mkdtempSync(join(root, 'run-'));
  const home = join(cwd, '.home');
  mkdirSync(home);
  writeFileSync(join(cwd, 'small.txt'), 'a small file\n');
  const server = await startGeminiServer(() => ({ parts: [text('done')] }), { keepBodies: false });
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    GEMINI_API_KEY: 'bench',
    GOOGLE_GEMINI_BASE_URL: server.url,
  };
  try {
    const { startedAt } = await measure(command(server.url), { cwd, env, memory: false });
    const [request] = server.requests;
    if (!request) throw new Error('it has sent no request to the scripted API');
    return request.receivedAt - startedAt;
  } finally {
    await server.close();
  }
}

function versionOf(program) {
  const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim().split('\n')[0] : undefined;
}
