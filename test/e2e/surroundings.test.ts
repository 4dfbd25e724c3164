import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { sampled } from '../helpers/counts.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { installed } from '../helpers/installed.js';
import { eventsOf, ofType, resultOf, runArgs, serverEnv, type Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { binFolder, runScript } from '../helpers/shell.js';

/** One of everything that leaves the process: a command, a search, an edit, a listing. */
const WORK = [
  {
    parts: [
      call('run_shell_command', { command: 'echo "in $(pwd)"; cat src/*.js' }, { id: 'shell' }),
      call('search_file_content', { pattern: 'needle' }, { id: 'search' }),
      call('write_file', { file_path: 'new.txt', content: 'x\n' }, { id: 'write' }),
      call('glob', { pattern: '**/*.js' }, { id: 'glob' }),
    ],
  },
  { parts: [text('Done.')] },
];
const FILES = { 'src/a.js': 'const needle = 1;\n' };
/** An id that no list of users knows. */
const NOBODY_AT_ALL = 54_321;
const isRoot = process.getuid?.() === 0;
const asRoot = isRoot ? test : test.skip;
if (!isRoot) process.stderr.write('SKIPPED: tests that need root, to become somebody without a name\n');

interface Surroundings {
  readonly where?: Scratch;
  readonly env?: Readonly<Record<string, string>>;
  /** Variables to take away. */
  readonly without?: readonly string[];
  readonly before?: string;
  readonly uid?: number;
  readonly args?: readonly string[];
}

/** A run that does all the work, in given surroundings. */
async function work({
  where = place(FILES),
  env = {},
  without = [],
  before = '',
  uid,
  args = [],
}: Surroundings) {
  const server = await serve(WORK);
  const PATH = [binFolder(where), process.env['PATH']].join(delimiter);
  const all: Record<string, string> = { ...serverEnv(server, where, { PATH }), ...env };
  for (const name of without) delete all[name];
  const words = runArgs(where, ['--mode', 'yolo', '-p', 'x', ...args])
    .map(quoted)
    .join(' ');
  const bosun = quoted(join(where.root, 'bin/bosun'));
  const run = await runScript(`${before} ${bosun} ${words}`, {
    cwd: where.workspace,
    env: all,
    shell: '/bin/sh',
    ...(uid !== undefined && { uid }),
  });
  return { ...run, where };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function expectAllDone({ code, stdout, where }: Awaited<ReturnType<typeof work>>): void {
  expect([code, stdout]).toEqual([0, 'Done.\n']);
  const outputs = Object.fromEntries(ofType(eventsOf(where), 'tool_result').map((one) => [one.tool_id, one]));
  for (const { status } of Object.values(outputs)) expect(status).toBe('success');
  expect(String(outputs['shell']?.output)).toContain('const needle = 1;');
  expect(String(outputs['search']?.output)).toMatch(/^1 match in 1 file/);
  expect(readFileSync(join(where.workspace, 'new.txt'), 'utf8')).toBe('x\n');
}

/** A scratch whose folders anybody may write. */
function openPlace(): Scratch {
  const where = place(FILES);
  for (const folder of [where.root, where.workspace]) chmodSync(folder, 0o777);
  return where;
}

describe('all the work is done', () => {
  sampled.each<[string, Surroundings]>([
    ['without HOME', { without: ['HOME'] }],
    ['with a HOME that does not exist', { env: { HOME: '/nonexistent' } }],
    ['with an empty HOME', { env: { HOME: '' } }],
    ['with a TMPDIR that does not exist', { env: { TMPDIR: '/nonexistent' } }],
    ['in the locale C', { env: { LC_ALL: 'C', LANG: 'C' } }],
    ['with few open files', { before: 'ulimit -n 40;' }],
    ['without stdin', { before: 'exec <&-;' }],
    ['without stderr', { before: 'exec 2>&-;' }],
    ['with a small stack and no core files', { before: 'ulimit -s 4096; ulimit -c 0;' }],
    ['with a umask that takes everything from others', { before: 'umask 077;' }],
  ])('%s', async (_, surroundings) => {
    expectAllDone(await work(surroundings));
  });

  test.each([
    ['no program but node and what is in /bin/sh', []],
    ['cat and pwd, but neither bash, git, rg, grep nor ps', ['cat', 'pwd']],
  ])('with %s', async (_, names) => {
    const where = place(FILES);
    const bin = join(where.root, 'few');
    mkdirSync(bin);
    for (const name of ['node', ...names]) symlinkSync(installed(name) ?? '', join(bin, name));
    const run = await work({ where, env: { PATH: bin } });
    if (names.length > 0) return expectAllDone(run);
    expect(run.code).toBe(0);
    expect(ofType(eventsOf(where), 'tool_result').map(({ status }) => status)).toEqual(
      Array(4).fill('success'),
    );
  });

  const busybox = installed('busybox');
  (busybox ? test : test.skip)('with busybox for everything, as on Alpine (needs busybox)', async () => {
    const where = place(FILES);
    const bin = join(where.root, 'alpine');
    mkdirSync(bin);
    for (const name of ['sh', 'cat', 'grep', 'ls', 'ps', 'sed', 'env', 'sleep'])
      symlinkSync(busybox ?? '', join(bin, name));
    symlinkSync(process.execPath, join(bin, 'node'));
    expectAllDone(await work({ where, env: { PATH: bin } }));
  });

  sampled.each([
    'with space',
    'ünïcödé 文字',
    'new\nline',
    'quo\'te "s"',
    '$(touch pwned)',
    '-dash',
    'per%cent#hash?',
  ])('in a workspace called %j', async (name) => {
    const outer = place();
    const workspace = join(outer.root, name);
    mkdirSync(join(workspace, 'src'), { recursive: true });
    writeFileSync(join(workspace, 'src/a.js'), FILES['src/a.js']);
    const where = { ...outer, workspace, transcript: join(outer.root, `${name}.jsonl`) };
    expectAllDone(await work({ where }));
    expect(existsSync(join(workspace, 'pwned'))).toBe(false);
  });

  asRoot('as somebody without a name, with a HOME that cannot be written', async () => {
    const where = openPlace();
    chmodSync(where.home, 0o555);
    expectAllDone(await work({ where, uid: NOBODY_AT_ALL }));
  });
});

asRoot('a workspace that cannot be written is read, with the transcript elsewhere', async () => {
  const where = openPlace();
  chmodSync(where.workspace, 0o555);
  const { code, stdout } = await work({ where, uid: NOBODY_AT_ALL });
  expect([code, stdout]).toEqual([0, 'Done.\n']);
  const results = ofType(eventsOf(where), 'tool_result');
  expect(results.map(({ error }) => error?.type)).toEqual([
    undefined,
    undefined,
    'permission_denied',
    undefined,
  ]);
});

asRoot(
  'a place for the transcript that cannot be written is exit 2, with one line that says so',
  async () => {
    const where = openPlace();
    chmodSync(where.workspace, 0o555);
    const elsewhere = { ...where, transcript: join(where.workspace, '.bosun/x.jsonl') };
    const { code, stdout, stderr } = await work({ where: elsewhere, uid: NOBODY_AT_ALL });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^bosun: error: .*transcript.*\n$/);
  },
);

test('without bash a line that only bash understands is refused', async () => {
  const where = place({ evil: '#!/bin/sh\ntouch pwned\n' });
  chmodSync(join(where.workspace, 'evil'), 0o755);
  const bin = join(where.root, 'few');
  mkdirSync(bin);
  for (const name of ['node', 'touch']) symlinkSync(installed(name) ?? '', join(bin, name));
  const policy = join(where.root, 'policy.yaml');
  writeFileSync(
    policy,
    'version: 1\nmode: plan\nrules:\n  - {id: echo, tool: run_shell_command, command: [echo], decision: allow}\n',
  );
  const server = await serve([
    {
      parts: [
        call('run_shell_command', { command: '[[ a || ./evil ]]' }),
        call('run_shell_command', { command: 'echo fine' }),
      ],
    },
    { parts: [text('Done.')] },
  ]);
  const words = runArgs(where, ['--policy', policy, '-p', 'x']).map(quoted).join(' ');
  const env = serverEnv(server, where, { PATH: bin });
  const { code } = await runScript(`${quoted(join(binFolder(where), 'bosun'))} ${words}`, {
    cwd: where.workspace,
    env,
    shell: '/bin/sh',
  });
  expect(code).toBe(3);
  expect(existsSync(join(where.workspace, 'pwned'))).toBe(false);
  expect(resultOf(where).denials).toHaveLength(1);
});
