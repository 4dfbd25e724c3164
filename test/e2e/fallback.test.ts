import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { sampled } from '../helpers/counts.js';
import { call, text, type LoggedRequest, type Reply } from '../helpers/gemini-server.mjs';
import { runUnder } from '../helpers/in-process.js';
import { startOpenAiServer, toolCall, type ChatScript } from '../helpers/openai-server.mjs';
import { closing } from '../helpers/provider.js';
import { eventsOf, fileIn, ofType, resultOf, runAgainst } from '../helpers/run-cli.js';
import { bosunUnder, place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const use = closing();
const POLICY = 'version: 1\nmode: yolo\nlimits: { retry_time: 0s }\n';
const fallback = (...names: string[]) => `${POLICY}model: { fallback: [${names.join(', ')}] }\n`;
const done: Reply = { parts: [text('Done.')] };
const failed = (code: number, status: string, more: object = {}): Reply => ({
  status: code,
  body: { error: { code, status, message: `no ${status}`, ...more } },
});
const DAY = { details: [{ violations: [{ quotaId: 'RequestsPerDay' }] }] };

const modelOf = ({ url }: LoggedRequest) => /models\/([^:]+):/.exec(url)?.[1] ?? '';
/** Every model has a script of its own; the last reply of it stays. */
function byModel(scripts: Readonly<Record<string, readonly Reply[]>>) {
  const next = new Map<string, number>();
  return (request: LoggedRequest): Reply => {
    const model = modelOf(request);
    const index = next.get(model) ?? 0;
    next.set(model, index + 1);
    const script = scripts[model] ?? [];
    return script[Math.min(index, script.length - 1)] ?? failed(404, 'NOT_FOUND');
  };
}

describe('a model that is listed takes over', () => {
  sampled.each<[string, Reply]>([
    ['the quota of a day is used up', failed(429, 'RESOURCE_EXHAUSTED', DAY)],
    ['a quota is not free in time', failed(429, 'RESOURCE_EXHAUSTED')],
    ['it is not available', failed(503, 'UNAVAILABLE')],
    ['it does not exist', failed(404, 'NOT_FOUND')],
    ['it answers with a web page', { raw: '<html>' }],
    ['its connection breaks', { reset: true }],
  ])('when %s', async (_, reply) => {
    const script = byModel({ 'gemini-test': [reply], 'gemini-other': [done] });
    const { code, stdout, stderr, server, place: where } = await bosunUnder(fallback('gemini-other'), script);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Done.\n' });
    expect(server.requests.map(modelOf)).toEqual(['gemini-test', 'gemini-other']);
    const [warning, ...more] = ofType(eventsOf(where), 'error');
    expect(more).toEqual([]);
    expect(warning).toMatchObject({ severity: 'warning', class: 'fallback' });
    expect(warning?.message).toMatch(/^gemini-test is not available, continuing with gemini-other: /);
    expect(resultOf(where).warnings).toEqual([warning?.message]);
    expect(stderr).toContain('continuing with gemini-other');
    expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
  });

  test('after the retries of the first, in the middle of a run, and stays', async () => {
    const look: Reply = { parts: [call('list_directory', { path: '.' }, { thoughtSignature: 'U2lnbmVk' })] };
    const more = call('write_file', { file_path: 'x', content: 'x' }, { thoughtSignature: 'T3du' });
    const busy = failed(503, 'UNAVAILABLE', { details: [{ retryDelay: '0.1s' }] });
    const script = byModel({ 'gemini-test': [look, busy], 'gemini-3-other': [{ parts: [more] }, done] });
    const policy = fallback('gemini-3-other').replace('0s', '0.4s');
    const { code, server, place: where } = await runUnder(policy, script);
    expect(code).toBe(0);
    expect(fileIn(where, 'x')).toBe('x');
    const models = server.requests.map(modelOf);
    expect(models.slice(-2)).toEqual(['gemini-3-other', 'gemini-3-other']);
    expect(models.filter((model) => model === 'gemini-test').length).toBeGreaterThanOrEqual(3);
    expect(ofType(eventsOf(where), 'tool_use')).toHaveLength(2);
    // The first call is another model's and says so; the second goes back with the signature that it came with.
    const parts = server.requests
      .at(-1)
      ?.body.contents.flatMap((content: { parts: object[] }) => content.parts);
    const signatures = parts.flatMap((part: { thoughtSignature?: string }) => part.thoughtSignature ?? []);
    expect(signatures).toEqual(['skip_thought_signature_validator', 'T3du']);
    expect(server.requests[1]?.raw).toContain('U2lnbmVk');
  });

  test('and each turn says who answered, and the tokens are counted where they were spent', async () => {
    const event = (model: string, parts: object[], total: number) =>
      `data: ${JSON.stringify({
        candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: total - 1, candidatesTokenCount: 1, totalTokenCount: total },
        modelVersion: model,
      })}\r\n\r\n`;
    const script = byModel({
      'gemini-test': [
        { raw: event('gemini-test-001', [call('list_directory', { path: '.' })], 50) },
        failed(404, 'NOT_FOUND'),
      ],
      'gemini-other': [{ raw: event('gemini-other-002', [text('Done.')], 70) }],
    });
    const { code, place: where } = await runUnder(fallback('gemini-other'), script);
    expect(code).toBe(0);
    const turns = ofType(eventsOf(where), 'turn').map(({ model }) => model);
    expect(turns).toEqual(['gemini-test-001', 'gemini-other-002']);
    expect(resultOf(where).stats).toMatchObject({
      total_tokens: 120,
      models: { 'gemini-test-001': { total_tokens: 50 }, 'gemini-other-002': { total_tokens: 70 } },
    });
  });
});

describe('no other model is asked', () => {
  sampled.each<[string, Reply, number]>([
    ['a request that is refused', failed(400, 'INVALID_ARGUMENT'), 7],
    ['a key that is refused', failed(403, 'PERMISSION_DENIED'), 9],
    ['an answer that is blocked', { parts: [], finishReason: 'SAFETY' }, 7],
    ['a prompt that is blocked', { promptFeedback: { blockReason: 'SAFETY' } }, 7],
    ['an answer that is cut off', { parts: [text('x')], finishReason: 'MAX_TOKENS' }, 7],
  ])('for %s', async (_, reply, exit) => {
    const script = byModel({ 'gemini-test': [reply], 'gemini-other': [done] });
    const { code, server } = await runUnder(fallback('gemini-other'), script);
    expect(code).toBe(exit);
    expect(server.requests.map(modelOf)).toEqual(['gemini-test']);
  });

  test('unless it is listed', async () => {
    const { code, server } = await runUnder(POLICY, () => failed(503, 'UNAVAILABLE'));
    expect(code).toBe(11);
    expect(server.requests).toHaveLength(1);
  });

  test('twice: one that is listed again, or asked for anyway, is asked once', async () => {
    const policy = fallback('gemini-test', 'gemini-other', 'gemini-other');
    const { server } = await runUnder(policy, () => failed(503, 'UNAVAILABLE'));
    expect(server.requests.map(modelOf)).toEqual(['gemini-test', 'gemini-other']);
  });
});

test('when all are used up, the last failure is the end, and the others are warnings', async () => {
  const script = byModel({
    'gemini-test': [failed(404, 'NOT_FOUND')],
    'gemini-b': [failed(503, 'UNAVAILABLE')],
    'gemini-c': [failed(429, 'RESOURCE_EXHAUSTED', DAY)],
  });
  const { code, place: where } = await runUnder(fallback('gemini-b', 'gemini-c'), script);
  expect([code, resultOf(where).status]).toEqual([10, 'quota_exhausted']);
  expect(resultOf(where).warnings).toHaveLength(2);
});

describe('the list', () => {
  test('of several policies is that of the first that has one; a base’s comes after one’s own', async () => {
    const where = place();
    const others = ['base', 'second', 'third'].map((name) => join(where.root, `${name}.yaml`));
    others.forEach((file, i) => writeFileSync(file, fallback(`gemini-${i}`)));
    const [base = '', second = '', third = ''] = others;
    writeFileSync(second, `${fallback('gemini-1')}extends: [${base}]\n`);
    const script = () => failed(503, 'UNAVAILABLE');
    const { server } = await bosunUnder(POLICY, script, ['--policy', second, '--policy', third], where);
    expect(server.requests.map(modelOf)).toEqual(['gemini-test', 'gemini-1', 'gemini-0']);
  });

  test('with a name that means nothing is exit 2 before any request', async () => {
    const { code, stderr, server } = await bosunUnder(fallback('gpt-9'), [done]);
    expect([code, server.requests.length]).toEqual([2, 0]);
    expect(stderr).toContain('"gpt-9"');
  });

  test('with a model that has no credentials: it is passed over with a warning', async () => {
    const script = byModel({ 'gemini-test': [failed(404, 'NOT_FOUND')], 'gemini-other': [done] });
    const { code, place: where } = await runUnder(fallback('openai/x', 'gemini-other'), script);
    expect(code).toBe(0);
    expect(resultOf(where).warnings[0]).toMatch(/openai\/x is skipped: .*OPENAI_API_KEY/);
  });
});

describe('from one kind of provider to another', () => {
  const KEY = 'sk-test-0123456789abcdef';

  async function runBoth(gemini: readonly Reply[], chat: ChatScript, model: string, next: string) {
    const where = place();
    const policy = join(where.root, 'policy.yaml');
    writeFileSync(policy, fallback(next));
    const geminiServer = await serve((_, index) => gemini[index] ?? failed(404, 'NOT_FOUND'));
    const chatServer = use(await startOpenAiServer(chat));
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: chatServer.url };
    const args = ['--policy', policy, '-p', 'Go.', '-m', model];
    const result = await runAgainst(geminiServer, where, args, { env });
    return { ...result, where, geminiServer, chatServer };
  }

  test('Gemini’s signatures and thoughts do not reach a chat server', async () => {
    const look = [
      { text: 'Hm.', thought: true, thoughtSignature: 'c2lnbmVk' },
      call('list_directory', { path: '.' }, { thoughtSignature: 'c2lnbmVk' }),
    ];
    const { code, stdout, chatServer } = await runBoth(
      [{ parts: look }],
      [{ text: 'Done.' }],
      'gemini-test',
      'openai/some',
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Done.\n' });
    const [request] = chatServer.requests;
    const roles = request?.body.messages.map(({ role }: { role: string }) => role);
    expect(roles).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(request?.raw).not.toMatch(/c2lnbmVk|thoughtSignature|Hm\./);
  });

  test('what a chat server’s answers carry does not reach Gemini', async () => {
    const chat: ChatScript = [
      {
        deltas: [
          { reasoning_content: 'Hm.' },
          { tool_calls: [{ index: 0, ...toolCall('list_directory', '{ "path" : "." }', 'call_1') }] },
        ],
        finishReason: 'tool_calls',
      },
      { status: 404, body: { error: { message: 'gone' } } },
    ];
    const { code, stdout, geminiServer } = await runBoth([done], chat, 'openai/some', 'gemini-3-pro');
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Done.\n' });
    const [request] = geminiServer.requests;
    expect(request?.raw).not.toContain('"openai"');
    const [, model] = request?.body.contents ?? [];
    expect(model.parts).toEqual([
      {
        functionCall: { id: 'call_1', name: 'list_directory', args: { path: '.' } },
        thoughtSignature: 'skip_thought_signature_validator',
      },
    ]);
  });
});
