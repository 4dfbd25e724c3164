// The tools against the programs they are built on, in turns, in this process: `npm run bench:tools`.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rgPath } from '@vscode/ripgrep';
import { build } from 'esbuild';
import { median } from './measure.mjs';

const RUNS = 9;
const FILES = 20_000;

const project = fileURLToPath(new URL('..', import.meta.url));
const root = realpathSync(mkdtempSync(join(tmpdir(), 'bosun-bench-')));
const bundle = join(project, 'dist', 'bench-tools.mjs');

try {
  const { builtinTools, runCommand, createEngine, modeOnly } = await load();
  const place = { workspace: root, writeProtected: [], home: undefined, untrusted: false };
  const tools = builtinTools({
    workspace: root,
    environment: { PATH: process.env.PATH ?? '' },
    runCommand,
    rootCommands: undefined,
    timeoutMs: 60_000,
    idleTimeoutMs: 60_000,
    admits: createEngine(modeOnly('yolo'), place).admits,
    outputCap: 40_000,
  });
  const use = async (name, params) => {
    const built = await tools.find((tool) => tool.name === name).build(params);
    const report = await built.invocation.execute({ signal: new AbortController().signal, onOutput() {} });
    if (!report.ok) throw new Error(report.error.message);
  };
  makeTree();
  const rg = (...args) => run(rgPath, ['--hidden', '--glob', '!.git', ...args, '.']);

  const rows = [
    await row(
      'search: a rare word',
      () => use('search_file_content', { pattern: 'needle' }),
      () => rg('-n', '-i', 'needle'),
      '1.3 x + 20 ms',
    ),
    await row(
      'search: an expression',
      () => use('search_file_content', { pattern: String.raw`fn_\d{4}9\b` }),
      () => rg('-n', '-i', String.raw`fn_\d{4}9\b`),
      '1.3 x + 20 ms',
    ),
    await row(
      'search: nothing found',
      () => use('search_file_content', { pattern: 'zebra|giraffe' }),
      () => rg('-n', '-i', 'zebra|giraffe'),
      '1.3 x + 20 ms',
    ),
    await row(
      'glob **/*.ts',
      () => use('glob', { pattern: '**/*.ts' }),
      () => run('git', ['ls-files', '-co', '--exclude-standard', '--', '*.ts']),
      '1.5 x + 20 ms',
    ),
    await row(
      'glob pkg3/**/*.md',
      () => use('glob', { pattern: 'pkg3/**/*.md' }),
      () => run('git', ['ls-files', '-co', '--exclude-standard', '--', 'pkg3/*.md']),
      '1.5 x + 20 ms',
    ),
    await row('replace in 10 MB', replaceOnce(use), plainReplace, '5 x'),
  ];
  print(rows);
} finally {
  rmSync(root, { recursive: true, force: true });
  rmSync(bundle, { force: true });
}

async function load() {
  await build({
    absWorkingDir: project,
    stdin: {
      contents: `export { builtinTools } from './src/tools/builtin.ts';
        export { runCommand } from './src/sandbox/local.ts';
        export { createEngine } from './src/policy/engine.ts';
        export { modeOnly } from './src/policy/document.ts';`,
      resolveDir: project,
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: bundle,
    external: ['@vscode/ripgrep'],
    banner: {
      js: "import{createRequire as requireHere}from'node:module';const require=requireHere(import.meta.url);",
    },
  });
  return import(bundle);
}

/** A repository of many files with an ignored folder, and the files of the other measurements. */
function makeTree() {
  const body = (i) =>
    `export function fn_${i}(input, options) {\n  return compute(input, options);\n}\n`.repeat(40);
  for (let i = 0; i < FILES; i++) {
    const folder = join(root, `pkg${i % 20}`, `mod${Math.floor(i / 20) % 20}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, `file${i}.${i % 10 === 0 ? 'md' : 'ts'}`),
      body(i) + (i % 500 === 1 ? 'a needle\n' : ''),
    );
  }
  mkdirSync(join(root, 'dist'));
  for (let i = 0; i < 1000; i++) writeFileSync(join(root, 'dist', `out${i}.ts`), body(i));
  writeFileSync(join(root, '.gitignore'), 'dist/\n*.log\n');
  writeFileSync(join(root, 'big.txt'), `${'x'.repeat(99)}\n`.repeat(100_000) + 'the place\n');
  run('git', ['init', '-q']);
  run('git', ['add', '-A']);
}

function run(program, args) {
  const { status, error } = spawnSync(program, args, { cwd: root, maxBuffer: 1e9 });
  if (error || status > 1) throw error ?? new Error(`${program} ended with ${status}`);
}

function replaceOnce(use) {
  let [now, next] = ['the place', 'the other'];
  return async () => {
    await use('replace', { file_path: 'big.txt', old_string: now, new_string: next });
    [now, next] = [next, now];
  };
}

function plainReplace() {
  const path = join(root, 'plain.txt');
  const text = readFileSync(join(root, 'big.txt'), 'utf8');
  writeFileSync(path, text.replace('the ', 'a '));
}

async function row(what, bosun, bare, target) {
  const times = { bosun: [], bare: [] };
  const take = async (list, work) => {
    const start = performance.now();
    await work();
    list.push(performance.now() - start);
  };
  for (let i = 0; i < RUNS; i++) {
    await take(times.bare, bare);
    await take(times.bosun, bosun);
  }
  const [ours, theirs] = [median(times.bosun), median(times.bare)];
  return [what, theirs.toFixed(2), ours.toFixed(2), (ours / theirs).toFixed(2), target];
}

function print(rows) {
  const table = [['', 'bare ms', 'bosun ms', 'ratio', 'target'], ...rows];
  const widths = table[0].map((_, i) => Math.max(...table.map((cells) => cells[i].length)));
  const line = (cells) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  ');
  process.stdout.write(`node ${process.version}, ${FILES} files\n${table.map(line).join('\n')}\n`);
}
