import { describe, expect, test } from '@jest/globals';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { sampled } from '../helpers/counts.js';
import { call, text, type LoggedRequest, type Reply } from '../helpers/gemini-server.mjs';
import { runHere } from '../helpers/in-process.js';
import { eventsOf, ofType, resultOf } from '../helpers/run-cli.js';
import { bosunRun, bosunUnder, place, type Server } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done: Reply = { parts: [text('Done.')] };
const NOTICE = /Notice from Bosun/;

/** `turns` turns, each with the calls that `make` says, and then the end. */
function turnsOf(turns: number, make: (turn: number) => object[]): Reply[] {
  return [...Array.from({ length: turns }, (_, i) => ({ parts: make(i) })), done];
}
const read = (turn: number) => [call('read_file', { file_path: 'a.txt' }, { id: `r${turn}` })];

/** The answers to calls in the last request, and how many notices there are in all of it. */
function lastAnswers(server: Server): { outputs: string[]; notices: number } {
  const { body, raw } = server.requests.at(-1) as LoggedRequest;
  type Answer = { functionResponse: { response: { output?: string; error?: string } } };
  const outputs = (body.contents as { role: string; parts: Answer[] }[])
    .filter(({ role }, i) => role === 'user' && i > 0)
    .flatMap(({ parts }) =>
      parts.map(({ functionResponse: { response } }) => response.output ?? response.error ?? ''),
    );
  return { outputs, notices: raw.split('Notice from Bosun').length - 1 };
}

describe('the same call with the same result', () => {
  test('is told to the model the fifth time, once, in that result', async () => {
    const { code, server, place: where } = await runHere(turnsOf(7, read), {}, { 'a.txt': 'A' });
    expect(code).toBe(0);
    const { outputs, notices } = lastAnswers(server);
    expect(outputs.map((output) => NOTICE.test(output))).toEqual([
      false,
      false,
      false,
      false,
      true,
      false,
      false,
    ]);
    expect(outputs[4]).toMatch(/^A\n\n\[Notice from Bosun: read_file was called 5 times in a row/);
    expect(notices).toBe(1);
    expect(ofType(eventsOf(where), 'loop_notice')).toMatchObject([
      { tool_id: 'r4', repeats: 5, calls: [{ tool_id: 'r4', tool_name: 'read_file' }] },
    ]);
    expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
  });

  test('ends the run after three more', async () => {
    const { code, server, stdout, place: where } = await bosunRun(turnsOf(50, read), [], { 'a.txt': 'A' });
    expect([code, stdout, server.requests.length]).toEqual([8, '', 8]);
    expect(resultOf(where)).toMatchObject({ status: 'loop_detected', exit_code: 8, reason: 'same_call' });
    expect(resultOf(where).error?.message).toMatch(/^read_file was called 8 times in a row/);
    expect(ofType(eventsOf(where), 'tool_result')).toHaveLength(8);
    expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
  });

  test('is a loop if it fails, too, and if its output is long', async () => {
    const gone = () => [call('read_file', { file_path: 'none.txt' })];
    expect((await runHere(turnsOf(9, gone))).code).toBe(8);
    const long = () => [call('run_shell_command', { command: 'seq 100000' })];
    expect((await runHere(turnsOf(9, long), { mode: 'yolo' })).code).toBe(8);
    const unknown = () => [call('no_such_tool', {})];
    expect((await runHere(turnsOf(9, unknown))).code).toBe(8);
  });

  test('counts anew once something else was done', async () => {
    const script = turnsOf(21, (turn) =>
      turn % 7 === 6 ? [call('glob', { pattern: `${turn}*` })] : read(turn),
    );
    const { code, server } = await runHere(script, {}, { 'a.txt': 'A' });
    expect([code, lastAnswers(server).notices]).toEqual([0, 3]);
  });
});

test('a cycle of calls is told the fourth time, and ends the run after three more rounds', async () => {
  const names = ['a.txt', 'b.txt', 'c.txt'];
  const script = turnsOf(50, (turn) => [
    call('read_file', { file_path: names[turn % 3] }, { id: `r${turn}` }),
  ]);
  const {
    code,
    server,
    place: where,
  } = await runHere(script, {}, { 'a.txt': 'A', 'b.txt': 'B', 'c.txt': 'C' });
  expect([code, resultOf(where).reason, server.requests.length]).toEqual([8, 'cycle', 21]);
  expect(lastAnswers(server).outputs.findIndex((output) => NOTICE.test(output))).toBe(11);
});

test('polling goes on as long as something changes', async () => {
  const poll = (turn: number) => [
    call('run_shell_command', { command: 'echo . >> log; wc -c < log' }, { id: `p${turn}` }),
  ];
  const { code, server } = await runHere(turnsOf(30, poll), { mode: 'yolo' });
  expect([code, server.requests.length]).toEqual([0, 31]);
  expect(lastAnswers(server).notices).toBe(0);
});

describe('the policy', () => {
  const runUnder = async (policy: string, turns = 20) => {
    const where = place({ 'a.txt': 'A' });
    const { code, server } = await bosunUnder(`version: 1\n${policy}`, turnsOf(turns, read), [], where);
    return { code, requests: server.requests.length };
  };

  sampled.each([
    ['turns it off', 'loops: off\n', { code: 0, requests: 21 }],
    ['is stricter', 'loops: {repeats: 2, more: 1}\n', { code: 8, requests: 3 }],
    ['is more patient', 'loops: {repeats: 10}\n', { code: 8, requests: 13 }],
    ['says nothing', 'mode: plan\n', { code: 8, requests: 8 }],
  ])('%s', async (_what, policy, expected) => {
    expect(await runUnder(policy)).toEqual(expected);
  });
});

test('the calls of one turn count one by one, and those beside the notice are not held against the model', async () => {
  const eight = (turn: number) => Array.from({ length: 8 }, (_, i) => read(turn * 8 + i)[0] as object);
  const { code, server } = await runHere([{ parts: eight(0) }, done], {}, { 'a.txt': 'A' });
  expect([code, lastAnswers(server).notices]).toEqual([0, 1]);
  const again = await runHere([{ parts: eight(0) }, { parts: eight(1) }, done], {}, { 'a.txt': 'A' });
  expect(again.code).toBe(8);
});
