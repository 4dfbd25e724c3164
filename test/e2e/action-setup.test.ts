import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { useAction } from '../helpers/composite-action.js';
import { text } from '../helpers/gemini-server.mjs';
import { REPOSITORY } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';

const LEFT_OUT = ['.git', 'node_modules', 'dist', 'docs', 'test', 'bench'];

/** A checkout of this repository: nothing is installed, nothing is built. */
function checkout(root: string): string {
  const folder = join(root, 'checked out here');
  cpSync(REPOSITORY, folder, {
    recursive: true,
    filter: (path) => path === REPOSITORY || !LEFT_OUT.includes(basename(path)),
  });
  return folder;
}

/** A registry in a program: `npm ci` puts the packages of this repository there, and notes how it was called. */
function installerIn(root: string): { PATH: string } {
  const bin = join(root, 'bin');
  mkdirSync(bin);
  const lines = [
    '#!/bin/sh',
    `echo "$npm_config_cache: $*" >> '${root}/npm.log'`,
    `ln -s '${REPOSITORY}/node_modules' node_modules`,
  ];
  writeFileSync(join(bin, 'npm'), lines.join('\n'), { mode: 0o755 });
  return { PATH: `${bin}:${process.env['PATH']}` };
}

test('a bare checkout is built once, then used', async () => {
  const server = await serve(() => ({ parts: [text('Hi.')] }));
  const where = place();
  const action = checkout(where.root);
  const env = {
    ...installerIn(where.root),
    GOOGLE_GEMINI_BASE_URL: server.url,
    GEMINI_API_KEY: 'k',
    NODE_ENV: 'production',
    npm_config_cache: '/proc/none',
  };
  const uses = [];
  for (let i = 0; i < 2; i++) uses.push(await useAction({ where, action, env, inputs: { prompt: 'x' } }));
  expect(uses.map(({ code, log }) => (code === 0 ? '' : log))).toEqual(['', '']);
  expect(uses.map(({ code, outputs, annotations }) => [code, outputs['response'], annotations])).toEqual([
    [0, 'Hi.', []],
    [0, 'Hi.', []],
  ]);
  const [call, ...more] = readFileSync(join(where.root, 'npm.log'), 'utf8').trim().split('\n');
  expect(more).toEqual([]);
  expect(call).toMatch(/^\/.*\/runner temp\/bosun-npm: ci --include=dev --ignore-scripts /);
  expect(existsSync(join(action, '.install'))).toBe(false);
});

test('says so when the packages cannot be installed', async () => {
  const where = place();
  const action = checkout(where.root);
  const env = installerIn(where.root);
  writeFileSync(join(where.root, 'bin/npm'), '#!/bin/sh\necho "no registry"; exit 1\n');
  const { code, annotations, log } = await useAction({ where, action, env, inputs: { prompt: 'x' } });
  expect(code).toBe(1);
  expect(annotations.map(({ message }) => message)).toEqual([
    'npm ci failed for Bosun; its log is above. Does the runner reach its npm registry?',
  ]);
  expect(log).toContain('no registry');
});

test('installs what the bundle is made of, from the same lockfile, and no more', () => {
  const { root } = place();
  execFileSync(process.execPath, ['bin/action/dependencies.mjs', root], { cwd: REPOSITORY });
  const read = (folder: string, name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
  const [slim, lock] = [read(root, 'package.json'), read(root, 'package-lock.json')];
  expect({ ...lock.packages, '': undefined }).toEqual({
    ...read(REPOSITORY, 'package-lock.json').packages,
    '': undefined,
  });
  expect(lock.packages[''].devDependencies).toEqual(slim.devDependencies);
  const names = Object.keys(slim.devDependencies);
  expect(names).toEqual(expect.arrayContaining(['esbuild', '@google/genai', 'yaml']));
  expect(names.join(' ')).not.toMatch(/jest|oxlint|prettier|typescript|server-/);
  const imported = spawnSync('grep', ['-rhoE', `from '[@a-z][^'.]*'`, 'src'], {
    cwd: REPOSITORY,
    encoding: 'utf8',
  }).stdout;
  for (const [, name] of imported.matchAll(/from '((?:@[\w-]+\/)?[\w-]+)[^:\n]*'/g))
    if (name !== 'node') expect([...names, '@vscode/ripgrep']).toContain(name);
});
