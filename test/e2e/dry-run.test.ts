import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { sampled } from '../helpers/counts.js';
import { fileTree } from '../helpers/file-tree.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { EVERYTHING } from '../helpers/mcp.js';
import { resumeIn } from '../helpers/resume.js';
import {
  eventsOf,
  ofType,
  REPOSITORY,
  resultOf,
  runArgs,
  runCli,
  serverEnv,
  startCli,
} from '../helpers/run-cli.js';
import { bosunRun, bosunUnder, place, serve, type Server } from '../helpers/served.js';
import { until } from '../helpers/until.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const FILES = { 'a.txt': 'one\n', 'sub/b.txt': 'two\n' };

/** What the model was answered, call by call. */
function answers(server: Server): { output?: string; error?: string; type?: string }[] {
  const parts = server.requests[1]?.body.contents.at(-1).parts ?? [];
  return parts.map((part: { functionResponse: { response: object } }) => part.functionResponse.response);
}

test('what would change something is answered and not done; what only reads is done', async () => {
  const where = place(FILES);
  const before = fileTree(where.workspace);
  const run = await bosunUnder(
    'version: 1\nmode: yolo\nmemory: {file: notes.md}\n',
    [
      {
        parts: [
          call('read_file', { file_path: 'a.txt' }),
          call('write_file', { file_path: 'a.txt', content: 'three\n' }),
          call('write_file', { file_path: 'new/c.txt', content: 'three\n' }),
          call('replace', { file_path: 'a.txt', old_string: 'one', new_string: 'two' }),
          call('run_shell_command', { command: 'touch shell; rm -r sub' }),
          call('save_memory', { fact: 'Dry runs write nothing.' }),
          call('write_todos', { todos: [{ description: 'look', status: 'completed' }] }),
          call('glob', { pattern: '**/*.txt' }),
        ],
      },
      done,
    ],
    ['--dry-run'],
    where,
  );
  expect([run.code, run.stdout]).toEqual([0, 'Done.\n']);
  const suppressed = { output: expect.stringMatching(/^suppressed \(dry run\)/) };
  const [read, write, create, replace, shell, memory, todos, glob] = answers(run.server);
  expect(read).toEqual({ output: 'one\n' });
  for (const answer of [write, create, replace, shell, memory]) expect(answer).toEqual(suppressed);
  expect(todos?.output).not.toMatch(/suppressed/);
  expect(glob?.output).toContain('a.txt');
  expect(fileTree(where.workspace)).toEqual(before);

  const events = eventsOf(where);
  expect(ofType(events, 'init')[0]?.dry_run).toBe(true);
  expect(ofType(events, 'tool_start')).toEqual([]);
  expect(ofType(events, 'tool_result').map(({ suppressed: one }) => one ?? false)).toEqual([
    ...[false, true, true, true, true, true, false, false],
  ]);
  expect(resultOf(where)).toMatchObject({
    status: 'completed',
    dry_run: true,
    denials: [],
    stats: { files_changed: 0, tool_calls: 8 },
  });
  expect(run.server.requests[0]?.body.systemInstruction.parts[0].text).toContain('This is a dry run');
  expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
});

test('tools from elsewhere run only if the policy calls them read-only', async () => {
  const discovery = join(REPOSITORY, 'fixtures/programs/discovery.mjs');
  const policy = {
    version: 1,
    mode: 'yolo',
    mcp: {
      servers: {
        everything: { command: [process.execPath, EVERYTHING, 'stdio'], read_only_tools: ['echo'] },
      },
    },
    discovery: {
      list: [process.execPath, discovery, 'list', 'plain'],
      call: [process.execPath, discovery, 'call'],
      read_only_tools: ['echo'],
    },
  };
  const run = await bosunUnder(
    JSON.stringify(policy),
    [
      {
        parts: [
          call('everything__echo', { message: 'ahoy' }),
          call('everything__get-sum', { a: 1, b: 2 }),
          call('discovered_tool_echo', { text: 'x' }),
          call('discovered_tool_warn', { text: 'x' }),
        ],
      },
      done,
    ],
    ['--dry-run'],
  );
  expect(run.code).toBe(0);
  const outputs = answers(run.server).map(({ output = '' }) => output.startsWith('suppressed (dry run)'));
  expect(outputs).toEqual([false, true, false, true]);
});

describe('the policy decides first', () => {
  test('what it refuses is refused, told so, and counts as a denial', async () => {
    const run = await bosunRun(
      [
        {
          parts: [
            call('write_file', { file_path: 'x', content: '' }),
            call('write_file', { file_path: '../x', content: '' }),
          ],
        },
        done,
      ],
      ['--dry-run'],
    );
    expect(run.code).toBe(3);
    expect(answers(run.server)).toMatchObject([{ type: 'policy_denied' }, { type: 'policy_denied' }]);
    expect(resultOf(run.place)).toMatchObject({ status: 'denied', dry_run: true });
  });

  sampled.each([
    ['on_ask: deny', 3, 'approval_denied'],
    ['on_ask: fail', 3, undefined],
    ['on_ask: defer', 0, undefined],
    ['on_ask: {command: [touch, asked]}', 0, undefined],
  ])('an ask under `%s` bothers nobody', async (onAsk, code, type) => {
    const where = place(FILES);
    const before = fileTree(where.workspace);
    const shell = { parts: [call('run_shell_command', { command: 'touch x' })] };
    const run = await bosunUnder(
      `version: 1\nmode: auto_edit\n${onAsk}\n`,
      [shell, done],
      ['--dry-run'],
      where,
    );
    expect(run.code).toBe(code);
    if (type) expect(answers(run.server)).toMatchObject([{ type }]);
    if (code === 0) expect(answers(run.server)[0]?.output).toContain('It would need an approval');
    expect(fileTree(where.workspace)).toEqual(before);
  });
});

describe('BOSUN_DRY_RUN', () => {
  const write = { parts: [call('write_file', { file_path: 'x', content: '' })] };
  sampled.each([
    ['1', 0, false],
    ['true', 0, false],
    ['0', 0, true],
    ['off', 0, true],
    ['ture', 2, false],
    ['2', 2, false],
    [' ', 2, false],
    ['dry', 2, false],
  ])('%j', async (value, code, written) => {
    const run = await bosunRun([write, done], ['--mode', 'yolo'], {}, { env: { BOSUN_DRY_RUN: value } });
    expect(run.code).toBe(code);
    expect(existsSync(join(run.place.workspace, 'x'))).toBe(written);
    if (code === 2) expect(run.server.requests).toHaveLength(0);
  });

  test('a value does not fall through to a real run on resume either', async () => {
    const where = place();
    const server = await serve([{ hang: true }, write, done]);
    const { child, done: ended } = startCli(runArgs(where, ['-p', 'x', '--mode', 'yolo']), {
      env: serverEnv(server, where),
    });
    await until(() => server.requests.length === 1, 'the first request');
    child.kill('SIGINT');
    expect((await ended).code).toBe(130);
    expect((await resumeIn(server, where, [], { env: { BOSUN_DRY_RUN: 'perhaps' } })).code).toBe(2);
    expect((await resumeIn(server, where, ['--dry-run'])).code).toBe(0);
    expect(existsSync(join(where.workspace, 'x'))).toBe(false);
  });
});

test('a dry run that goes on is one still', async () => {
  const where = place();
  const write = { parts: [call('write_file', { file_path: 'x', content: '' })] };
  const server = await serve([{ hang: true }, write, done]);
  const { child, done: ended } = startCli(runArgs(where, ['-p', 'x', '--mode', 'yolo', '--dry-run']), {
    env: serverEnv(server, where),
  });
  await until(() => server.requests.length === 1, 'the first request');
  child.kill('SIGKILL');
  await ended;
  expect((await resumeIn(server, where)).code).toBe(0);
  expect(existsSync(join(where.workspace, 'x'))).toBe(false);
  expect(ofType(eventsOf(where), 'init').map(({ dry_run }) => dry_run)).toEqual([true, true]);
  expect(resultOf(where).dry_run).toBe(true);
});

test('help says it', async () => {
  const { stdout } = await runCli(['run', '--help']);
  expect(stdout).toContain('--dry-run');
});
