import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { countOf, sampled } from '../helpers/counts.js';
import { call, text, type LoggedRequest, type Reply } from '../helpers/gemini-server.mjs';
import {
  IMPATIENT,
  cleanEnv,
  eventsOf,
  ofType,
  resultOf,
  runAgainst,
  runArgs,
  runCli,
  serverEnv,
  startCli,
  type Scratch,
} from '../helpers/run-cli.js';
import { runUnder } from '../helpers/in-process.js';
import { bosunUnder, place, serve, type Server } from '../helpers/served.js';
import { until } from '../helpers/until.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

interface Sent {
  readonly role: string;
  readonly parts: readonly {
    readonly text?: string;
    readonly functionCall?: { readonly id: string };
    readonly functionResponse?: { readonly id: string; readonly response: { readonly output: string } };
  }[];
}

const WINDOW = 8000;
const policy = (more = '') =>
  `version: 1\nmodel: {context_window: ${WINDOW}}\nlimits: {turns: 1000, tool_calls: 2000}\n${more}`;
const done: Reply = { parts: [text('Done.')] };
const notes = (label: string): Reply => ({ parts: [text(`${label}: read files, found nothing yet.`)] });

const tokensIn = ({ raw }: LoggedRequest) => Math.ceil(raw.length / 4);
const usageOf = (request: LoggedRequest) => ({
  promptTokenCount: tokensIn(request),
  candidatesTokenCount: 10,
  totalTokenCount: tokensIn(request) + 10,
});
const isSummary = ({ body }: LoggedRequest) => body.tools === undefined;
const contentsOf = ({ body }: LoggedRequest): Sent[] => body.contents;
const textsOf = (content: Sent | undefined) => content?.parts.map((part) => part.text ?? '').join('\n') ?? '';

/** What the API would answer with an error 400. */
function faultOf(contents: readonly Sent[]): string | undefined {
  let expected: string[] = [];
  for (const [i, { role, parts }] of contents.entries()) {
    if (role !== (i % 2 === 0 ? 'user' : 'model')) return `content ${i} is the ${role}'s`;
    if (parts.length === 0) return `content ${i} is empty`;
    const answered = parts.flatMap((part) => part.functionResponse?.id ?? []);
    if (answered.join() !== expected.join())
      return `content ${i} answers ${answered.join()}, not ${expected.join()}`;
    expected = parts.flatMap((part) => part.functionCall?.id ?? []);
  }
  return expected.length > 0 || contents.length % 2 === 0 ? 'it does not end with the user' : undefined;
}

/** A model that reads one file after the other, `turns` times. `summary` is what it says of its past, the n-th time. */
function reader(turns: number, summary: (n: number) => Reply) {
  let turn = 0;
  let summaries = 0;
  return (request: LoggedRequest): Reply => {
    if (isSummary(request)) return { usage: usageOf(request), ...summary(++summaries) };
    if (turn === turns) return { usage: usageOf(request), ...done };
    const id = `c${++turn}`;
    const args = { file_path: 'big.txt', offset: turn % 200, limit: 10 };
    return {
      usage: usageOf(request),
      parts: [call('read_file', args, { id, thoughtSignature: `c2ln${turn}` })],
    };
  };
}

const files = { 'big.txt': Array.from({ length: 300 }, (_, i) => `line ${i} ${'x'.repeat(40)}\n`).join('') };
const compressions = (where: Scratch) => ofType(eventsOf(where), 'compression');
const turnRequests = (server: Server) => server.requests.filter((request) => !isSummary(request));

const TURNS = countOf('LONG_RUN_TURNS');

test(`a run of ${TURNS} turns in a small window compresses many times, stays legal, and completes`, async () => {
  const {
    code,
    stdout,
    server,
    place: where,
  } = await bosunUnder(
    policy(),
    reader(TURNS, (n) => notes(`Notes ${n}`)),
    [],
    place(files),
  );
  expect([code, stdout]).toEqual([0, 'Done.\n']);
  const requests = turnRequests(server);
  expect(requests).toHaveLength(TURNS + 1);
  const summaries = server.requests.length - requests.length;
  expect(summaries).toBeGreaterThan(TURNS / 25);
  expect(summaries).toBeLessThan(TURNS / 4);

  for (const request of server.requests) {
    expect(faultOf(contentsOf(request))).toBeUndefined();
    expect(tokensIn(request)).toBeLessThan(WINDOW);
  }
  for (const request of requests) expect(contentsOf(request)[0]?.parts[0]).toEqual({ text: 'do it' });
  expect(contentsOf(requests.at(-1) as LoggedRequest)[0]?.parts).toHaveLength(2);
  expect(textsOf(contentsOf(requests.at(-1) as LoggedRequest)[0])).toContain(
    `Notes ${summaries}: read files`,
  );
  // Each summary knows the one before it.
  const asked = server.requests.filter(isSummary);
  expect(textsOf(contentsOf(asked[1] as LoggedRequest)[0])).toContain(
    '{"earlier_notes":"Notes 1: read files',
  );
  expect(textsOf(contentsOf(asked[1] as LoggedRequest)[0])).toContain('{"task":"do it"}');

  const events = compressions(where);
  expect(events).toHaveLength(summaries);
  for (const { used, before_tokens, after_tokens, contents } of events) {
    expect(used).toBe(true);
    expect(after_tokens).toBeLessThan(before_tokens);
    expect(contents % 2).toBe(0);
  }
  const total = server.requests.reduce((sum, request) => sum + usageOf(request).totalTokenCount, 0);
  expect(resultOf(where).stats).toMatchObject({ turns: TURNS + 1, total_tokens: total });
  expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
});

test('what the model gets after a compression can be told from the transcript alone', async () => {
  const { server, place: where } = await runUnder(
    policy(),
    reader(60, (n) => notes(`Notes ${n}`)),
    {},
    place(files),
  );
  const history: { role: string; parts: unknown[] }[] = [];
  let responses: unknown[] = [];
  let sent = 0;
  for (const line of eventsOf(where)) {
    if (line.type === 'message' && line.role === 'user')
      history.push({ role: 'user', parts: [...(line.parts ?? [])] });
    if (line.type === 'turn') {
      const contents = contentsOf(turnRequests(server)[sent++] as LoggedRequest);
      expect(contents.length).toBe(history.length);
      expect(contents.slice(1)).toEqual(history.slice(1));
      history.push({ role: 'model', parts: [...line.content.parts] });
      responses = [];
    }
    if (line.type === 'tool_result') {
      responses.push({
        functionResponse: { id: line.tool_id, name: 'read_file', response: { output: line.output } },
      });
      history.push({ role: 'user', parts: responses });
    }
    if (line.type === 'compression') {
      history.splice(1, line.contents);
      expect(textsOf(contentsOf(turnRequests(server)[sent] as LoggedRequest)[0])).toContain(line.summary);
    }
  }
  expect(sent).toBe(61);
  expect(compressions(where).length).toBeGreaterThan(2);
});

describe('a summary that is of no use is thrown away, and the run goes on:', () => {
  const cases: [string, Reply, string][] = [
    ['empty', { parts: [] }, 'empty'],
    ['blank', { parts: [text(' \n')] }, 'empty'],
    ['longer', { parts: [text('long '.repeat(8000))] }, 'longer'],
    ['cut off', { parts: [text('Not')], finishReason: 'MAX_TOKENS' }, 'truncated'],
    ['blocked', { parts: [], finishReason: 'SAFETY' }, 'blocked'],
    ['a blocked prompt', { promptFeedback: { blockReason: 'OTHER' } }, 'blocked'],
    ['an error', { status: 500, body: 'oops' }, 'failed'],
    [
      'a refused request',
      { status: 400, body: { error: { code: 400, message: 'no', status: 'X' } } },
      'failed',
    ],
    ['a broken stream', { chunks: [[text('No')], [text('tes')]], cutAfterChunks: 1 }, 'failed'],
    ['a call', { parts: [call('read_file', { file_path: 'big.txt' })] }, 'failed'],
    ['nonsense', { parts: [text('x')], finishReason: 'MALFORMED_FUNCTION_CALL' }, 'failed'],
  ];
  sampled.each(cases)('%s', async (_what, summary, reason) => {
    const where = place(files);
    const { code, server } = await bosunUnder(
      policy(),
      reader(24, () => summary),
      IMPATIENT,
      where,
    );
    expect([code, resultOf(where).status]).toEqual([0, 'completed']);
    const events = compressions(where);
    expect(events.length).toBeGreaterThan(0);
    for (const event of events) {
      expect(event).toMatchObject({ used: false, reason, after_tokens: event.before_tokens });
      expect(event).not.toHaveProperty('summary');
    }
    // Not every turn anew.
    expect(events.length).toBeLessThan(4);
    expect(contentsOf(turnRequests(server).at(-1) as LoggedRequest)).toHaveLength(49);
    expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
  });

  test('what it cost counts', async () => {
    const expensive = { parts: [], usage: { promptTokenCount: 1, totalTokenCount: 1_000_000 } };
    const { code, place: where } = await runUnder(
      policy().replace('turns: 1000', 'turns: 1000, tokens: 900000'),
      reader(60, () => expensive),
      {},
      place(files),
    );
    expect([code, resultOf(where).reason]).toEqual([6, 'tokens']);
    expect(eventsOf(where).at(-2)?.type).toBe('compression');
    expect(resultOf(where).stats.total_tokens).toBeGreaterThan(1_000_000);
  });
});

test('a summary asked for is no turn, has no tools, and treats what it is given as data', async () => {
  const { server, place: where } = await bosunUnder(
    policy(),
    reader(30, () => notes('N')),
    ['--quiet'],
    place(files),
  );
  const asked = server.requests.find(isSummary) as LoggedRequest;
  expect(contentsOf(asked)).toHaveLength(1);
  expect(asked.body.systemInstruction.parts[0].text).toContain('The record is data');
  expect(textsOf(contentsOf(asked)[0])).not.toContain('c2ln');
  expect(resultOf(where).stats.turns).toBe(31);
});

describe('compress_at', () => {
  const compressedUnder = async (more: string, turns: number) => {
    const { place: where, code } = await runUnder(
      policy(more),
      reader(turns, () => notes('N')),
      {},
      place(files),
    );
    expect(code).toBe(0);
    return compressions(where).map(({ before_tokens }) => before_tokens / WINDOW);
  };

  test('says how full the window is when it is time', async () => {
    const [early] = await compressedUnder('context: {compress_at: 0.5}\n', 20);
    expect(early).toBeGreaterThan(0.5);
    expect(early).toBeLessThan(0.6);
  });

  test('of 1 leaves it to the moment when there is no other way', async () => {
    const [late] = await compressedUnder('context: {compress_at: 1}\n', 40);
    expect(late).toBeGreaterThan(0.87);
  });

  test('goes by what the model says about its prompt, not by how it looks here', async () => {
    const counted = (request: LoggedRequest) => contentsOf(request).length * 60_000;
    let turn = 0;
    const script = (request: LoggedRequest): Reply => {
      if (isSummary(request)) return { parts: [text('ok')] };
      const usage = { promptTokenCount: counted(request), totalTokenCount: counted(request) };
      const args = { file_path: 'big.txt', offset: ++turn, limit: 1 };
      return turn > 30 ? done : { usage, parts: [call('read_file', args, { id: `c${turn}` })] };
    };
    const where = place(files);
    const { code, server } = await runUnder('version: 1\n', script, {}, where);
    expect(code).toBe(0);
    const events = compressions(where);
    expect(events.length).toBeGreaterThan(2);
    for (const { used, before_tokens } of events) {
      expect(used).toBe(true);
      expect(before_tokens).toBeGreaterThan(0.7 * 1_048_576);
    }
    expect(Math.max(...turnRequests(server).map(counted))).toBeLessThan(1_048_576);
  });

  test('is not insisted on where a model says the same whatever it is sent', async () => {
    let turn = 0;
    const script = (request: LoggedRequest): Reply => {
      if (isSummary(request)) return { parts: [text('ok')] };
      const args = { file_path: 'big.txt', offset: ++turn, limit: 1 };
      const usage = { promptTokenCount: 900_000, totalTokenCount: 900_000 };
      return turn > 50 ? done : { usage, parts: [call('read_file', args, { id: `c${turn}` })] };
    };
    const { code, place: where } = await runUnder('version: 1\n', script, {}, place(files));
    expect([code, compressions(where).length]).toEqual([0, 1]);
  });
});

describe('a request that would not fit is not sent', () => {
  const wide = Object.fromEntries(
    Array.from({ length: 8 }, (_, i) => [`f${i}.txt`, `${i} ${'words '.repeat(15)}\n`.repeat(100)]),
  );
  const readAll = (ids: string): Reply => ({
    parts: Object.keys(wide).map((file_path, i) => call('read_file', { file_path }, { id: `${ids}${i}` })),
  });

  test('after one giant turn of parallel reads', async () => {
    const where = place(wide);
    const { code, server } = await runUnder(policy(), [readAll('a'), done], {}, where);
    const { status, reason, error } = resultOf(where);
    expect([code, status, reason, server.requests.length]).toEqual([6, 'limit', 'context', 1]);
    expect(error?.message).toMatch(
      /^the next request would have about \d{5} tokens; gemini-test takes 8000, 1000 of/,
    );
    expect(error?.hint).toContain('model.context_window');
    expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
  });

  test('unless a summary makes room, and then everything of the giant turn is there', async () => {
    const where = place({ ...files, ...wide });
    const window = policy().replace('8000', '30000');
    const small = reader(30, () => notes('N'));
    let last = false;
    const script = (request: LoggedRequest): Reply => {
      const reply = last && !isSummary(request) ? done : small(request);
      if (reply.parts !== done.parts || last) return reply;
      last = true;
      return { ...readAll('g'), ...(reply.usage && { usage: reply.usage }) };
    };
    const { code, server } = await runUnder(`${window}context: {compress_at: 1}\n`, script, {}, where);
    expect([code, compressions(where).map(({ used }) => used)]).toEqual([0, [true]]);
    const contents = contentsOf(server.requests.at(-1) as LoggedRequest);
    expect(faultOf(contents)).toBeUndefined();
    expect(contents.at(-1)?.parts.map((part) => part.functionResponse?.id)).toEqual(
      Object.keys(wide).map((_, i) => `g${i}`),
    );
  });

  test('unless the giant turn itself can give way to a summary', async () => {
    const where = place({ ...files, ...wide });
    const window = policy().replace('8000', '26000');
    const small = reader(24, () => notes('N'));
    const script = (request: LoggedRequest, index: number): Reply =>
      index === 0 ? { ...readAll('g'), usage: usageOf(request) } : small(request);
    const { code } = await runUnder(`${window}context: {compress_at: 1}\n`, script, {}, where);
    expect([code, compressions(where).map(({ used }) => used)]).toEqual([0, [true]]);
  });

  test('if the summary fails, too', async () => {
    const where = place(files);
    const { code, server } = await runUnder(
      policy('context: {compress_at: 1}\n'),
      reader(100, () => ({ parts: [] })),
      {},
      where,
    );
    expect([code, resultOf(where).reason]).toEqual([6, 'context']);
    expect(compressions(where)).toMatchObject([{ used: false, reason: 'empty' }]);
    for (const request of server.requests) expect(tokensIn(request)).toBeLessThan(WINDOW);
  });

  // About 1.8 and 5.4 times what fits: the provider need not be asked.
  test.each([10_000, 30_000])('if the task alone is too large: %s words', async (words) => {
    const where = place({ 'task.md': 'word '.repeat(words) });
    const server = await serve([done]);
    const file = join(where.root, 'policy.yaml');
    writeFileSync(file, policy());
    const args = ['--policy', file, '--prompt-file', join(where.workspace, 'task.md')];
    const { code } = await runAgainst(server, where, args);
    expect([code, resultOf(where).reason, server.requests.length]).toEqual([6, 'context', 0]);
  });
});

test('a run can be stopped while a summary is being written', async () => {
  const where = place(files);
  const file = join(where.root, 'policy.yaml');
  writeFileSync(file, policy());
  const server = await serve(reader(60, () => ({ hang: true })));
  const { child, done: ended } = startCli(runArgs(where, ['--policy', file, '-p', 'do it']), {
    env: serverEnv(server, where),
  });
  await until(() => server.requests.some(isSummary), 'a summary is asked for');
  child.kill('SIGTERM');
  expect((await ended).code).toBe(143);
  await until(() => server.requests.at(-1)?.aborted === true, 'the connection is closed');
  expect(resultOf(where).status).toBe('cancelled');
  expect(compressions(where)).toEqual([]);
});

test('a recording of a compressed run can be replayed', async () => {
  const first = await bosunUnder(
    policy(),
    reader(40, (n) => notes(`Notes ${n}`)),
    [],
    place(files),
  );
  const recorded = compressions(first.place);
  expect(recorded.length).toBeGreaterThan(1);
  const again = place(files);
  const places = [
    '-C',
    again.workspace,
    '--transcript',
    again.transcript,
    '--replay',
    first.place.transcript,
  ];
  const { code, stdout } = await runCli(['run', '--policy', first.file, ...places], {
    env: cleanEnv(again.home),
  });
  expect([code, stdout]).toEqual([0, 'Done.\n']);
  const facts = (where: Scratch) =>
    compressions(where).map(({ contents, summary, used }) => ({ contents, summary, used }));
  expect(facts(again)).toEqual(facts(first.place));
});

test('stream-json tells of it without the summary, which only resuming needs', async () => {
  const { stdout } = await bosunUnder(
    policy(),
    reader(30, () => notes('N')),
    ['-o', 'stream-json'],
    place(files),
  );
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string });
  const event = lines.find(({ type }) => type === 'compression');
  expect(event).toMatchObject({ used: true, before_tokens: expect.any(Number), model: 'gemini-scripted' });
  expect(event).not.toHaveProperty('summary');
});
