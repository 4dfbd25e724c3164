import { appendFileSync, cpSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { sha256 } from '../../src/lib/ids.js';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { toldOf } from '../helpers/approvals.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { endProcess } from '../helpers/processes.js';
import { resumeIn } from '../helpers/resume.js';
import {
  eventsOf,
  fileIn,
  ofType,
  resultOf,
  runArgs,
  runCli,
  scratch,
  serverEnv,
  startCli,
  type Scratch,
} from '../helpers/run-cli.js';
import { bosunRun, place, serve, type Server } from '../helpers/served.js';
import { until } from '../helpers/until.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const shell = (command: string, id: string) => call('run_shell_command', { command }, { id });
const read = (file_path: string, id: string) => call('read_file', { file_path }, { id });
const write = (file_path: string, content: string, id: string) =>
  call('write_file', { file_path, content }, { id });

/** Starts a run and kills it with SIGKILL once something is true. */
async function killedRun(server: Server, where: Scratch, when: () => boolean, args: readonly string[] = []) {
  const { child, done: ended } = startCli(runArgs(where, ['-p', 'do it', '--mode', 'yolo', ...args]), {
    env: serverEnv(server, where),
  });
  await until(when, 'the moment to kill');
  child.kill('SIGKILL');
  await ended;
  const orphan = fileIn(where, 'begun');
  if (orphan !== undefined) endProcess(Number(orphan));
}

/** Leaves a process that outlives a killed run, as commands do. */
const SLOW = 'echo begun >> log; echo $$ > pid; mv pid begun; exec sleep 60';

describe('after kill -9', () => {
  test('finished calls are not repeated, the interrupted one is answered so, the rest runs', async () => {
    const where = place({ 'a.txt': 'A' });
    const parts = [
      shell('echo 1 >> log', 'first'),
      shell(SLOW, 'second'),
      write('b.txt', 'b', 'third'),
      read('a.txt', 'fourth'),
    ];
    const server = await serve([{ parts, usage: { promptTokenCount: 5, totalTokenCount: 7 } }, done]);
    await killedRun(server, where, () => existsSync(join(where.workspace, 'begun')));
    expect(ofType(eventsOf(where), 'result')).toEqual([]);
    const { code, stdout } = await resumeIn(server, where);
    expect([code, stdout]).toEqual([0, 'Done.\n']);
    expect(fileIn(where, 'log')).toBe('1\nbegun\n');
    expect(fileIn(where, 'b.txt')).toBe('b');
    const told = toldOf(server);
    expect(Object.keys(told)).toEqual(['first', 'second', 'third', 'fourth']);
    expect(told['second']).toEqual({
      type: 'unknown',
      error: expect.stringContaining('interrupted, outcome unknown; check before repeating'),
    });
    expect(told['fourth']).toEqual({ output: 'A' });
    const events = eventsOf(where);
    expect(ofType(events, 'init').map(({ resumed_from }) => resumed_from?.status)).toEqual([
      undefined,
      'killed',
    ]);
    expect(ofType(events, 'tool_use')).toHaveLength(4);
    expect(resultOf(where).stats).toMatchObject({
      turns: 2,
      tool_calls: 4,
      tools: { run_shell_command: { calls: 2, success: 1, error: 1 } },
    });
    expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
  });

  test('the next request is the one that would have been sent', async () => {
    const where = place({ 'a.txt': 'A' });
    const script = [
      {
        parts: [
          { text: 'Hm.', thoughtSignature: 'c2ln' },
          call('read_file', { file_path: 'a.txt' }, { thoughtSignature: 'eA==' }),
        ],
      },
      { hang: true },
      done,
    ];
    const server = await serve(script);
    await killedRun(server, where, () => server.requests.length === 2);
    expect((await resumeIn(server, where)).code).toBe(0);
    expect(server.requests[2]?.body).toEqual(server.requests[1]?.body);
  });

  test('a run that had nothing left to do but end, ends', async () => {
    const { place: where, server } = await bosunRun([{ parts: [text('All is well.')] }], []);
    dropLast(where, 1);
    const { code, stdout } = await resumeIn(server, where);
    expect([code, stdout]).toEqual([0, 'All is well.\n']);
    expect(server.requests).toHaveLength(1);
  });

  test('a torn last line is cut off, wherever it is torn', async () => {
    const { place: where, server } = await bosunRun([{ parts: [read('a.txt', '1')] }, done, done], [], {
      'a.txt': 'A',
    });
    dropLast(where, 1);
    const whole = readFileSync(where.transcript);
    const lastLine = whole.lastIndexOf(10, whole.length - 2) + 1;
    for (const cut of [lastLine + 1, lastLine + 40, whole.length - 2, whole.length - 1]) {
      const copy = scratch();
      writeFileSync(copy.transcript, whole.subarray(0, cut));
      const { code } = await runCli(['resume', copy.transcript, '-C', where.workspace], {
        env: serverEnv(server, where),
      });
      expect([cut, code]).toEqual([cut, 0]);
      expect(await verifyTranscript(copy.transcript)).toMatchObject({ valid: true });
      copy.remove();
    }
  });

  test('a turn that could not be used is asked for again', async () => {
    const script = [{ parts: [text('Half an ans')], finishReason: 'MAX_TOKENS' }, done];
    const { code, place: where, server } = await bosunRun(script, []);
    expect(code).toBe(7);
    dropLast(where, 1);
    const { code: second, stdout } = await resumeIn(server, where);
    expect([second, stdout]).toEqual([0, 'Done.\n']);
  });
});

/** Takes the last lines away, as a crash would have. */
function dropLast(where: Scratch, count: number): void {
  const lines = readFileSync(where.transcript, 'utf8').trimEnd().split('\n');
  const kept = lines.slice(0, -count).map((line) => `${line}\n`);
  truncateSync(where.transcript, Buffer.byteLength(kept.join('')));
}

describe.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('after %s', (signal, exit) => {
  test('the run goes on where it was', async () => {
    const where = place();
    const server = await serve([{ parts: [shell(SLOW, '1'), write('b.txt', 'b', '2')] }, done]);
    const { child, done: ended } = startCli(runArgs(where, ['-p', 'x', '--mode', 'yolo']), {
      env: serverEnv(server, where),
    });
    await until(() => existsSync(join(where.workspace, 'begun')), 'the command to run');
    child.kill(signal);
    expect((await ended).code).toBe(exit);
    const { code } = await resumeIn(server, where);
    expect(code).toBe(0);
    expect(fileIn(where, 'log')).toBe('begun\n');
    expect(toldOf(server)).toMatchObject({ 1: { type: 'cancelled' }, 2: { type: 'cancelled' } });
    expect(ofType(eventsOf(where), 'init')[1]?.resumed_from).toMatchObject({ status: 'cancelled' });
  });
});

test('a provider that was down is tried again', async () => {
  const { code, place: where, server } = await bosunRun([{ status: 401, body: 'no' }, done], []);
  expect(code).toBe(9);
  expect((await resumeIn(server, where)).code).toBe(0);
});

test('the transcript alone is enough, on another machine in another place', async () => {
  const where = place({ 'a.txt': 'A' });
  const server = await serve([
    { parts: [read('a.txt', '1')] },
    { hang: true },
    { parts: [write('b.txt', 'b', '2')] },
    done,
  ]);
  const policy = join(where.root, 'policy.yaml');
  writeFileSync(policy, 'version: 1\nmode: auto_edit\n');
  await killedRun(server, where, () => server.requests.length === 2, [
    '--mode',
    'auto_edit',
    '--policy',
    policy,
  ]);
  const other = place();
  cpSync(where.transcript, other.transcript);
  cpSync(where.workspace, other.workspace, { recursive: true });
  where.remove();
  const lost = await resumeIn(server, other);
  expect([lost.code, lost.stderr]).toEqual([2, expect.stringContaining('Say where it is with --cwd')]);
  expect((await resumeIn(server, other, ['-C', other.workspace])).code).toBe(0);
  expect(fileIn(other, 'b.txt')).toBe('b');
});

test('limits that were spent stay spent, and flags only lower them', async () => {
  const where = place({ 'a.txt': 'A' });
  const server = await serve((_request, index) =>
    index === 2 ? { hang: true } : { parts: [read('a.txt', `r${index}`)] },
  );
  await killedRun(server, where, () => server.requests.length === 3, ['--max-turns', '4']);
  const { code } = await resumeIn(server, where, ['--max-turns', '100']);
  expect([code, resultOf(where).reason, resultOf(where).stats.turns]).toEqual([6, 'turns', 4]);
  expect(server.requests).toHaveLength(5);
  expect(ofType(eventsOf(where), 'turn').map(({ index }) => index)).toEqual([0, 1, 2, 3]);
});

test('time that was spent stays spent', async () => {
  const where = place();
  const server = await serve([{ hang: true }, done]);
  await killedRun(server, where, () => server.requests.length === 1, ['--timeout', '30m']);
  const [first] = readFileSync(where.transcript, 'utf8').split('\n');
  // As if it had begun half an hour ago.
  const early = { ...(JSON.parse(first as string) as object), timestamp: '2020-01-01T00:00:00.000Z' };
  rewrite(where, (line, i) => (i === 0 ? early : line));
  const { code } = await resumeIn(server, where);
  expect([code, resultOf(where).reason, server.requests.length]).toEqual([6, 'time', 1]);
});

test('denials of before count', async () => {
  const where = place();
  const server = await serve([
    { parts: [shell('touch x', '1')] },
    { hang: true },
    { parts: [shell('touch x', '2')] },
    done,
  ]);
  await killedRun(server, where, () => server.requests.length === 2, ['--mode', 'plan']);
  const { code } = await resumeIn(server, where);
  expect(code).toBe(3);
  expect(resultOf(where).denials.map(({ tool_id }) => tool_id)).toEqual(['1', '2']);
  expect(ofType(eventsOf(where), 'tool_result')[1]?.error?.message).toContain('This call was denied before.');
});

test('a narrower policy and mode count from then on', async () => {
  const where = place();
  const server = await serve([
    { hang: true },
    { parts: [shell('touch x', '1'), write('y', 'y', '2')] },
    done,
  ]);
  await killedRun(server, where, () => server.requests.length === 1);
  const { code } = await resumeIn(server, where, ['--mode', 'auto_edit']);
  expect([code, fileIn(where, 'x'), fileIn(where, 'y')]).toEqual([3, undefined, 'y']);
});

test('the limits of a policy that is given now count, too', async () => {
  const where = place();
  const policy = join(where.root, 'tight.yaml');
  writeFileSync(policy, 'version: 1\nmode: yolo\nlimits: {turns: 1}\n');
  const server = await serve([{ hang: true }, { parts: [shell('true', '1')] }, done]);
  await killedRun(server, where, () => server.requests.length === 1);
  const { code } = await resumeIn(server, where, ['--policy', policy]);
  expect([code, resultOf(where).reason]).toEqual([6, 'turns']);
});

test('an answer that must be of a shape goes on being asked for', async () => {
  const where = place();
  const schema = join(where.root, 'schema.json');
  writeFileSync(
    schema,
    JSON.stringify({ type: 'object', required: ['n'], properties: { n: { type: 'number' } } }),
  );
  const server = await serve([
    { parts: [text('{}')] },
    { hang: true },
    { parts: [text('{"n":"x"}')] },
    { parts: [text('{"n":1}')] },
  ]);
  await killedRun(server, where, () => server.requests.length === 2, ['--output-schema', schema]);
  const { code, stdout } = await resumeIn(server, where);
  expect([code, stdout]).toEqual([0, '{"n":1}\n']);
  expect(server.requests[2]?.body).toEqual(server.requests[1]?.body);
});

test('the stream of a resumed run tells of the calls that were open', async () => {
  const where = place();
  const server = await serve([{ parts: [shell(SLOW, '1')] }, done]);
  await killedRun(server, where, () => existsSync(join(where.workspace, 'begun')));
  const { stdout } = await resumeIn(server, where, ['-o', 'stream-json']);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string });
  expect(lines.map(({ type }) => type)).toEqual([
    'init',
    'tool_use',
    'tool_result',
    'turn',
    'message',
    'result',
  ]);
  expect(JSON.stringify(lines[0])).not.toContain('effective_policy');
});

test('a recorded model goes on where its recording was', async () => {
  const { place: original } = await bosunRun(
    [{ parts: [shell('echo 1 >> log', '1')] }, { parts: [shell('echo 2 >> log', '2')] }, done],
    ['--mode', 'yolo'],
  );
  const where = place();
  await runCli([
    'run',
    '--replay',
    original.transcript,
    '-C',
    where.workspace,
    '--transcript',
    where.transcript,
    '--mode',
    'yolo',
  ]);
  const lines = readFileSync(where.transcript, 'utf8').split('\n');
  const after = lines.findIndex((line) => line.includes('"type":"tool_result"')) + 1;
  writeFileSync(where.transcript, `${lines.slice(0, after).join('\n')}\n`);
  const { code } = await runCli(['resume', where.transcript]);
  expect([code, fileIn(where, 'log')]).toEqual([0, '1\n2\n2\n']);
});

test.each(['native', 'text'])('a %s conversation is said again as it was', async (protocol) => {
  const where = place({ 'a.txt': 'A' });
  const asks =
    protocol === 'native'
      ? [read('a.txt', '1')]
      : [text('```tool_call\n{"name": "read_file", "args": {"file_path": "a.txt"}}\n```')];
  const server = await serve([{ parts: asks }, { hang: true }, done]);
  await killedRun(server, where, () => server.requests.length === 2, ['--tool-protocol', protocol]);
  expect(ofType(eventsOf(where), 'tool_result')).toMatchObject([{ status: 'success', output: 'A' }]);
  expect((await resumeIn(server, where)).code).toBe(0);
  expect(server.requests[2]?.body).toEqual(server.requests[1]?.body);
});

test('a history that was compressed is compressed still', async () => {
  const where = place({ 'big.txt': 'a line of some length\n'.repeat(2000) });
  const policy = join(where.root, 'policy.yaml');
  writeFileSync(policy, 'version: 1\nmodel: {context_window: 8000}\n');
  let turns = 0;
  let hung = false;
  const server = await serve((request) => {
    const tokens = Math.ceil(request.raw.length / 4);
    const usage = { promptTokenCount: tokens, candidatesTokenCount: 10, totalTokenCount: tokens + 10 };
    if (request.body.tools === undefined) return { parts: [text('Notes: nothing yet.')], usage };
    if (turns === 40) return { ...done, usage };
    const wasCompressed = ofType(eventsOf(where), 'compression').length > 1;
    if (wasCompressed && !hung) {
      hung = true;
      return { hang: true };
    }
    const args = { file_path: 'big.txt', offset: ++turns, limit: 60 };
    return { parts: [call('read_file', args, { id: `c${turns}` })], usage };
  });
  const args = ['-p', 'x', '--policy', policy, '--max-turns', '1000'];
  const { child, done: ended } = startCli(runArgs(where, args), { env: serverEnv(server, where) });
  await until(() => hung, 'two compressions');
  child.kill('SIGKILL');
  await ended;
  const interrupted = server.requests.length;
  expect((await resumeIn(server, where)).code).toBe(0);
  expect(server.requests[interrupted]?.body).toEqual(server.requests[interrupted - 1]?.body);
  expect(ofType(eventsOf(where), 'compression').length).toBeGreaterThan(2);
});

/** Writes every line anew, with a chain that fits. */
function rewrite(where: Scratch, change: (line: object, index: number) => object): void {
  const lines = readFileSync(where.transcript, 'utf8').trimEnd().split('\n');
  let prev = '0'.repeat(64);
  const text = lines.map((line, i) => {
    const changed = JSON.stringify({ ...change(JSON.parse(line) as object, i), prev });
    prev = sha256(changed);
    return `${changed}\n`;
  });
  writeFileSync(where.transcript, text.join(''));
}

describe('what cannot be resumed is refused with one line, and stays as it is', () => {
  const cases: [string, (where: Scratch) => void, string[], RegExp][] = [
    ['a finished run', () => {}, [], /the run is finished: completed \(exit 0\)/],
    [
      'a file that is no transcript',
      (where) => writeFileSync(where.transcript, '{"a":1}\n'),
      [],
      /not an event of a transcript/,
    ],
    ['an empty file', (where) => writeFileSync(where.transcript, ''), [], /no complete event/],
    [
      'a line changed by hand',
      (where) =>
        writeFileSync(
          where.transcript,
          readFileSync(where.transcript, 'utf8').replace('"do it"', '"do that"'),
        ),
      [],
      /its hash chain breaks at line 3/,
    ],
    [
      'a newer version',
      (where) => rewrite(where, (line) => ({ ...line, v: 2 })),
      [],
      /it has version 2, but this Bosun only knows version 1.*Update/,
    ],
    [
      'lines of two runs',
      (where) => rewrite(where, (line, i) => ({ ...line, session_id: i > 1 ? 'other' : 'one' })),
      [],
      /lines of different runs/,
    ],
    [
      'a field of no meaning',
      (where) => rewrite(where, (line) => ({ ...line, extra: 1 })),
      [],
      /line 1 is not valid: `extra` is not known/,
    ],
    ['another task', (where) => dropLast(where, 1), ['-p', 'something else'], /it has another task: do it/],
    [
      'a run that never began',
      (where) =>
        writeFileSync(where.transcript, `${readFileSync(where.transcript, 'utf8').split('\n')[0]}\n`),
      [],
      /before the first request to the model/,
    ],
    [
      'a wider mode',
      (where) => dropLast(where, 1),
      ['--mode', 'yolo'],
      /--mode yolo is wider than mode plan/,
    ],
    [
      'a policy that does not load',
      (where) => dropLast(where, 1),
      ['--policy', './nowhere.yaml'],
      /nowhere\.yaml cannot be read/,
    ],
    ['a flag of bosun run', (where) => dropLast(where, 1), ['--model', 'x'], /unknown option/],
    ['a file that is not there', () => {}, ['../nowhere.jsonl'], /too many arguments/],
  ];
  test('each', async () => {
    const { place: where, server } = await bosunRun([done], []);
    const original = readFileSync(where.transcript);
    for (const [what, harm, args, message] of cases) {
      writeFileSync(where.transcript, original);
      harm(where);
      const before = readFileSync(where.transcript);
      const { code, stderr } = await resumeIn(server, where, args);
      expect([what, code, stderr]).toEqual([what, 2, expect.stringMatching(message)]);
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
      expect(readFileSync(where.transcript).equals(before)).toBe(true);
      expect(existsSync(`${where.transcript}.lock`)).toBe(false);
    }
    const { code, stderr } = await runCli(['resume', join(where.root, 'no/such.jsonl')]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('no such file')]);
    expect(server.requests).toHaveLength(1);
  });
});

test('a run that is still running is not resumed, nor is one resumed twice at a time', async () => {
  const where = place();
  const server = await serve([{ hang: true }, { parts: [text('Done.')], delayMs: 1500 }, done]);
  const { child, done: ended } = startCli(runArgs(where, ['-p', 'x']), { env: serverEnv(server, where) });
  await until(() => server.requests.length === 1, 'the request');
  expect(await resumeIn(server, where)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('still running'),
  });
  child.kill('SIGKILL');
  await ended;
  const codes = (await Promise.all([resumeIn(server, where), resumeIn(server, where)])).map(
    ({ code }) => code,
  );
  expect(codes.sort()).toEqual([0, 2]);
  expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
});

test('a resumed transcript is reported by its last result, and can be replayed', async () => {
  const where = place({ 'a.txt': 'A' });
  const server = await serve([{ hang: true }, { parts: [read('a.txt', '1')] }, done]);
  const { child, done: ended } = startCli(runArgs(where, ['-p', 'x']), { env: serverEnv(server, where) });
  await until(() => server.requests.length === 1, 'the request');
  child.kill('SIGTERM');
  await ended;
  await resumeIn(server, where);
  const { stdout } = await runCli(['report', where.transcript, '-o', 'json']);
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  expect(JSON.parse(stdout)).toMatchObject({ status: 'completed', stats: { turns: 2 } });
  const replayed = await runCli(['run', '--replay', where.transcript, '-C', where.workspace]);
  expect([replayed.code, replayed.stdout]).toEqual([0, 'Done.\n']);
});

test('a transcript that somebody appended to is not sound', async () => {
  const { place: where, server } = await bosunRun([done], []);
  dropLast(where, 1);
  appendFileSync(where.transcript, `${JSON.stringify({ type: 'error' })}\n`);
  expect(await resumeIn(server, where)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('hash chain'),
  });
});
