import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { freePort } from '../helpers/free-port.js';
import { text } from '../helpers/gemini-server.mjs';
import { behaving, policyWith } from '../helpers/mcp.js';
import { BIN, cleanEnv, runCli, serverEnv, startCli, type Scratch } from '../helpers/run-cli.js';
import { describeSandboxed } from '../helpers/sandboxed.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';
import { isAlive, until } from '../helpers/until.js';

shareProcess();

const KEY = 'test-key-0123456789';

interface Check {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly hint?: string;
  readonly exit_code?: number;
}

interface Examined {
  readonly code: number | null;
  readonly checks: readonly Check[];
  /** Of one check. */
  of(name: string): Check | undefined;
}

/** `bosun doctor` where only its own settings decide: the program's environment has only what is given. */
async function doctor(
  where: Scratch,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = { GEMINI_API_KEY: KEY },
): Promise<Examined> {
  const options = { cwd: where.workspace, env: cleanEnv(where.home, env) };
  const { code, stdout, stderr } = await runCli(['doctor', '--json', ...args], options);
  expect(stderr).toBe('');
  expect(stdout).not.toContain(KEY);
  const { exit_code, checks } = JSON.parse(stdout) as { exit_code: number; checks: Check[] };
  expect(exit_code).toBe(code);
  return { code, checks, of: (name) => checks.find(({ check }) => check === name) };
}

function policyIn(where: Scratch, policy: string): string {
  const file = join(where.root, 'policy.yaml');
  writeFileSync(file, policy);
  return file;
}

describeSandboxed('bosun doctor, where everything is there', () => {
  test('is content, sends nothing, and leaves nothing behind', async () => {
    const where = place();
    const server = await serve([]);
    const env = serverEnv(server, where);
    const { code, stdout } = await runCli(['doctor', '--policy', 'codemod'], { cwd: where.workspace, env });
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    const names = ['node', 'git', 'bash', 'ripgrep', 'sandbox', 'key', 'endpoint', 'policy', 'disk'];
    expect(lines.map((line) => line.split(/ +/).slice(0, 2))).toEqual(names.map((name) => ['ok', name]));
    expect(stdout).toContain('bubblewrap works here');
    expect(stdout).toContain(`${new URL(server.url).host}, by GOOGLE_GEMINI_BASE_URL; not contacted`);
    expect(stdout).toMatch(/codemod\.yaml, .*read-only\.yaml; mode auto_edit/);
    expect(server.requests).toEqual([]);
    expect(readdirSync(where.workspace)).toEqual([]);
  });

  test('starts the servers of a policy in the sandbox, and ends them', async () => {
    const where = place();
    const servers = {
      good: behaving('well'),
      never: { ...behaving('well'), trust: false },
      optional: behaving('dies', { required: false }),
    };
    const file = policyIn(where, policyWith(servers));
    const { code, of } = await doctor(where, ['--policy', file]);
    expect(code).toBe(0);
    expect(of('mcp:good')).toMatchObject({ status: 'ok', message: expect.stringMatching(/^2 tools in /) });
    expect(of('mcp:never')).toMatchObject({ status: 'ok', message: expect.stringMatching(/^not started/) });
    expect(of('mcp:optional')).toMatchObject({ status: 'warn' });
    const required = policyIn(where, policyWith({ needed: behaving('dies') }, { mode: 'manual' }));
    const second = await doctor(where, ['--policy', required]);
    expect([second.code, second.of('mcp:needed')]).toMatchObject([12, { status: 'fail', exit_code: 12 }]);
  });
});

/** A server that never answers, and is hard to end. */
const SILENT = [
  'sh',
  '-c',
  `trap '' TERM INT; setsid sleep 60 & echo $! $$ > pids; while :; do sleep 1; done`,
];

/** Interrupts a command while a server is silent; returns the numbers of what the server has started. */
async function interrupted(command: string, mode: string, signal: NodeJS.Signals): Promise<number[]> {
  const where = place();
  const servers = { silent: { command: SILENT, trust: true } };
  const file = policyIn(where, policyWith(servers, { sandbox: { mode } }));
  const pids = join(where.workspace, 'pids');
  const env = cleanEnv(where.home, { TMPDIR: where.home });
  const { child, done } = startCli([command, '--json', '--policy', file], { cwd: where.workspace, env });
  await until(() => existsSync(pids) && readFileSync(pids, 'utf8').endsWith('\n'), 'the server');
  child.kill(signal);
  const { code, stdout, stderr } = await done;
  expect([code, stdout]).toEqual([signal === 'SIGINT' ? 130 : 143, '']);
  expect(stderr).toContain(`stopped by ${signal}`);
  expect([readdirSync(where.workspace), readdirSync(where.home)]).toEqual([['pids'], []]);
  return readFileSync(pids, 'utf8').trim().split(' ').map(Number);
}

const WHILE_SILENT = [
  ['doctor', 'SIGINT'],
  ['doctor', 'SIGTERM'],
  ['tools', 'SIGTERM'],
] as const;

describe('interrupted while a server is silent', () => {
  test.each(WHILE_SILENT)('bosun %s ends all that it started (%s)', async (command, signal) => {
    const pids = await interrupted(command, 'off', signal);
    expect(pids.filter(isAlive)).toEqual([]);
  });
});

describeSandboxed('interrupted while a server in the sandbox is silent', () => {
  test.each(WHILE_SILENT)('bosun %s leaves nothing behind (%s)', async (command, signal) => {
    await interrupted(command, 'required', signal);
  });
});

describe('bosun doctor about the model', () => {
  test('misses a key, and two different ones are one too many', async () => {
    const none = await doctor(place(), [], {});
    expect([none.code, none.of('key')]).toMatchObject([
      9,
      { status: 'fail', hint: expect.stringContaining('GEMINI_API_KEY') },
    ]);
    const two = await doctor(place(), [], { GEMINI_API_KEY: KEY, GOOGLE_API_KEY: 'another-key-0123' });
    expect([two.code, two.of('key')?.message]).toEqual([9, expect.stringContaining('both set')]);
    expect(two.of('endpoint')).toBeUndefined();
  });

  test.each([
    ['a name that no provider has', ['-m', 'gpt-4'], 'model gpt-4'],
    ['a cost limit without a price', ['--policy', 'POLICY'], 'model gemini-unheard-of'],
  ])('refuses %s as a run would', async (_, args, check) => {
    const where = place();
    const limited = 'version: 1\nmode: manual\nmodel: {name: gemini-unheard-of}\nlimits: {cost_usd: 1}\n';
    const file = policyIn(where, limited);
    const { code, of } = await doctor(
      where,
      args.map((word) => (word === 'POLICY' ? file : word)),
    );
    expect([code, of(check)?.exit_code]).toEqual([2, 2]);
  });

  test('looks for the keys of other models, which a run may never need', async () => {
    const where = place();
    const policy = 'version: 1\nmode: manual\nmodel: {name: gemini-2.5-pro, fallback: [openai/gpt-5]}\n';
    const { code, of } = await doctor(where, ['--policy', policyIn(where, policy)]);
    expect([code, of('key openai/gpt-5')]).toMatchObject([0, { status: 'warn', hint: expect.any(String) }]);
  });

  test('--online sends one small request', async () => {
    const where = place();
    const server = await serve([{ parts: [text('ok')] }]);
    const { code, of } = await doctor(where, ['--online'], serverEnv(server, where));
    expect(code).toBe(0);
    expect(of('endpoint')?.message).toMatch(/ answered in .*token/);
    const [request] = server.requests;
    expect(request?.body.tools).toBeUndefined();
    expect(request?.body.generationConfig.maxOutputTokens).toBeLessThanOrEqual(1024);
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    [401, 9],
    [404, 2],
    [429, 10],
    [503, 11],
  ])('--online tells an answer of %i by exit code %i', async (status, exit) => {
    const where = place();
    const server = await serve(Array.from({ length: 3 }, () => ({ status })));
    const { code, of } = await doctor(where, ['--online'], serverEnv(server, where));
    expect([code, of('endpoint')]).toMatchObject([exit, { status: 'fail', exit_code: exit }]);
    expect(server.requests).toHaveLength(1);
  });

  test('--online tells that nobody listens, and a bad address is bad without it', async () => {
    const where = place();
    const refused = { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${await freePort()}` };
    const gone = await doctor(where, ['--online'], refused);
    expect([gone.code, gone.of('endpoint')?.status]).toEqual([11, 'fail']);
    const odd = await doctor(where, [], { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: 'localhost:1' });
    expect(odd.code).toBe(2);
  });
});

describe('bosun doctor about what else ends a run before its first request', () => {
  test.each([
    ['a context file that is hidden', { context: { files: ['.env'] } }, 'policy', 2],
    ['a context file that is no text', { context: { files: ['picture'] } }, 'policy', 2],
    ['a memory outside the workspace', { memory: { file: '../memory.md' } }, 'policy', 2],
    ['a memory that is a folder', { memory: { file: 'folder' } }, 'policy', 2],
    ['limits of a patch without a repository', { patch: { max_files: 1 } }, 'policy', 2],
    ['a fallback that no provider has', { model: { fallback: ['gpt-4'] } }, 'model gemini-2.5-pro', 2],
    [
      'a fallback without a price',
      { model: { fallback: ['openai/x'] }, limits: { cost_usd: 1 } },
      'model gemini-2.5-pro',
      2,
    ],
    ['a model for the web that cannot', { web: { model: 'openai/x' } }, 'model gemini-2.5-pro', 2],
    [
      'a tier that the provider does not have',
      { model: { name: 'vertex/x', tier: 'flex' } },
      'model vertex/x',
      2,
    ],
  ])('finds %s', async (_, keys, check, exit) => {
    const where = place({ '.env': 'x', 'folder/x': 'x', picture: 'a\0b' });
    const policy = JSON.stringify({ version: 1, mode: 'manual', ...keys });
    const args = ['--policy', policyIn(where, policy)];
    const { code, of } = await doctor(where, args);
    expect([code, of(check)]).toMatchObject([exit, { status: 'fail', exit_code: exit }]);
    const env = cleanEnv(where.home, { GEMINI_API_KEY: KEY });
    const run = await runCli(['run', '-p', 'x', ...args], { cwd: where.workspace, env });
    expect([run.code, run.stderr]).toEqual([exit, expect.stringContaining(of(check)?.message ?? '')]);
  });

  test('tells of what a run would warn of', async () => {
    const where = place();
    const keys = { context: { files: ['NOTES.md'] }, sandbox: { bind_ro: ['/nowhere'] } };
    const policy = policyIn(where, JSON.stringify({ version: 1, mode: 'yolo', ...keys }));
    const { checks } = await doctor(where, ['--policy', policy], {});
    const warned = checks.filter(({ status }) => status === 'warn').map(({ message }) => message);
    expect(warned).toContainEqual(expect.stringContaining('NOTES.md does not exist'));
    if (checks.some(({ message }) => message.startsWith('bubblewrap works')))
      expect(warned).toContainEqual(expect.stringContaining('cannot show /nowhere'));
  });
});

describe('bosun doctor about the rest', () => {
  test('shows where a policy is wrong, and does not check what depends on it', async () => {
    const where = place();
    const file = policyIn(where, 'version: 1\nmoed: yolo\n');
    const { code, of } = await doctor(where, ['--policy', file]);
    expect([code, of('policy')?.exit_code]).toEqual([2, 2]);
    expect(of('policy')?.message).toContain(`${file}:2:1`);
    expect(of('sandbox')).toMatchObject({ status: 'warn', message: expect.stringContaining('not checked') });
  });

  test('warns of a policy under which nothing can be done', async () => {
    const where = place();
    const { code, of } = await doctor(where, ['--policy', policyIn(where, 'version: 1\n')]);
    expect([code, of('policy')]).toMatchObject([0, { status: 'warn' }]);
  });

  test('fails where programs can read the key, and not where none are started', async () => {
    const where = place();
    const exposed = await doctor(where, ['--mode', 'yolo', '--sandbox', 'off']);
    expect([exposed.code, exposed.of('sandbox')?.exit_code]).toEqual([12, 12]);
    expect(exposed.of('sandbox')?.message).toContain('GEMINI_API_KEY');
    const reading = await doctor(where, ['--mode', 'plan', '--sandbox', 'off']);
    expect([reading.code, reading.of('sandbox')?.status]).toEqual([0, 'ok']);
  });

  test('warns of what makes runs slower or less able', async () => {
    const where = place();
    const env = { GEMINI_API_KEY: KEY, PATH: where.home };
    const { code, of } = await doctor(where, [], env);
    expect(code).toBe(0);
    expect(of('git')).toMatchObject({ status: 'warn', hint: 'Install git.' });
    expect(of('bash')).toMatchObject({ status: 'warn', message: expect.stringContaining('/bin/sh') });
  });

  test('needs a place for transcripts', async () => {
    const where = place({ '.bosun': 'a file\n' });
    const { code, of } = await doctor(where);
    expect([code, of('disk')]).toMatchObject([2, { status: 'fail', exit_code: 2 }]);
    const { code: missing, stderr } = await runCli(['doctor', '-C', join(where.root, 'nowhere')]);
    expect([missing, stderr]).toEqual([2, expect.stringContaining('cannot be used')]);
  });

  const NAMESPACE = ['-r', '-m', 'bash', '-c'];
  const canMount = spawnSync('unshare', [...NAMESPACE, 'mount -t tmpfs -o size=64k tmpfs /tmp']).status === 0;
  (canMount ? test : test.skip)('finds that the disk is full', () => {
    const where = place();
    const script = [
      'mount -t tmpfs -o size=64k tmpfs "$W" && head -c 60000 /dev/zero > "$W/big"',
      'cd "$W" && "$NODE" "$BIN" doctor --json',
    ].join(' && ');
    const env = cleanEnv(where.home, {
      W: where.workspace,
      NODE: process.execPath,
      BIN,
      GEMINI_API_KEY: KEY,
    });
    const { status, stdout } = spawnSync('unshare', [...NAMESPACE, script], { env, encoding: 'utf8' });
    const { checks } = JSON.parse(stdout) as { checks: Check[] };
    const disk = checks.find(({ check }) => check === 'disk');
    expect([status, disk]).toMatchObject([
      12,
      { status: 'fail', message: expect.stringContaining('no space') },
    ]);
  });
});
