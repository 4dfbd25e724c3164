import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { BIN, REPOSITORY, runCli } from '../helpers/run-cli.js';

const folders: string[] = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** A copy of the program, whose presets may be edited. */
function copy(): { bin: string; preset: string } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'bosun-copy-')));
  folders.push(root);
  for (const name of ['bin', 'dist', 'policies', 'package.json'])
    cpSync(join(REPOSITORY, name), join(root, name), { recursive: true });
  return { bin: join(root, 'bin/bosun.js'), preset: join(root, 'policies/codemod.yaml') };
}

const check = (command: string, bin: string) =>
  runCli(
    [
      'policy',
      'check',
      '--policy',
      'codemod',
      '--tool',
      'run_shell_command',
      '--args',
      JSON.stringify({ command }),
    ],
    { bin },
  );

test('rules of a preset that the build has read stand where the preset is', async () => {
  const { bin, preset } = copy();
  const { stdout } = await check('npm test', bin);
  const line = readFileSync(preset, 'utf8').split('\n').indexOf('  - id: tests') + 1;
  expect(JSON.parse(stdout)).toMatchObject({ decision: 'allow', rule: { id: 'tests', file: preset, line } });
});

test('a preset that was edited after the build is what counts', async () => {
  const { bin, preset } = copy();
  const text = readFileSync(preset, 'utf8');
  writeFileSync(preset, text.replace('        npm test,', '        npm test,\n        frobnicate,'));
  expect(JSON.parse((await check('frobnicate', bin)).stdout)).toMatchObject({ decision: 'allow' });
  expect(JSON.parse((await check('frobnicate', BIN)).stdout)).toMatchObject({ decision: 'ask' });
});

test('a preset that was edited after the build has its examples tried', async () => {
  const { bin, preset } = copy();
  const text = readFileSync(preset, 'utf8');
  writeFileSync(
    preset,
    text.replace("match: ['npm test -- --ci'", "match: ['frobnicate', 'npm test -- --ci'"),
  );
  const { code, stderr } = await check('npm test', bin);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/codemod\.yaml:\d+:\d+: rule `tests`: `match`/)]);
});
