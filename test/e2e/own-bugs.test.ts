import { rmSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { bound } from '../helpers/bounds.js';
import { text } from '../helpers/gemini-server.mjs';
import { resultOf, runArgs, runCli, serverEnv } from '../helpers/run-cli.js';
import { serve } from '../helpers/served.js';
import { spoiltSdk } from '../helpers/spoilt-sdk.js';

test.each([
  ['is missing', (file: string) => rmSync(file)],
  ['is no program', (file: string) => writeFileSync(file, 'export const {')],
  ['throws', (file: string) => writeFileSync(file, 'throw new Error("spoilt");')],
])('a piece of the program that %s is exit 1 at once, and no outage', async (_, spoil) => {
  const { where, bin } = spoiltSdk(spoil);
  const server = await serve([{ parts: [text('Done.')] }]);
  const began = performance.now();
  const { code, stderr } = await runCli(runArgs(where, ['-p', 'hi']), { env: serverEnv(server, where), bin });
  expect(code).toBe(1);
  bound(performance.now() - began, 20_000);
  expect(stderr).toMatch(/bug in Bosun; please report it/);
  expect(server.requests).toHaveLength(0);
  expect(resultOf(where)).toMatchObject({ status: 'internal_error', error: { code: 'bug' } });
});
