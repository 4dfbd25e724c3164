import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { bound } from '../helpers/bounds.js';
import { text } from '../helpers/gemini-server.mjs';
import { REPOSITORY, resultOf, runArgs, runCli, serverEnv } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';

/** The program in a folder of its own, with the piece that holds the SDK spoilt. */
function spoilt(spoil: (file: string) => void) {
  const where = place();
  const program = join(where.root, 'program');
  for (const name of ['bin', 'dist', 'policies', 'package.json'])
    cpSync(join(REPOSITORY, name), join(program, name), { recursive: true });
  const folder = join(program, 'dist/cli');
  const meant = readdirSync(folder).filter((name) => /^sdk-web-\w+\.js$/.test(name));
  for (const name of meant) spoil(join(folder, name));
  expect(meant).toHaveLength(1);
  return { where, bin: join(program, 'bin/bosun.js') };
}

test.each([
  ['is missing', (file: string) => rmSync(file)],
  ['is no program', (file: string) => writeFileSync(file, 'export const {')],
  ['throws', (file: string) => writeFileSync(file, 'throw new Error("spoilt");')],
])('a piece of the program that %s is exit 1 at once, and no outage', async (_, spoil) => {
  const { where, bin } = spoilt(spoil);
  const server = await serve([{ parts: [text('Done.')] }]);
  const began = performance.now();
  const { code, stderr } = await runCli(runArgs(where, ['-p', 'hi']), { env: serverEnv(server, where), bin });
  expect(code).toBe(1);
  bound(performance.now() - began, 20_000);
  expect(stderr).toMatch(/bug in Bosun; please report it/);
  expect(server.requests).toHaveLength(0);
  expect(resultOf(where)).toMatchObject({ status: 'internal_error', error: { code: 'bug' } });
});
