// Bosun beside other agents that are installed here, on the same scripted model: `npm run bench:peers`. Part of no check.
// They are looked for on the PATH, and before that in the folders that BENCH_PEERS names, such as node_modules/.bin.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { cpus, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { measure, median } from './measure.mjs';
import { startPeerServer } from './peer-server.mjs';

const RUNS = Number(process.env.BENCH_RUNS ?? 7);
const PATH = [process.env.BENCH_PEERS, process.env.PATH, dirname(process.execPath)]
  .filter(Boolean)
  .join(delimiter);
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const report = (line) => void process.stdout.write(`${line}\n`);
const BOSUN = [process.execPath, here('../bin/bosun.js'), 'run', '-m', 'gemini-bench', '-p', 'go'];

/** How each is given a task, and pointed at the scripted model. Without a program it is always there. */
const PEERS = [
  { name: 'bare loop', command: (url) => [process.execPath, here('bare-loop.mjs'), url, 'go'] },
  { name: 'bosun', command: () => BOSUN },
  { name: 'bosun --policy codemod', command: () => [...BOSUN, '--policy', 'codemod'] },
  {
    name: 'codex exec',
    program: 'codex',
    command: (url) => [
      ...['codex', 'exec', '--skip-git-repo-check', '--ephemeral', '-m', 'bench'],
      ...['-c', 'model_provider="bench"'],
      '-c',
      `model_providers.bench={name="bench",base_url="${url}/v1",env_key="BENCH_KEY",wire_api="responses"}`,
      'go',
    ],
  },
  {
    name: 'pi -p',
    program: 'pi',
    prepare: (home, url) => {
      const models = [{ id: 'gemini-bench' }];
      const bench = { baseUrl: `${url}/v1beta`, api: 'google-generative-ai', apiKey: 'bench', models };
      mkdirSync(join(home, '.pi/agent'), { recursive: true });
      writeFileSync(join(home, '.pi/agent/models.json'), JSON.stringify({ providers: { bench } }));
    },
    command: () => ['pi', '--provider', 'bench', '--model', 'gemini-bench', '--offline', '-p', 'go'],
  },
  {
    name: 'gemini -p',
    program: 'gemini',
    prepare: (home) => {
      const settings = { security: { auth: { selectedType: 'gemini-api-key' } } };
      mkdirSync(join(home, '.gemini'));
      writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify(settings));
    },
    command: () => ['gemini', '--skip-trust', '-m', 'gemini-2.5-flash', '-p', 'go'],
  },
  {
    name: 'claude -p',
    program: 'claude',
    command: () => ['claude', '--model', 'bench', '-p', 'go'],
  },
];

const root = mkdtempSync(join(tmpdir(), 'bosun-peers-'));
const missing = [];
try {
  report(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}, median of ${RUNS} runs`);
  for (const peer of PEERS) await look(peer);
} finally {
  rmSync(root, { recursive: true, force: true });
}
if (missing.length > 0)
  report(`not installed: ${missing.join(', ')} (looked for on the PATH and in BENCH_PEERS)`);

async function look(peer) {
  const version = peer.program && versionOf(peer.program);
  if (peer.program && version === undefined) return void missing.push(peer.program);
  const title = [peer.name, version && `(${version})`].filter(Boolean).join(' ');
  try {
    const runs = [];
    for (let i = 0; i < RUNS; i++) runs.push(await once(peer, false));
    const { tree } = await once(peer, true);
    const ms = (of) => `${median(runs.map((run) => run[of])).toFixed(0)} ms`;
    const memory = `${(tree / 1024).toFixed(0)} MB at the most`;
    report(`${title}: ${ms('first')} to the first request, ${ms('ms')} in all, ${memory}`);
  } catch (error) {
    report(`${title}: ${String(error.message).split('\n').slice(0, 3).join(' ').slice(0, 300)}`);
  }
}

/** A run in an empty HOME, so that none profits from an earlier one. */
async function once({ command, prepare }, memory) {
  const cwd = mkdtempSync(join(root, 'run-'));
  const home = mkdtempSync(join(root, 'home-'));
  writeFileSync(join(cwd, 'small.txt'), 'a small file\n');
  const server = await startPeerServer();
  prepare?.(home, server.url);
  const env = {
    ...{ PATH, HOME: home, BENCH_KEY: 'bench', GEMINI_API_KEY: 'bench', ANTHROPIC_API_KEY: 'bench' },
    ...{ GOOGLE_GEMINI_BASE_URL: server.url, ANTHROPIC_BASE_URL: server.url },
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  };
  try {
    const run = await measure(command(server.url), { cwd, env, memory });
    const first = server.firstAt();
    if (first === undefined) throw new Error('it has sent no request to the scripted model');
    return { ...run, first: first - run.startedAt };
  } finally {
    await server.close();
  }
}

function versionOf(program) {
  const env = { ...process.env, PATH };
  const { status, stdout, stderr } = spawnSync(program, ['--version'], { encoding: 'utf8', env });
  return status === 0 ? /\d[\w.-]*/.exec(stdout || stderr)?.[0] : undefined;
}
