// Runs inside a stage (stage.sh): plays one scenario against the real Bosun and tells what came of it. The scenario
// comes as JSON on stdin, the report goes to stdout.
import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { startGeminiServer } from '../gemini-server.mjs';
import { bytesOf, changes, leaks, snapshot } from './evidence.mjs';
import { handOver, openServices, ORDINARY, plant, put, WORKSPACE } from './world.mjs';

const REPOSITORY = join(import.meta.dirname, '../../..');
const BIN = join(REPOSITORY, 'bin/bosun.js');
const PATIENCE_MS = 60_000;

/**
 * @param {readonly string[]} args
 * @param {Record<string, string>} env
 * @param {'root' | 'ordinary' | 'foreign'} user
 */
async function bosun(args, env, user) {
  const who = user === 'ordinary' ? { uid: ORDINARY, gid: ORDINARY } : {};
  // In case a fork bomb is not stopped by what should stop it. (There is no such limit for root.)
  const child = spawn('prlimit', ['--nproc=600', process.execPath, BIN, ...args], {
    cwd: WORKSPACE,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
    ...who,
  });
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  const [stdout, stderr, end] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { ...end, stdout, stderr };
}

/** Everyone but us who is still alive, after a moment to end. */
async function leftovers() {
  for (let tries = 0; ; tries++) {
    const alive = readdirSync('/proc').flatMap((name) =>
      /^\d+$/.test(name) && name !== '1' ? told(name) : [],
    );
    if (alive.length === 0 || tries > 150) return alive;
    await wait(20);
  }
}

/** @param {string} pid */
function told(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const state = stat.slice(stat.lastIndexOf(')') + 2)[0];
    return state === 'Z' || state === 'X'
      ? []
      : [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
  } catch {
    return [];
  }
}

/** Requests as they were sent, but for the one place where the key belongs. */
function sentBytes(/** @type {import('../gemini-server.mjs').LoggedRequest} */ { url, headers, raw }) {
  const { 'x-goog-api-key': _, ...rest } = headers;
  return Buffer.from(`${url}\n${JSON.stringify(rest)}\n${raw}`);
}

/** @param {string} folder @returns {string[]} */
function transcripts(folder) {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true });
  return names
    .filter(({ name }) => name === 'transcript.jsonl' || name === 't.jsonl')
    .map((entry) => join(entry.parentPath, entry.name));
}

async function play() {
  const { user, files, prepare, policy, script, args, env, after } = JSON.parse(await text(process.stdin));
  const { canaries, environment } = plant();
  for (const [name, content] of Object.entries(files))
    put(name, content.replaceAll('<GITHUB_TOKEN>', environment['GITHUB_TOKEN']));
  if (policy !== undefined) put('policy.yaml', policy);
  const shell = (/** @type {string} */ command) =>
    execFileSync('sh', ['-euc', command], { cwd: WORKSPACE, env: environment, encoding: 'utf8' });
  shell(prepare);
  const connections = await openServices(canaries);
  handOver(user);
  const before = snapshot(REPOSITORY);

  const server = await startGeminiServer(script);
  const variables = { ...environment, GOOGLE_GEMINI_BASE_URL: server.url, ...env };
  const end = await bosun(['run', '-m', 'gemini-test', '-p', 'do it', ...args], variables, user);
  const left = await leftovers();
  const now = snapshot(REPOSITORY);
  const { made, changed, gone } = changes(before, now);

  const [transcript = ''] = transcripts(WORKSPACE);
  const places = [
    { where: 'stdout', bytes: Buffer.from(end.stdout) },
    { where: 'stderr', bytes: Buffer.from(end.stderr) },
    ...server.requests.map((request, i) => ({ where: `request ${i}`, bytes: sentBytes(request) })),
    ...[...made, ...changed].map((path) => ({ where: path, bytes: bytesOf(path) })),
  ];
  return {
    ...end,
    leaks: leaks(canaries, places),
    made,
    changed,
    gone,
    left,
    connections,
    transcript: transcript && readFileSync(transcript, 'base64'),
    requests: server.requests.length,
    after: after === undefined ? '' : shell(after),
  };
}

const report = JSON.stringify(await play());
process.stdout.write(report, () => process.exit(0));
