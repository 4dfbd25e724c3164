import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { text } from '../helpers/gemini-server.mjs';
import { cleanEnv, REPOSITORY, runCli } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';

const PROGRAM = `
import { buildTask, EXIT_CODES, run } from 'bosun';
const types = [];
const result = await run({
  cwd: process.cwd(),
  model: 'gemini-x',
  mode: 'plan',
  readTask: async () => buildTask('Hello', []),
  variables: process.env,
  reporters: [{ event: (line) => types.push(line.type) }],
});
console.log(JSON.stringify({ status: result.status, response: result.response, types, ok: EXIT_CODES.completed }));
`;

test('another program can start a run and read its events', async () => {
  const where = place({ 'program.mjs': PROGRAM });
  mkdirSync(join(where.workspace, 'node_modules'));
  symlinkSync(REPOSITORY, join(where.workspace, 'node_modules/bosun'));
  const server = await serve([{ parts: [text('Hi.')] }]);
  const env = cleanEnv(where.home, { GEMINI_API_KEY: 'k', GOOGLE_GEMINI_BASE_URL: server.url });
  const { spawn } = await import('node:child_process');
  const child = spawn(process.execPath, ['program.mjs'], { cwd: where.workspace, env });
  let out = '';
  child.stdout.on('data', (chunk) => (out += chunk));
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
  expect(JSON.parse(out)).toEqual({
    status: 'completed',
    response: 'Hi.',
    types: ['init', 'message', 'turn', 'message', 'result'],
    ok: 0,
  });
});

test('the packed program is small, brings nothing along but ripgrep, and runs the demo', async () => {
  const where = place();
  const packed = spawnSync(
    'npm',
    ['pack', '--ignore-scripts', '--silent', '--pack-destination', where.root],
    {
      cwd: REPOSITORY,
      encoding: 'utf8',
    },
  );
  expect(packed.status).toBe(0);
  const [tarball] = readdirSync(where.root).filter((name) => name.endsWith('.tgz'));
  writeFileSync(join(where.workspace, 'package.json'), '{"name":"user","private":true}');
  const install = spawnSync(
    'npm',
    ['install', '--offline', '--no-audit', '--no-fund', join(where.root, tarball as string)],
    {
      cwd: where.workspace,
      encoding: 'utf8',
    },
  );
  expect(install.status).toBe(0);
  const installed = join(where.workspace, 'node_modules');
  const packages = readdirSync(installed).filter((name) => !name.startsWith('.'));
  // Where ripgrep cannot be had the installation goes on without it.
  expect(packages.filter((name) => name !== '@vscode')).toEqual(['bosun']);
  const size = Number(spawnSync('du', ['-sk', installed], { encoding: 'utf8' }).stdout.split('\t')[0]) / 1024;
  expect(size).toBeLessThan(20);
  const demo = spawnSync(join(installed, '.bin/bosun'), ['demo'], {
    env: cleanEnv(where.home),
    encoding: 'utf8',
  });
  expect(demo.status).toBe(0);
  expect((await runCli(['--version'])).stdout).toBe(
    spawnSync(join(installed, '.bin/bosun'), ['--version'], { encoding: 'utf8' }).stdout,
  );
});
