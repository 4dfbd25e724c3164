import { describe, expect, test } from '@jest/globals';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { sampled } from '../helpers/counts.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { eventsOf, ofType, resultOf, runCli } from '../helpers/run-cli.js';
import { bosunRun, bosunUnder } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const usage = {
  promptTokenCount: 1000,
  cachedContentTokenCount: 400,
  candidatesTokenCount: 50,
  thoughtsTokenCount: 20,
  toolUsePromptTokenCount: 10,
  totalTokenCount: 1080,
};
const done = { parts: [text('Done.')], usage };
const look = { parts: [call('list_directory', { path: '.' })], usage };
/** (600 + 10) · 1.25 + 400 · 0.125 + 70 · 10, in millionths. */
const PRO = 0.0015125;

describe('the cost of a run', () => {
  test('counts every kind of token by its price, in turns, in the result, and by model', async () => {
    const { code, place, stderr } = await bosunRun([look, done], ['-m', 'gemini-2.5-pro']);
    expect(code).toBe(0);
    expect(ofType(eventsOf(place), 'turn').map(({ cost_usd }) => cost_usd)).toEqual([PRO, PRO]);
    const counts = { total_tokens: 2160, input_tokens: 2000, output_tokens: 100, cached: 800, input: 1200 };
    const spent = { ...counts, thoughts: 40, tool_use: 20, cost_usd: 2 * PRO };
    expect(resultOf(place).stats).toMatchObject({ ...spent, models: { 'gemini-scripted': spent } });
    expect(stderr).toContain('completed: 2 turns, 1 call, 2160 tokens, $0.003025, ');
    const report = await runCli(['report', place.transcript]);
    expect(report.stdout).toMatch(/tokens +2160 \(2000 in of which 800 cached, 100 out, 40 thoughts\)/);
    expect(report.stdout).toMatch(/cost +\$0\.003025\n/);
  });

  test('of a long prompt is at the price of long prompts', async () => {
    const long = { promptTokenCount: 300_000, candidatesTokenCount: 1000, totalTokenCount: 301_000 };
    const { place } = await bosunRun([{ ...done, usage: long }], ['-m', 'gemini-2.5-pro']);
    expect(resultOf(place).stats.cost_usd).toBe(0.765);
  });

  test('is absent where there is no price, and never 0', async () => {
    const { place, stderr } = await bosunRun([done], []);
    expect(resultOf(place).stats).not.toHaveProperty('cost_usd');
    expect(resultOf(place).stats.models['gemini-scripted']).not.toHaveProperty('cost_usd');
    expect(stderr).not.toContain('$');
  });

  test('is 0 where a policy says that the model costs nothing', async () => {
    const { place } = await bosunUnder(
      'version: 1\nmodel: {prices: {gemini-test: {input: 0, output: 0}}}\n',
      [done],
    );
    expect(resultOf(place).stats.cost_usd).toBe(0);
  });

  test('is that of the recording when one is replayed', async () => {
    const recorded = await bosunRun([look, done], ['-m', 'gemini-2.5-pro']);
    const again = await runCli([
      'run',
      '--replay',
      recorded.place.transcript,
      '-C',
      recorded.place.workspace,
      '-o',
      'json',
    ]);
    expect(JSON.parse(again.stdout)).toMatchObject({ status: 'completed', stats: { cost_usd: 2 * PRO } });
    const { transcript } = JSON.parse(again.stdout);
    expect((await runCli(['report', transcript])).stdout).toContain('$0.003025, when it was recorded');
  });
});

describe('a provider that tells nonsense', () => {
  const event = (more: object) =>
    `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [text('Done.')] }, finishReason: 'STOP' }], ...more })}\r\n\r\n`;
  const big = Number.MAX_SAFE_INTEGER;
  const cases: [string, object, number | undefined][] = [
    ['a model that is a number', { modelVersion: 7, usageMetadata: usage }, PRO],
    ['a model that is an object', { modelVersion: { a: 1 }, usageMetadata: usage }, PRO],
    ['a model named __proto__', { modelVersion: '__proto__', usageMetadata: usage }, PRO],
    ['counts that are texts', { usageMetadata: { promptTokenCount: '9', totalTokenCount: '9' } }, undefined],
    ['counts below 0', { usageMetadata: { promptTokenCount: -9, candidatesTokenCount: -1 } }, undefined],
    ['usage that is a list', { usageMetadata: [1, 2] }, undefined],
    [
      'counts beyond all measure',
      { usageMetadata: { promptTokenCount: big, candidatesTokenCount: big } },
      (big * 17.5) / 1e6,
    ],
  ];
  sampled.each(cases)('%s: the run ends well, and its transcript is valid', async (_what, more, cost) => {
    const { code, place } = await bosunRun(
      [{ raw: event(more) }],
      ['-m', 'gemini-2.5-pro', '--max-cost', '5'],
    );
    expect(code).toBe(0);
    const { cost_usd } = resultOf(place).stats;
    if (cost === undefined) expect(cost_usd).toBeUndefined();
    else expect(cost_usd).toBeCloseTo(cost, 2);
    expect(await verifyTranscript(place.transcript)).toMatchObject({ valid: true });
  });
});

describe('a limit on cost', () => {
  test.each([
    ['a flag', '', ['--max-cost', '5']],
    ['a policy', 'limits: {cost_usd: 5}\n', []],
  ])('by %s needs a price: without one nothing is sent', async (_by, limits, flags) => {
    const { code, stderr, server, place } = await bosunUnder(`version: 1\n${limits}`, [done], flags);
    expect([code, server.requests.length]).toEqual([2, 0]);
    expect(resultOf(place)).toMatchObject({ status: 'config_error', reason: 'unpriced_model' });
    expect(stderr).toMatch(
      /no price for gemini-test\. Give it in a policy.* model: \{prices: \{"gemini-test": /,
    );
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  test('takes the price that its own hint proposes', async () => {
    const { code, place } = await bosunUnder(
      'version: 1\nlimits: {cost_usd: 5}\nmodel: {prices: {"gemini-test": {input: 1.25, cached: 0.125, output: 10}}}\n',
      [done],
    );
    expect([code, resultOf(place).stats.cost_usd]).toEqual([0, PRO]);
  });

  test('of 0 sends nothing', async () => {
    const { code, server, place } = await bosunRun([done], ['-m', 'gemini-2.5-pro', '--max-cost', '0']);
    expect([code, server.requests.length, resultOf(place).reason]).toEqual([6, 0, 'cost']);
  });

  test('is passed by one turn at the most, in a run of hundreds', async () => {
    const { code, server, place } = await bosunRun(
      (_request, i) => ({
        ...look,
        parts: [call('list_directory', { path: '.', ignore: [`x${i}`] }, { id: `c${i}` })],
      }),
      [...['-m', 'gemini-2.5-pro', '--max-turns', '500', '--max-cost', '0.3']],
    );
    const { stats } = resultOf(place);
    expect([code, server.requests.length]).toEqual([6, Math.ceil(0.3 / PRO)]);
    expect(stats.cost_usd).toBeGreaterThanOrEqual(0.3);
    expect(stats.cost_usd).toBeLessThan(0.3 + PRO);
  });
});
