// What startProcess adds to the cost of a process, in turns with Node's own spawn: `npm run bench:spawn [-- ROUNDS]`.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { median } from './measure.mjs';

const TARGET_MS = 1;
const rounds = Number(process.argv[2] ?? 300);
const print = (line) => process.stdout.write(`${line}\n`);
const project = fileURLToPath(new URL('..', import.meta.url));
const bundle = `${project}dist/bench-spawn.mjs`;

const environment = { PATH: process.env.PATH ?? '' };
const stdio = ['ignore', 'pipe', 'pipe'];

try {
  await build({
    absWorkingDir: project,
    stdin: { contents: `export { startProcess } from './src/lib/run-program.ts';`, resolveDir: project },
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    banner: { js: "import{createRequire as c}from'node:module';const require=c(import.meta.url);" },
    outfile: bundle,
  });
  const { startProcess } = await import(bundle);
  const plain = (program, ...args) =>
    new Promise((resolve, reject) => {
      const child = spawn(program, args, { cwd: '/', env: environment, stdio, detached: true });
      child.stdout.on('data', () => {});
      child.stderr.on('data', () => {});
      child.once('error', reject).once('close', resolve);
    });
  const ours = async (...program) => {
    const started = await startProcess({ program, directory: '/', environment, stdio, detached: true });
    started.child.stdout.on('data', () => {});
    started.child.stderr.on('data', () => {});
    await started.closed;
  };
  // A sandbox has a few hundred arguments.
  const boxed = Array.from({ length: 400 }, (_, i) => `--ro-bind /usr/share/place-${i}`);
  await compare('true', ['true'], { plain, ours });
  await compare(`true with ${boxed.length} arguments`, ['true', ...boxed], { plain, ours });
} finally {
  rmSync(bundle, { force: true });
}

async function compare(what, command, starters) {
  const samples = { plain: [], ours: [] };
  for (let i = -10; i < rounds; i++) {
    for (const [name, start] of Object.entries(starters)) {
      const cpu = process.cpuUsage();
      const started = performance.now();
      await start(...command);
      const { user, system } = process.cpuUsage(cpu);
      if (i >= 0) samples[name].push({ wall: performance.now() - started, cpu: (user + system) / 1000 });
    }
  }
  print(what);
  for (const clock of ['wall', 'cpu']) {
    const [before, after] = ['plain', 'ours'].map((name) => samples[name].map((sample) => sample[clock]));
    const least = (list) => Math.min(...list);
    const row = (of) => `${of(before).toFixed(2)} → ${of(after).toFixed(2)} ms`;
    const more = median(after) - median(before);
    print(
      `  ${clock}: median ${row(median)}, least ${row(least)}; ${more.toFixed(2)} ms more (target ${TARGET_MS})`,
    );
  }
}
