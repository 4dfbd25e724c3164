import { describe, expect, test } from '@jest/globals';
import type { TranscriptLine } from '../../src/protocol/event.js';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { sampled } from '../helpers/counts.js';
import { call, text, type Script } from '../helpers/gemini-server.mjs';
import { eventsOf, ofType, resultOf, runArgs, serverEnv, startCli } from '../helpers/run-cli.js';
import { bosunRun, bosunUnder, place, serve, type Served } from '../helpers/served.js';
import { until } from '../helpers/until.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const look = { parts: [call('list_directory', { path: '.' })] };
const usage = { promptTokenCount: 90, candidatesTokenCount: 10, totalTokenCount: 100 };
/** A model that never stops by itself: 100 tokens, $0.0001 a turn. */
const restless: Script = () => ({ ...look, usage });
const PRICED = 'model: {prices: {gemini-test: {input: 1, output: 1}}}\n';

const noticesOf = (run: Served) => ofType(eventsOf(run.place), 'limit_notice');

describe('each limit ends the run with exit 6, by policy and by flag', () => {
  // The limit, as a policy and as a flag; how many requests it lets through; what is said about it.
  const cases: [string, string, string[], number, RegExp][] = [
    [
      'turns',
      'turns: 3',
      ['--max-turns', '3'],
      3,
      /limit of 3 turns \(used: 3 turns\)\. Raise it with --max-turns, or by limits\.turns/,
    ],
    [
      'tool_calls',
      'tool_calls: 2',
      ['--max-tool-calls', '2'],
      3,
      /limit of 2 tool calls \(used: 2 tool calls\)\. .*--max-tool-calls/,
    ],
    [
      'tokens',
      'tokens: 250',
      ['--max-tokens', '250'],
      3,
      /limit of 250 tokens \(used: 300 tokens\)\. .*--max-tokens/,
    ],
    [
      'cost',
      'cost_usd: 0.00025',
      ['--max-cost', '0.00025'],
      3,
      /cost limit of \$0\.00025 \(used: \$0\.0003\)\. .*--max-cost, or by limits\.cost_usd/,
    ],
  ];
  sampled.each(cases)('%s', async (reason, limits, flags, requests, line) => {
    const quietly = ['--progress', 'none'];
    const byPolicy = await bosunUnder(`version: 1\nlimits: {${limits}}\n${PRICED}`, restless, quietly);
    const byFlag = await bosunUnder(`version: 1\n${PRICED}`, restless, [...flags, ...quietly]);
    for (const { code, server, stderr, place: where } of [byPolicy, byFlag]) {
      expect([code, server.requests.length]).toEqual([6, requests]);
      expect(resultOf(where)).toMatchObject({ status: 'limit', reason, exit_code: 6 });
      expect(stderr).toMatch(line);
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
      expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
    }
  });

  test('time', async () => {
    const byPolicy = await bosunUnder('version: 1\nlimits: {time: 400ms}\n', [{ hang: true }]);
    const byFlag = await bosunUnder(
      'version: 1\nlimits: {time: 9h}\n',
      [{ hang: true }],
      ['--timeout', '400ms'],
    );
    for (const { code, stderr, place: where } of [byPolicy, byFlag]) {
      expect([code, resultOf(where).reason]).toEqual([6, 'time']);
      expect(stderr).toMatch(/time limit of 400 ms .* --timeout, or by limits\.time/);
    }
  });

  test('a flag does not widen what a policy says', async () => {
    const policy = `version: 1\nlimits: {turns: 9, tool_calls: 9, tokens: 200, cost_usd: 9, time: 1h}\n${PRICED}`;
    const flags = ['--max-turns', '99', '--max-tokens', '9999', '--max-cost', '8.5', '--timeout', '2h'];
    const { server, place: where } = await bosunUnder(policy, restless, flags);
    expect(server.requests).toHaveLength(2);
    expect(ofType(eventsOf(where), 'init')[0]?.limits).toMatchObject({
      ...{ turns: 9, tool_calls: 9, tokens: 200, cost_usd: 8.5, time_ms: 3_600_000 },
    });
  });

  test('a limit in the environment is a flag', async () => {
    const { code, server } = await bosunRun(restless, [], {}, { env: { BOSUN_MAX_TOKENS: '100' } });
    expect([code, server.requests.length]).toEqual([6, 1]);
  });

  sampled.each(['-1', '$5', '1e3', '.5', '5,00', 'x'])('--max-cost %s is refused', async (value) => {
    const { code, stderr, server } = await bosunRun([], [`--max-cost=${value}`]);
    expect([code, server.requests.length]).toEqual([2, 0]);
    expect(stderr).toMatch(/--max-cost .*is invalid\. Give dollars/);
  });

  test('no call of a turn that used up the tokens runs, and each is answered', async () => {
    const write = { parts: [call('write_file', { file_path: 'a', content: 'x' })], usage };
    const { code, place: where } = await bosunRun([write], ['--mode', 'auto_edit', '--max-tokens', '100']);
    expect([code, resultOf(where).reason]).toEqual([6, 'tokens']);
    expect(ofType(eventsOf(where), 'tool_result')).toMatchObject([
      { status: 'cancelled', error: { message: 'Not run: the limit of 100 tokens is reached.' } },
    ]);
  });

  test('answers that cannot be used are not asked for again once the tokens are gone', async () => {
    const broken = { parts: [text('…')], finishReason: 'MALFORMED_FUNCTION_CALL', usage };
    const { code, server, place: where } = await bosunRun(() => broken, ['--max-tokens', '200']);
    expect([code, server.requests.length, resultOf(where).reason]).toEqual([6, 2, 'tokens']);
    expect(resultOf(where).stats.total_tokens).toBe(200);
  });

  test('a limit in days is no limit of nothing', async () => {
    const { code } = await bosunUnder('version: 1\nlimits: {time: 9999h}\n', [done]);
    expect(code).toBe(0);
  });
});

describe('at 80 % of a limit the model is asked to wrap up', () => {
  /** The texts beside the answers to calls, for each request. */
  const said = ({ server }: Served): string[][] =>
    server.requests.map(({ body }) =>
      body.contents
        .slice(1)
        .flatMap(({ role, parts }: { role: string; parts: { text?: string }[] }) =>
          role === 'user' ? parts.flatMap(({ text: words }) => words ?? []) : [],
        ),
    );

  test('once, behind the answers to its calls, and the run goes on', async () => {
    const script: Script = (_request, i) => (i < 4 ? { ...look, usage } : done);
    const run = await bosunRun(script, ['--max-turns', '5']);
    expect(run.code).toBe(0);
    const notice = expect.stringMatching(/^Notice: this run has used 4 turns, and ends at 5 turns\. Wrap up/);
    expect(said(run)).toEqual([[], [], [], [], [notice]]);
    const last = run.server.requests[4]?.body.contents.at(-1);
    expect(last.parts.map((part: object) => Object.keys(part)[0])).toEqual(['functionResponse', 'text']);
    expect(noticesOf(run)).toMatchObject([{ limit: 'turns', used: 4, value: 5, message: notice }]);
    expect(await verifyTranscript(run.place.transcript)).toMatchObject({ valid: true });
  });

  test('once for each limit, and later requests repeat the history as it was', async () => {
    const script: Script = (_request, i) => (i < 9 ? { ...look, usage } : done);
    const run = await bosunUnder(
      `version: 1\nloops: off\nlimits: {tool_calls: 9, tokens: 1000, cost_usd: 0.001}\n${PRICED}`,
      script,
    );
    expect(run.code).toBe(0);
    expect(noticesOf(run).map(({ limit, used, value }) => [limit, used, value])).toEqual([
      ['tool_calls', 8, 9],
      ['tokens', 800, 1000],
      ['cost', 0.0008, 0.001],
    ]);
    const counts = said(run).map((texts) => texts.length);
    expect(counts).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 3, 3]);
    const [before, after] = run.server.requests.slice(-2).map(({ body }) => body.contents);
    expect(after.slice(0, before.length)).toEqual(before);
  });

  test('of denials', async () => {
    const id = (n: number) => ({ parts: [call('run_shell_command', { command: `id ${n}` })] });
    const run = await bosunUnder('version: 1\nlimits: {denials: 5}\n', (_request, i) =>
      i < 4 ? id(i) : done,
    );
    expect(run.code).toBe(3);
    expect(noticesOf(run)).toMatchObject([{ limit: 'denials', used: 4, value: 5 }]);
    expect(said(run).at(-1)).toEqual([expect.stringContaining('4 denied calls')]);
  });

  test('of time', async () => {
    // The second answer is there only when 80 % of the time are gone.
    const script: Script = (_request, i) => [look, { ...look, delayMs: 8100 }, done][i] ?? done;
    const run = await bosunRun(script, ['--timeout', '10s']);
    expect(run.code).toBe(0);
    expect(noticesOf(run)).toMatchObject([{ limit: 'time', value: 10_000 }]);
    expect(said(run).map((texts) => texts.length)).toEqual([0, 0, 1]);
  });

  test('but not where the run ends with the next check', async () => {
    const run = await bosunRun(restless, ['--max-turns', '2', '--max-tokens', '201']);
    expect([run.code, noticesOf(run)]).toEqual([6, []]);
  });
});

describe('usage survives', () => {
  const three =
    (last: object): Script =>
    (_request, i) =>
      i < 3 ? { ...look, usage } : last;
  const spent = { turns: 3, total_tokens: 300, input_tokens: 270, output_tokens: 30, cost_usd: 0.0003 };

  test('an error of the server', async () => {
    const failure = {
      status: 400,
      body: { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'no' } },
    };
    const { code, place: where } = await bosunUnder(`version: 1\n${PRICED}`, three(failure));
    expect(code).toBe(7);
    expect(resultOf(where).stats).toMatchObject(spent);
  });

  test('SIGTERM in the middle of a request', async () => {
    const where = place();
    const server = await serve(three({ hang: true }));
    const args = runArgs(where, ['-p', 'x', '-m', 'gemini-2.5-pro', '-o', 'json']);
    const { child, done: ended } = startCli(args, { env: serverEnv(server, where) });
    await until(() => server.requests.length === 4, 'the fourth request');
    child.kill('SIGTERM');
    const { code, stdout } = await ended;
    expect(code).toBe(143);
    // 90 tokens of input and 10 of output, three times.
    expect(JSON.parse(stdout).stats).toMatchObject({ ...spent, cost_usd: 0.0006375 });
  });

  test('answers that were thrown away', async () => {
    const broken = { parts: [text('…')], finishReason: 'MALFORMED_FUNCTION_CALL', usage };
    const { place: where } = await bosunUnder(`version: 1\n${PRICED}`, [broken, { ...done, usage }]);
    expect(resultOf(where).stats).toMatchObject({ turns: 1, total_tokens: 200, cost_usd: 0.0002 });
    expect(ofType(eventsOf(where), 'retry')).toMatchObject([{ cost_usd: 0.0001 }]);
  });
});

describe('a provider that does not tell what it used', () => {
  const silent: Script = (_request, i) => ({
    parts: [call('list_directory', { path: '.', ignore: [`x${i}`] }, { id: `c${i}` })],
    usage: null,
  });
  const warnings = (lines: readonly TranscriptLine[]) =>
    ofType(lines, 'error').filter(({ class: kind }) => kind === 'usage');

  test('is still stopped by a limit on tokens, which are estimated, and one warning says so', async () => {
    const { code, place: where, stderr } = await bosunRun(silent, ['--max-tokens', '10000']);
    expect([code, resultOf(where).reason]).toEqual([6, 'tokens']);
    expect(warnings(eventsOf(where))).toHaveLength(1);
    expect(stderr).toMatch(
      /warn: the provider does not report how many tokens it uses; for the limits, they are estimated/,
    );
    expect(ofType(eventsOf(where), 'turn')[0]?.usage).toMatchObject({ estimated: true });
    // What is a guess is not shown as a fact.
    expect(resultOf(where).stats.total_tokens).toBeUndefined();
    expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
  });

  test('is still stopped by a limit on cost', async () => {
    const { code, place: where } = await bosunRun(silent, ['-m', 'gemini-2.5-pro', '--max-cost', '0.02']);
    expect([code, resultOf(where).reason]).toEqual([6, 'cost']);
    expect(resultOf(where).stats.cost_usd).toBeUndefined();
  });

  test('is not second-guessed where no limit depends on it', async () => {
    const { code, place: where } = await bosunRun([{ ...done, usage: null }], ['-m', 'gemini-2.5-pro']);
    expect([code, warnings(eventsOf(where))]).toEqual([0, []]);
    expect(ofType(eventsOf(where), 'turn')[0]).not.toHaveProperty('usage');
    expect(resultOf(where).stats).not.toHaveProperty('cost_usd');
  });
});
