import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { sampled } from '../helpers/counts.js';
import { call, text } from '../helpers/gemini-server.mjs';
import {
  BIN,
  cleanEnv,
  eventsOf,
  IMPATIENT,
  ofType,
  resultOf,
  runArgs,
  runCli,
  serverEnv,
  startCli,
} from '../helpers/run-cli.js';
import { bosunRun, place, serve } from '../helpers/served.js';
import { isAlive, until } from '../helpers/until.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };

describe('what would make a synchronous program wait for ever does not', () => {
  const fifo = (path: string) => expect(spawnSync('mkfifo', [path]).status).toBe(0);

  sampled.each(['--transcript', '--replay', '--prompt-file', '--file'])(
    'a FIFO for %s is exit 2',
    async (flag) => {
      const where = place();
      const path = join(where.root, 'fifo');
      fifo(path);
      const prompt = flag === '--prompt-file' ? [] : ['-p', 'x'];
      const env = serverEnv({ url: 'http://127.0.0.1:9' }, where);
      const { code } = await runCli(
        ['run', '-C', where.workspace, ...prompt, flag, path, '--stdin-timeout', '200ms'],
        { env },
      );
      expect(code).toBe(2);
    },
  );

  test('a transcript in /proc is exit 2', async () => {
    const where = place();
    const env = serverEnv({ url: 'http://127.0.0.1:9' }, where);
    const { code, stderr } = await runCli(['run', '-p', 'x', '--transcript', '/proc/nope/t.jsonl'], { env });
    expect(code).toBe(2);
    expect(stderr).toMatch(/cannot be written/);
  });

  test('FIFOs as .gitignore and .git/HEAD are passed over', async () => {
    const where = place({ 'a.txt': 'A' });
    mkdirSync(join(where.workspace, '.git'));
    fifo(join(where.workspace, '.git/HEAD'));
    fifo(join(where.workspace, '.gitignore'));
    const server = await serve([{ parts: [call('list_directory', { path: '.' })] }, done]);
    const { code } = await startCli(runArgs(where, ['-p', 'x']), { env: serverEnv(server, where) }).done;
    expect(code).toBe(0);
    expect(String(ofType(eventsOf(where), 'tool_result')[0]?.output)).toContain('a.txt');
  });
});

describe('odd answers of a model', () => {
  const odd: [string, object, number][] = [
    ['a call named __proto__', call('__proto__', { __proto__: 1 }), 0],
    ['a call named constructor', call('constructor', {}), 0],
    ['a call without a name', { functionCall: { args: {} } }, 7],
    ['a call whose name is a number', { functionCall: { name: 7, args: {} } }, 7],
    ['a call whose id is a number', { functionCall: { id: 7, name: 'read_file', args: {} } }, 7],
    ['arguments that are a list', { functionCall: { name: 'read_file', args: [1] } }, 0],
    ['arguments that are missing', { functionCall: { name: 'read_file' } }, 0],
  ];
  sampled.each(odd)('%s: a documented end and a valid transcript', async (_what, part, expected) => {
    const usage = { promptTokenCount: -5, candidatesTokenCount: 1.5, totalTokenCount: 10 };
    const script = (_request: unknown, index: number) =>
      index === 0 || expected === 7
        ? { parts: [part], usage }
        : {
            parts: [call('read_file', { file_path: 'a.txt' }), text('')].slice(0, index === 1 ? 1 : 0),
            usage,
          };
    const { code, place: where, stderr } = await bosunRun(script, ['--progress', 'none'], { 'a.txt': 'A' });
    expect(code).toBe(expected);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
    if (expected === 0) expect(ofType(eventsOf(where), 'tool_result').at(-1)?.output).toBe('A');
  });

  test('arguments nested 20,000 deep are no call, and the model is told', async () => {
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
    const event = `data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"read_file","args":${deep}}}]},"finishReason":"STOP"}]}\r\n\r\n`;
    const { code, place: where } = await bosunRun(
      [{ raw: event }, { raw: event }, { raw: event }],
      IMPATIENT,
    );
    expect([code, resultOf(where).reason]).toEqual([7, 'malformed_function_call']);
  });

  test('ids that look like ours do not meet ours', async () => {
    const parts = [
      call('read_file', { file_path: 'a.txt' }, { id: 'call_1' }),
      call('read_file', { file_path: 'b.txt' }),
    ];
    const { server } = await bosunRun([{ parts }, done], [], { 'a.txt': 'A', 'b.txt': 'B' });
    const ids = server.requests[1]?.body.contents[2].parts.map(
      (part: { functionResponse: { id: string } }) => part.functionResponse.id,
    );
    expect(new Set(ids).size).toBe(2);
  });
});

describe('the workspace boundary', () => {
  test('holds against a link that an earlier call of the same turn made', async () => {
    const parts = [
      call('run_shell_command', { command: 'mkdir ../out; ln -s ../out link' }, { id: '1' }),
      call('write_file', { file_path: 'link/x', content: 'x' }, { id: '2' }),
    ];
    const args = ['--mode', 'yolo', '--sandbox', 'off'];
    const { place: where } = await bosunRun([{ parts }, done], args);
    expect(ofType(eventsOf(where), 'tool_result')[1]?.error?.type).toBe('path_not_in_workspace');
    expect(existsSync(join(where.root, 'out/x'))).toBe(false);
  });

  test('is not moved by a link where transcripts go', async () => {
    const where = place();
    mkdirSync(join(where.root, 'victim'));
    symlinkSync('../victim', join(where.workspace, '.bosun'));
    const env = serverEnv({ url: 'http://127.0.0.1:9' }, where);
    const { code, stderr } = await runCli(['run', '-C', where.workspace, '-p', 'x'], { env });
    expect(code).toBe(2);
    expect(stderr).toMatch(/symbolic link/);
    expect(existsSync(join(where.root, 'victim/runs'))).toBe(false);
  });
});

test('a second signal leaves at once, with a result, and with nothing left alive', async () => {
  const where = place();
  const command = `trap '' TERM INT; setsid bash -c "trap '' TERM; echo \\$\\$ > child.pid; sleep 60" & sleep 60; wait`;
  const server = await serve([{ parts: [call('run_shell_command', { command })] }]);
  // In a sandbox its number would be another one.
  const { child, done: ended } = startCli(runArgs(where, ['-p', 'x', '--mode', 'yolo', '--sandbox', 'off']), {
    env: serverEnv(server, where),
  });
  await until(() => existsSync(join(where.workspace, 'child.pid')), 'the child');
  child.kill('SIGINT');
  child.kill('SIGTERM');
  expect([130, 143]).toContain((await ended).code);
  expect(resultOf(where).status).toBe('cancelled');
  const pid = Number(readFileSync(join(where.workspace, 'child.pid'), 'utf8'));
  await until(() => !isAlive(pid), 'the child to be gone', 3000);
});

describe('nothing is dropped in silence', () => {
  const cases: [string[], RegExp][] = [
    [['-p', 'a', '-p', 'b'], /--prompt is given twice/],
    [['-p', 'a', '--stdin', ''], /label of --stdin is empty/],
    [['--replay', 'RECORDING', '--file', '/etc/hostname'], /attach something to a prompt/],
  ];
  sampled.each(cases)('%j is exit 2', async (args, message) => {
    const where = place();
    const { place: recording } = await bosunRun([done], []);
    const given = args.map((arg) => (arg === 'RECORDING' ? recording.transcript : arg));
    const env = serverEnv({ url: 'http://127.0.0.1:9' }, where);
    const { code, stderr } = await runCli(['run', '-C', where.workspace, ...given], { env });
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });

  test('a variable gives way to a flag that contradicts it', async () => {
    const { code, server } = await bosunRun([done], [], {}, { env: { BOSUN_REPLAY: '/no/such' } });
    expect([code, server.requests.length]).toEqual([0, 1]);
  });

  test('an argument that is not UTF-8 is exit 2', async () => {
    const where = place();
    const env = { ...serverEnv({ url: 'http://127.0.0.1:9' }, where), NODE: process.execPath, BIN };
    const child = spawn('bash', ['-c', `"$NODE" "$BIN" -p $'caf\\xe9'`], {
      cwd: where.workspace,
      env,
      stdio: 'ignore',
    });
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(2);
  });
});

test('whoever reads JSON gets a result even when the flags are wrong', async () => {
  for (const args of [
    ['run', '--nope', '-o', 'json'],
    ['run', '-p', 'a', 'b', '--output-format=stream-json'],
  ]) {
    const { code, stdout } = await runCli(args);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ type: 'result', status: 'config_error', exit_code: 2, v: 1 });
  }
});

describe('what cannot work is found before the first request', () => {
  const cases: [string, Record<string, string>, number, RegExp][] = [
    [
      'a base URL that is none',
      { GOOGLE_GEMINI_BASE_URL: 'localhost:80' },
      2,
      /GOOGLE_GEMINI_BASE_URL=localhost:80/,
    ],
    ['a proxy that is none', { HTTPS_PROXY: 'socks5://u:secret@h:1' }, 2, /proxy/],
    ['a key with a line break', { GEMINI_API_KEY: 'abc\ndef' }, 9, /GEMINI_API_KEY is not a key/],
  ];
  sampled.each(cases)('%s', async (_what, env, expected, message) => {
    const { code, stderr } = await bosunRun([done], [], {}, { env });
    expect(code).toBe(expected);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('secret');
  });
});

test('a server that quotes the key does not bring it into logs and transcript', async () => {
  const key = 'test-key-0123456789';
  const { stderr, place: where } = await bosunRun(
    [{ status: 400, body: { error: { message: `bad key ${key} ##[error]x` } } }],
    [],
  );
  expect(stderr + readFileSync(where.transcript, 'utf8')).not.toContain(key);
});

test('a report of a changed transcript shows it and is exit 5', async () => {
  const { place: where } = await bosunRun([done], []);
  writeFileSync(where.transcript, readFileSync(where.transcript, 'utf8').replace('"do it"', '"did it"'));
  const { code, stdout, stderr } = await runCli(['report', where.transcript], { env: cleanEnv(where.home) });
  expect(code).toBe(5);
  expect(stdout).toMatch(/status +completed/);
  expect(stderr).toMatch(/hash chain breaks at line/);
});
