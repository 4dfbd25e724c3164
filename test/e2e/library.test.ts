import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { text } from '../helpers/gemini-server.mjs';
import { cleanEnv, REPOSITORY } from '../helpers/run-cli.js';
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
