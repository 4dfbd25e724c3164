import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { sampled } from '../helpers/counts.js';
import { call, text, type Reply } from '../helpers/gemini-server.mjs';
import { runUnder } from '../helpers/in-process.js';
import { endProcess } from '../helpers/processes.js';
import { resumeIn } from '../helpers/resume.js';
import {
  eventsOf,
  fileIn,
  ofType,
  resultOf,
  runAgainst,
  runArgs,
  runCli,
  serverEnv,
  startCli,
  type Scratch,
} from '../helpers/run-cli.js';
import { bosunRun, bosunUnder, place, serve, type Server } from '../helpers/served.js';
import { until } from '../helpers/until.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const says = (words: string): Reply => ({ parts: [text(words)] });
const done = says('Done.');
const writes = (file_path: string, content: string): Reply => ({
  parts: [call('write_file', { file_path, content })],
});
const YOLO = ['--mode', 'yolo'];
const lastTold = (server: Server, request: number): string =>
  server.requests[request]?.body.contents.at(-1).parts[0].text;
const checks = (where: Scratch) => ofType(eventsOf(where), 'verification');

describe('--verify', () => {
  test('commands that succeed let the run end as it would, and are told in the transcript', async () => {
    const {
      code,
      stdout,
      server,
      place: where,
    } = await bosunRun(
      [writes('made.txt', 'x'), done],
      [...YOLO, '--verify', 'cat made.txt', '--verify', 'test -f made.txt'],
    );
    expect([code, stdout, server.requests.length]).toEqual([0, 'Done.\n', 2]);
    expect(checks(where)).toMatchObject([
      {
        condition: 'verify',
        command: 'cat made.txt',
        ok: true,
        attempt: 1,
        exit_code: 0,
        signal: null,
        output: 'x',
        message: 'succeeded',
        duration_ms: expect.any(Number),
      },
      { command: 'test -f made.txt', ok: true },
    ]);
    expect(ofType(eventsOf(where), 'init')[0]?.success).toEqual({
      verify: ['cat made.txt', 'test -f made.txt'],
      require_changes: false,
      repairs: 2,
    });
    expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
  });

  test('a failing one sends its output back, and the model mends it', async () => {
    const {
      code,
      stdout,
      server,
      place: where,
    } = await bosunRun(
      [done, writes('made.txt', 'x'), says('Now it is.')],
      [...YOLO, '--verify', 'echo looking for made.txt; test -f made.txt', '--verify', 'echo fine'],
    );
    expect([code, stdout]).toEqual([0, 'Now it is.\n']);
    const told = lastTold(server, 1);
    expect(told).toContain('failed with exit code 1');
    expect(told).toContain('\nlooking for made.txt\n');
    expect(told).not.toContain('echo fine');
    // Tools are there to mend it with.
    expect(server.requests[1]?.body.tools).toBeDefined();
    expect(checks(where).map(({ ok, attempt }) => [ok, attempt])).toEqual([
      [false, 1],
      [true, 1],
      [true, 2],
      [true, 2],
    ]);
    expect(ofType(eventsOf(where), 'message').map(({ repair }) => repair)).toEqual([
      ...[undefined, undefined, 'verify', undefined],
    ]);
  });

  test('after two repairs it is unverified, with the answer still there', async () => {
    const {
      code,
      stdout,
      stderr,
      server,
      place: where,
    } = await bosunRun(() => says('I am sure.'), [...YOLO, '--verify', 'exit 3']);
    expect([code, stdout, server.requests.length]).toEqual([5, 'I am sure.\n', 3]);
    expect(resultOf(where)).toMatchObject({
      status: 'unverified',
      reason: 'verify',
      exit_code: 5,
      response: 'I am sure.',
      error: { message: '`exit 3` failed with exit code 3, after 2 repairs' },
    });
    expect(stderr).toContain('unverified (verify): `exit 3` failed');
  });

  sampled.each([
    ['no-such-program --now', 'failed with exit code 127', 127, null],
    ['kill -SEGV $$', 'was killed by SIGSEGV', null, 'SIGSEGV'],
    ['if', 'failed with exit code 2', 2, null],
    ['sleep 60 & exit 1', 'failed with exit code 1', 1, null],
  ])('`%s` fails', async (command, message, exit_code, signal) => {
    const policy = JSON.stringify({ version: 1, mode: 'yolo', success: { verify: [command], repairs: 0 } });
    const { code, server, place: where } = await runUnder(policy, [done]);
    expect([code, server.requests.length]).toEqual([5, 1]);
    expect(checks(where)).toMatchObject([{ ok: false, message, exit_code, signal }]);
    expect(resultOf(where).error?.message).toBe(`\`${command}\` ${message}`);
  });

  test('a workspace that is gone cannot be verified in', async () => {
    const policy = JSON.stringify({ version: 1, mode: 'yolo', success: { verify: ['true'], repairs: 0 } });
    const where = place();
    const removes = { parts: [call('run_shell_command', { command: 'rm -r "$PWD"' })] };
    // In a sandbox it cannot be removed.
    const { code } = await bosunUnder(policy, [removes, done], ['--sandbox', 'off'], where);
    expect(code).toBe(5);
    expect(checks(where)).toMatchObject([
      { ok: false, message: expect.stringContaining('could not be started'), exit_code: null },
    ]);
  });

  test('the timeouts of the shell hold', async () => {
    const policy = (time: string) =>
      JSON.stringify({
        ...{ version: 1, mode: 'yolo' },
        shell: { [time]: '300ms' },
        success: { verify: ['echo begun; sleep 60'], repairs: 0 },
      });
    for (const time of ['timeout', 'idle_timeout']) {
      const { code, place: where } = await runUnder(policy(time), [done]);
      expect(code).toBe(5);
      expect(checks(where)).toMatchObject([{ ok: false, timed_out: true, output: 'begun\n' }]);
      expect(checks(where)[0]?.message).toContain('killed after');
    }
  });

  test('nothing of it is decided by the policy, and it sees no key', async () => {
    const { code, place: where } = await bosunRun(
      [done],
      ['--verify', 'touch proof; env'],
      {},
      {
        env: { OPENAI_API_KEY: 'sk-other-key-0123456789', GITHUB_TOKEN: 'ghp-token-0123456789' },
      },
    );
    // The mode is plan: the model itself could not have done that.
    expect([code, existsSync(join(where.workspace, 'proof'))]).toEqual([0, true]);
    const output = checks(where)[0]?.output ?? '';
    expect(output).toContain('CI=1');
    expect(output).not.toMatch(/test-key|sk-other|ghp-token|API_KEY/);
    expect(ofType(eventsOf(where), 'policy_decision')).toEqual([]);
  });

  test('long output is capped for the model and whole on disk', async () => {
    const policy = JSON.stringify({
      ...{ version: 1, mode: 'yolo' },
      limits: { tool_output: 4000 },
      success: { verify: ['seq 1 100000; exit 1'], repairs: 1 },
    });
    const { code, server, place: where } = await runUnder(policy, () => done);
    expect(code).toBe(5);
    expect(lastTold(server, 1).length).toBeLessThan(6000);
    expect(lastTold(server, 1)).toContain('100000\n');
    const [check] = checks(where);
    expect(readFileSync(resolve(where.workspace, check?.full_output ?? ''), 'utf8')).toHaveLength(588895);
  });

  test('places in its output are told', async () => {
    const output = [
      'src/a.ts:3:7 - error TS2304: Cannot find name',
      'src/a.ts(9,2): error',
      '  at Object.<anonymous> (WS/src/a.ts:12:5)',
      '  File "tool.py", line 4, in <module>',
      'not/there.ts:5: nothing',
      '/etc/passwd:1: no',
      'at 12:30:45 nothing happened',
    ].join('\n');
    const where = place({ 'src/a.ts': '', 'tool.py': '', 'log.txt': output });
    const server = await serve(() => done);
    const command = 'sed "s#WS#$PWD#" log.txt; false';
    expect((await runAgainst(server, where, ['-p', 'x', '--verify', command])).code).toBe(5);
    expect(checks(where)[0]?.places?.map(({ file, line, column }) => [file, line, column])).toEqual([
      ['src/a.ts', 3, 7],
      ['src/a.ts', 9, 2],
      ['src/a.ts', 12, 5],
      ['tool.py', 4, undefined],
    ]);
  });

  test.each([
    [['--verify', ''], 'empty command'],
    [['--verify', '  '], 'empty command'],
  ])('%j is a mistake', async (args, why) => {
    const { code, stderr, server } = await bosunRun([done], args);
    expect([code, server.requests.length]).toEqual([2, 0]);
    expect(stderr).toContain(why);
  });

  test('comes from the environment, a command a line', async () => {
    const env = { BOSUN_VERIFY: 'true\n\nfalse\n' };
    const { code, place: where } = await bosunRun(() => done, [], {}, { env });
    expect(code).toBe(5);
    expect(checks(where).map(({ command }) => command)).toEqual([1, 2, 3].flatMap(() => ['true', 'false']));
  });
});

describe('in policies', () => {
  const policy = (success: object, more: object = {}) =>
    JSON.stringify({ version: 1, mode: 'yolo', success, ...more });

  test('of several all commands count, and the fewest repairs', async () => {
    const where = place();
    const files = [
      policy({ verify: ['echo 1', 'echo 2'], repairs: 3 }),
      policy({ verify: ['echo 2', 'echo 3'], repairs: 1 }),
    ].map((content, i) => {
      const file = join(where.root, `policy${i}.yaml`);
      writeFileSync(file, content);
      return file;
    });
    const server = await serve(() => done);
    const args = files.flatMap((file) => ['--policy', file]);
    const { code } = await runAgainst(server, where, [...args, '-p', 'x', '--verify', 'false']);
    expect([code, server.requests.length]).toEqual([5, 2]);
    expect(ofType(eventsOf(where), 'init')[0]?.success).toEqual({
      verify: ['echo 1', 'echo 2', 'echo 3', 'false'],
      require_changes: false,
      repairs: 1,
    });
  });

  test('with `extends` lists add up and single values override', async () => {
    const where = place();
    writeFileSync(join(where.root, 'base.yaml'), policy({ verify: ['true'], repairs: 0 }));
    const child = policy({ verify: ['false'], repairs: 1 }, { extends: ['./base.yaml'] });
    const { code, server } = await runUnder(child, () => done, {}, where);
    expect([code, server.requests.length]).toEqual([5, 2]);
    expect(ofType(eventsOf(where), 'init')[0]?.success?.verify).toEqual(['true', 'false']);
  });

  sampled.each([
    [{ verify: [] }, 'verify'],
    [{ verify: [' '] }, 'verify'],
    [{ verify: 'npm test' }, 'verify'],
    [{ verify: ['true'], repairs: -1 }, 'repairs'],
    [{ verify: ['true'], repair: 1 }, 'repair'],
  ])('%j is refused', async (success, key) => {
    const { code, stderr, server } = await bosunUnder(policy(success), [done]);
    expect([code, server.requests.length]).toEqual([2, 0]);
    expect(stderr).toContain(key);
  });
});

test('the form of the answer is looked at before the work, and each has its own repairs', async () => {
  const where = place();
  const file = join(where.root, 'schema.json');
  writeFileSync(file, JSON.stringify({ type: 'object', required: ['ok'] }));
  const server = await serve([
    says('fine'),
    says('{"ok": 1}'),
    writes('made.txt', ''),
    says('so'),
    says('{"ok": 2}'),
  ]);
  const { code, stdout } = await runAgainst(server, where, [
    ...[...YOLO, '-p', 'x', '--output-schema', file, '--verify', 'test -f made.txt'],
  ]);
  expect([code, stdout]).toEqual([0, '{"ok": 2}\n']);
  expect(checks(where).map(({ ok }) => ok)).toEqual([false, true]);
  expect(ofType(eventsOf(where), 'message').flatMap(({ repair }) => repair ?? [])).toEqual([
    ...['output_schema', 'verify', 'output_schema'],
  ]);
  const withTools = server.requests.map(({ body }) => body.tools !== undefined);
  expect(withTools).toEqual([true, false, true, true, false]);
});

test('an unverified run keeps the value of its answer', async () => {
  const where = place();
  const file = join(where.root, 'schema.json');
  writeFileSync(file, '{}');
  const server = await serve(() => says('{"ok": 1}'));
  const args = ['-p', 'x', '--output-schema', file, '--verify', 'false'];
  expect((await runAgainst(server, where, args)).code).toBe(5);
  expect(resultOf(where)).toMatchObject({ reason: 'verify', structured_output: { ok: 1 } });
});

describe('beside denials', () => {
  const refused = { parts: [call('run_shell_command', { command: 'ls' })] };
  test('a failed verification is the worse news', async () => {
    const { code, place: where } = await bosunRun(
      (_request, i) => (i === 0 ? refused : done),
      ['--verify', 'false'],
    );
    expect(code).toBe(5);
    expect(resultOf(where)).toMatchObject({ status: 'unverified', denials: [{}] });
  });

  test('one that succeeds does not make up for them', async () => {
    const { code, place: where } = await bosunRun([refused, done], ['--verify', 'true']);
    expect(code).toBe(3);
    expect(checks(where)).toMatchObject([{ ok: true }]);
  });
});

test('a dry run verifies nothing, and says so', async () => {
  const { code, stderr, place: where } = await bosunRun([done], ['--dry-run', '--verify', 'touch x; false']);
  expect(code).toBe(0);
  expect([checks(where), existsSync(join(where.workspace, 'x'))]).toEqual([[], false]);
  expect(resultOf(where).warnings).toEqual(['dry run: success conditions are not checked: touch x; false']);
  expect(stderr).toContain('success conditions are not checked');
});

describe('stopped while it is verified', () => {
  const SLOW = 'echo $$ > pid; mv pid begun; exec sleep 60';

  test('the time limit holds', async () => {
    const { code, place: where } = await bosunRun([done], ['--timeout', '1s', '--verify', SLOW]);
    expect(code).toBe(6);
    expect(resultOf(where)).toMatchObject({ status: 'limit', reason: 'time' });
    expect(checks(where)).toEqual([]);
  });

  test('the limit of turns holds for repairs', async () => {
    const { code, server } = await bosunRun(() => done, ['--max-turns', '1', '--verify', 'false']);
    expect([code, server.requests.length]).toEqual([6, 1]);
  });

  test.each(['SIGINT', 'SIGKILL'] as const)('%s, and it is resumed', async (signal) => {
    const where = place();
    const server = await serve([says('First.'), done, says('Second.')]);
    const command = `test -f begun && exit $(cat code); ${SLOW}`;
    const { child, done: ended } = startCli(runArgs(where, ['-p', 'x', '--verify', command]), {
      env: serverEnv(server, where),
    });
    await until(() => fileIn(where, 'begun') !== undefined, 'the verification');
    child.kill(signal);
    expect((await ended).code).toBe(signal === 'SIGINT' ? 130 : null);
    if (signal === 'SIGKILL') endProcess(Number(fileIn(where, 'begun')));
    expect(checks(where)).toEqual([]);

    writeFileSync(join(where.workspace, 'code'), '0');
    const { code, stdout } = await resumeIn(server, where);
    expect([code, stdout, server.requests.length]).toEqual([0, 'First.\n', 1]);
    expect(checks(where)).toMatchObject([{ ok: true, attempt: 1 }]);
    expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
  });

  test('repairs that were used stay used, and resume can ask for more, not for less', async () => {
    const where = place();
    const server = await serve((_request, i) => (i === 1 ? { hang: true } : done));
    const { child, done: ended } = startCli(runArgs(where, ['-p', 'x', '--verify', 'false']), {
      env: serverEnv(server, where),
    });
    await until(() => server.requests.length === 2, 'the repair');
    child.kill('SIGKILL');
    await ended;
    const { code } = await resumeIn(server, where, ['--verify', 'echo more']);
    // One more repair was left.
    expect([code, server.requests.length]).toEqual([5, 4]);
    expect(server.requests[2]?.body.contents).toEqual(server.requests[1]?.body.contents);
    expect(checks(where).map(({ command, attempt }) => [command, attempt])).toEqual([
      ['false', 1],
      ...[2, 3].flatMap((attempt) => [
        ['false', attempt],
        ['echo more', attempt],
      ]),
    ]);
    expect((await resumeIn(server, where)).code).toBe(2);
  });
});

test('help and the schema of policies say it', async () => {
  const { stdout } = await runCli(['run', '--help']);
  expect(stdout).toContain('--verify <command>');
  const schema = JSON.parse((await runCli(['policy', 'schema'])).stdout);
  expect(Object.keys(schema.properties.success.properties)).toEqual(['verify', 'require_changes', 'repairs']);
});
