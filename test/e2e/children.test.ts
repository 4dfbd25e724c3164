import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { describeSandboxed } from '../helpers/sandboxed.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { fileIn, REPOSITORY, runAgainst, runCli, serverEnv, type Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';

const done = { parts: [text('Done.')] };
const SERVER = join(REPOSITORY, 'fixtures/programs/mcp-server.mjs');

/** What a runner, a cloud and a careless user may have in the environment. */
const SURROUNDINGS = {
  GITHUB_TOKEN: 'ghs_0123456789',
  ACTIONS_RUNTIME_TOKEN: 'runtime-0123456789',
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'id-0123456789',
  AWS_SECRET_ACCESS_KEY: 'aws-0123456789',
  GOOGLE_APPLICATION_CREDENTIALS: '/nowhere/key.json',
  OPENAI_API_KEY: 'sk-0123456789',
  NODE_OPTIONS: '--no-deprecation',
  LD_LIBRARY_PATH: '/nowhere',
  BASH_ENV: '/nowhere/env',
  ENV: '/nowhere/env',
  PROMPT_COMMAND: 'true',
  GIT_CONFIG_PARAMETERS: "'core.pager=evil'",
  GIT_CONFIG_GLOBAL: '/nowhere/gitconfig',
  GIT_AUTHOR_NAME: 'Jo',
  GIT_COMMITTER_EMAIL: 'jo@example.org',
  LC_ALL: 'C',
  TZ: 'UTC',
  PASSED: 'by name',
};
const PASSED_ON = ['GIT_AUTHOR_NAME', 'GIT_COMMITTER_EMAIL', 'LC_ALL', 'PASSED', 'TZ'];

const policy = (sandbox: string) => `version: 1
mode: yolo
sandbox: {mode: ${sandbox}, bind_ro: ["${REPOSITORY}"]}
shell: {env: {pass: [PASSED]}}
discovery: {list: [sh, list.sh], call: [sh, call.sh]}
mcp: {servers: {s: {command: [sh, -c, "env > mcp.env; exec node ${SERVER}"]}}}
success: {verify: ["env > verify.env"]}
`;

async function namesSeen(sandbox: string): Promise<{ where: Scratch; seen: Record<string, string[]> }> {
  const where = place({ 'list.sh': `env > list.env; echo '[{"name":"one"}]'`, 'call.sh': 'env > call.env' });
  const file = join(where.root, 'policy.yaml');
  writeFileSync(file, policy(sandbox));
  const calls = [call('run_shell_command', { command: 'env > shell.env' }), call('discovered_tool_one', {})];
  const server = await serve([{ parts: calls }, done]);
  const { code } = await runAgainst(server, where, ['--policy', file, '-p', 'x'], { env: SURROUNDINGS });
  expect(code).toBe(0);
  const names = (kind: string) =>
    (fileIn(where, `${kind}.env`) ?? '').split('\n').map((line) => line.split('=')[0] as string);
  const kinds = ['shell', 'list', 'call', 'mcp', 'verify'];
  return { where, seen: Object.fromEntries(kinds.map((kind) => [kind, names(kind)])) };
}

async function expectLittle(sandbox: string): Promise<void> {
  const { seen } = await namesSeen(sandbox);
  const ours = Object.keys(SURROUNDINGS);
  for (const [kind, names] of Object.entries(seen)) {
    expect([kind, names.filter((name) => ours.includes(name)).sort()]).toEqual([kind, PASSED_ON]);
    expect(names).not.toContain('GEMINI_API_KEY');
    expect(names).toContain('PATH');
  }
}

describe('programs that a run starts see what they are meant to see, and no more', () => {
  test('outside of a sandbox', () => expectLittle('off'));
});

describeSandboxed('programs that a run starts in a sandbox', () => {
  test('see what they are meant to see, and no more', () => expectLittle('required'));
});

test('a run leaves nothing behind but its own folder, which is for its user alone', async () => {
  const where = place({ 'a.txt': 'A' });
  const server = await serve([
    {
      parts: [
        call('run_shell_command', { command: 'seq 100000' }),
        call('read_file', { file_path: 'a.txt' }),
      ],
    },
    done,
  ]);
  const args = ['run', '-C', where.workspace, '-m', 'gemini-test', '--mode', 'yolo', '-p', 'x'];
  const temporary = join(where.root, 'tmp');
  writeFileSync(join(where.home, '.keep'), '');
  mkdirSync(temporary);
  const { code } = await runCli(args, { env: serverEnv(server, where, { TMPDIR: temporary }) });
  expect(code).toBe(0);
  const listed = readdirSync(where.root, { recursive: true, encoding: 'utf8' }).sort();
  const run = listed.find((name) => /runs\/[^/]+$/.test(name) && !name.endsWith('.gitignore')) ?? '';
  const own = listed.filter((name) => name.startsWith(run)).slice(1);
  expect(listed.filter((name) => !name.startsWith(run))).toEqual([
    'home',
    'home/.keep',
    'tmp',
    'workspace',
    'workspace/.bosun',
    'workspace/.bosun/runs',
    'workspace/.bosun/runs/.gitignore',
    'workspace/a.txt',
  ]);
  expect(own.length).toBeGreaterThan(1);
  const mode = (name: string) => statSync(join(where.root, name)).mode & 0o077;
  expect([run, ...own].map((name) => [name, mode(name)])).toEqual([run, ...own].map((name) => [name, 0]));
});
