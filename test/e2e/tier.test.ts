import { describe, expect, test } from '@jest/globals';
import { batchFile, journalled, lastResult, resultsIn, runBatch } from '../helpers/batch.js';
import { call, text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { eventsOf, ofType, resultOf } from '../helpers/run-cli.js';
import { bosunUnder, place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const tierOf = ({ body }: LoggedRequest) => body?.serviceTier as string | undefined;
const FLEX = 'model: {name: gemini-2.5-flash, tier: flex}';
const FALLBACK = 'model: {name: gemini-2.5-flash, tier: flex, tier_fallback: standard}';
const MODEL = ['-m', 'gemini-2.5-flash'];
const policy = (model: string) => `version: 1\nmode: plan\n${model}\n`;
// A request of the scripted server is 100 tokens in and 10 out: $0.000055 with gemini-2.5-flash.
const STANDARD_USD = 0.000055;
const shed = { status: 503, body: 'no room', headers: { 'retry-after': '0' } };
const day = {
  status: 429,
  body: {
    error: {
      ...{ code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Quota exceeded' },
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
          violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-Flex' }],
        },
      ],
    },
  },
};

describe('the flex tier of a run', () => {
  test('is asked for in every request, recorded, and costs half', async () => {
    const script = [{ parts: [call('list_directory', { path: '.' })] }, { parts: [text('done')] }];
    const { code, server, place: where } = await bosunUnder(policy(FLEX), script, MODEL);
    expect([code, server.requests.map(tierOf)]).toEqual([0, ['flex', 'flex']]);
    expect(resultOf(where).stats.cost_usd).toBeCloseTo(STANDARD_USD, 9);
    expect(ofType(eventsOf(where), 'init')[0]?.model_settings?.tier).toBe('flex');
    expect(ofType(eventsOf(where), 'turn')[0]?.usage?.tier).toBe('flex');
  });

  test('counts so for limits', async () => {
    const limited = `${policy(FLEX)}limits: {cost_usd: ${STANDARD_USD * 1.25}}\n`;
    const script = () => ({ parts: [call('list_directory', { path: '.' })] });
    const { code, server } = await bosunUnder(limited, script, MODEL);
    expect([code, server.requests.length]).toEqual([6, 3]);
  });

  test('that has no room gives its requests to the standard tier, one by one', async () => {
    let turns = 0;
    const script = (request: LoggedRequest) => {
      if (tierOf(request) === 'flex' && turns === 0) return shed;
      return ++turns === 1 ? { parts: [call('list_directory', { path: '.' })] } : { parts: [text('done')] };
    };
    const { code, server, place: where } = await bosunUnder(policy(FALLBACK), script, MODEL);
    expect(code).toBe(0);
    expect(server.requests.map(tierOf)).toEqual(['flex', 'flex', 'flex', undefined, 'flex']);
    expect(resultOf(where).stats.cost_usd).toBeCloseTo(STANDARD_USD * 1.5, 9);
    expect(resultOf(where).warnings).toEqual([expect.stringContaining('the flex tier has no capacity')]);
  });

  test('goes to the standard tier at once when its quota is gone for the day', async () => {
    const script = (request: LoggedRequest) => (tierOf(request) ? day : { parts: [text('done')] });
    const { code, server } = await bosunUnder(policy(FALLBACK), script, MODEL);
    expect([code, server.requests.map(tierOf)]).toEqual([0, ['flex', undefined]]);
  });

  test('is exit 2 for a model that has none', async () => {
    const { code, stderr, server } = await bosunUnder(
      policy('model: {tier: flex}'),
      [],
      ['-m', 'openai/qwen'],
    );
    expect([code, server.requests.length]).toEqual([2, 0]);
    expect(stderr).toContain('openai/qwen has no flex tier');
  });
});

describe('the flex tier of a batch', () => {
  const batch = (model: string) => `version: 1
name: cheap
prompt: Look at {{n}}
tasks: {list: [{n: 1}, {n: 2}, {n: 3}]}
policy: read-only
${model}
`;

  test('belongs to the key of its tasks, and costs half', async () => {
    const where = place();
    const server = await serve(() => ({ parts: [text('done')] }));
    expect((await runBatch(server, where, [batchFile(where, batch(FLEX))])).code).toBe(0);
    expect(server.requests.map(tierOf)).toEqual(['flex', 'flex', 'flex']);
    expect(lastResult(where).cost_usd).toBeCloseTo(STANDARD_USD * 1.5, 9);
    const standard = batch('model: gemini-2.5-flash');
    expect((await runBatch(server, where, [batchFile(where, standard)])).code).toBe(0);
    expect(journalled(where, 'task_start').at(-1)?.why).toBe('the tier changed');
    expect(server.requests.slice(3).map(tierOf)).toEqual([undefined, undefined, undefined]);
  });

  test('has a lane of its own at the gate, and does not pause the batch while there is another', async () => {
    const where = place();
    const server = await serve((request) => (tierOf(request) ? day : { parts: [text('done')] }));
    const { code } = await runBatch(server, where, [batchFile(where, batch(FALLBACK))]);
    expect([code, resultsIn(where).map(({ status }) => status)]).toEqual([0, Array(3).fill('completed')]);
    const lanes = new Set(journalled(where, 'gate').map(({ account }) => account));
    expect([...lanes]).toEqual(['gemini-2.5-flash (flex)']);
    const paused = await runBatch(server, where, [batchFile(where, batch(FLEX)), '--redo', '*']);
    expect(paused.code).toBe(10);
  });
});
