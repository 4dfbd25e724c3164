// What the sandbox costs a command, in turns with the same command outside of it: `npm run bench:sandbox`.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { median } from './measure.mjs';

const RUNS = 60;
const report = (line) => void process.stdout.write(`${line}\n`);
const project = fileURLToPath(new URL('..', import.meta.url));
const bundle = join(project, 'dist', 'bench-sandbox.mjs');
const root = realpathSync(mkdtempSync(join(tmpdir(), 'bosun-bench-')));

try {
  const { Sandbox, GitGuard, probe, runCommand, sandboxedCommands } = await load();
  execFileSync('git', ['init', '-q'], { cwd: root });
  writeFileSync(join(root, '.env'), 'SECRET=1');
  const searchPath = process.env.PATH;
  const bubblewrap = await probe({ platform: process.platform, foreignOwner: false });
  if ('reason' in bubblewrap) throw new Error(bubblewrap.reason);
  const { signal } = new AbortController();
  const sandbox = new Sandbox({
    bubblewrap,
    roots: [root],
    boundary: { hides: (path) => path.endsWith('.env'), protects: (path) => path.includes('.git') },
    home: process.env.HOME,
    searchPath,
    programs: [],
    hidden: [],
    reserved: [],
    forbidden: [],
    bindRo: [],
    bindRw: [],
    git: 'hardened',
    environment: { PATH: searchPath },
    limits: {},
    temporary: tmpdir(),
    network: { type: 'open' },
    onWarning: report,
    onLost: report,
    signal,
  });
  const request = {
    command: 'true',
    directory: root,
    environment: { PATH: searchPath },
    timeoutMs: 60_000,
    idleTimeoutMs: 60_000,
    signal,
    onOutput() {},
  };
  const guard = new GitGuard({
    roots: [root],
    environment: { PATH: searchPath },
    isSandboxed: false,
    signal,
  });
  const ways = { plain: runCommand, sandboxed: sandboxedCommands(sandbox) };
  const times = { plain: [], sandboxed: [] };
  const first = await time(() => ways.sandboxed(request));
  for (let i = 0; i < RUNS; i++) {
    for (const [name, run] of Object.entries(ways)) times[name].push(await time(() => run(request)));
  }
  await sandbox.close();
  await guard.environment(root, {});
  const guarded = [];
  for (let i = 0; i < RUNS; i++) {
    const started = performance.now();
    await guard.environment(root, {});
    guarded.push(performance.now() - started);
  }
  const least = (list) => Math.min(...list);
  const show = (ms) => ms.toFixed(2).padStart(7);
  report(`true, ${RUNS} times in turns, ms   median     min`);
  for (const [name, list] of Object.entries(times))
    report(`${name.padEnd(31)}${show(median(list))} ${show(least(list))}`);
  const more = (of) => show(of(times.sandboxed) - of(times.plain));
  report(`more in the sandbox (target: 15)   ${more(median)} ${more(least)}`);
  report(`variables for git (target: 1)  ${show(median(guarded))} ${show(least(guarded))}`);
  report(`the first, which furnishes it  ${show(first)}`);
} finally {
  rmSync(root, { recursive: true, force: true });
  rmSync(bundle, { force: true });
}

async function time(work) {
  const started = performance.now();
  const end = await work();
  if (end.exitCode !== 0) throw new Error(JSON.stringify(end));
  return performance.now() - started;
}

async function load() {
  const from = (path) => JSON.stringify(join(project, 'src', path));
  const contents = `
    export { Sandbox } from ${from('sandbox/bubblewrap/sandbox.ts')};
    export { GitGuard } from ${from('sandbox/git/guard.ts')};
    export { probe } from ${from('sandbox/bubblewrap/bubblewrap.ts')};
    export { runCommand, sandboxedCommands } from ${from('sandbox/local.ts')};
  `;
  await build({
    stdin: { contents, resolveDir: project },
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
  return import(bundle);
}
