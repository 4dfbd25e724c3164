import { GoogleGenAI as NodeSdk } from '@google/genai/node';
import { GoogleGenAI } from '@google/genai/web';
import { expect, test } from '@jest/globals';
import { bodyWriter } from '../../src/providers/gemini/request.js';
import { misfitIn, SDK_WORKAROUNDS, SdkMisfit } from '../../src/providers/gemini/sdk-workarounds.js';

const event = (text: string, more: object = {}) =>
  `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text }] }, ...more }] })}\n\n`;

/** Asks the SDK itself, with nothing of ours around it, and tells what it sent and what it made of the answer. */
async function ask(answer: string, { contents = 'hi' as unknown, status = 200 } = {}) {
  let sent = '';
  const fetch = async (_url: unknown, init: { body: string }) => {
    sent = init.body;
    return new Response(answer, { status, headers: { 'content-type': 'application/json' } });
  };
  const { models } = new GoogleGenAI({ apiKey: 'k', httpOptions: { fetch } as object });
  const request = { model: 'm', contents } as Parameters<typeof models.generateContentStream>[0];
  const chunks = [];
  for await (const chunk of await models.generateContentStream(request)) chunks.push(chunk);
  return { sent, chunks, text: chunks.map((chunk) => chunk.text).join('') };
}

/** What breaks without each of them. A row of which this is no longer true can be deleted, with its workaround. */
const WITHOUT: Record<string, () => Promise<void>> = {
  async contents() {
    const contents = [{ role: 'user', parts: [{ text: 'x', fieldOfTomorrow: 1 }] }];
    const { sent } = await ask(event('a', { finishReason: 'STOP' }), { contents });
    expect(sent).toContain('"text":"x"');
    expect(sent).not.toContain('fieldOfTomorrow');
  },
  async events() {
    const { text } = await ask(
      `${event('a')}event: message\n${event('b')}: ping\n${event('c')}${event('d')}`,
    );
    expect(text).toBe('ad');
  },
  async 'finish-message'() {
    const { chunks } = await ask(event('a', { finishReason: 'OTHER', finishMessage: 'because' }));
    expect(chunks[0]?.candidates?.[0]?.finishReason).toBe('OTHER');
    expect(JSON.stringify(chunks)).not.toContain('because');
  },
  async 'cut-streams'() {
    expect((await ask(event('half'))).text).toBe('half');
  },
  async 'broken-errors'() {
    const error = await ask('<html>', { status: 503 }).catch((thrown: unknown) => thrown);
    expect(error).not.toHaveProperty('status');
  },
  async tokens() {
    const never = () => new Promise(() => {});
    const authClient = { getRequestHeaders: never, getAccessToken: never, request: never };
    const settings = { vertexai: true, project: 'p', location: 'l', googleAuthOptions: { authClient } };
    const { models } = new NodeSdk(settings as object);
    const abort = new AbortController();
    let isOver = false;
    const request = { model: 'm', contents: 'hi', config: { abortSignal: abort.signal } };
    const over = () => (isOver = true);
    models.generateContentStream(request).then(over, over);
    abort.abort();
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(isOver).toBe(false);
  },
};
const OF_THE_BUILD = ['models-only', 'web-pieces', 'late-imports'];

test('each workaround has a test that says what breaks without it', () => {
  expect([...Object.keys(WITHOUT), ...OF_THE_BUILD].toSorted()).toEqual(
    Object.keys(SDK_WORKAROUNDS).toSorted(),
  );
});

test.each(Object.entries(WITHOUT))('what breaks without: %s', async (_name, shows) => {
  await shows();
});

test('an SDK that writes the conversation in another way is a bug, and says which workaround it is', () => {
  const write = () => bodyWriter()('{"contents":[{"role":"user","pieces":[]}]}', []);
  expect(write).toThrow(SdkMisfit);
  expect(write).toThrow(
    '@google/genai no longer fits: the place of the conversation is not in what it would send (sdk-workarounds.ts: contents)',
  );
});

test.each<[string, unknown, boolean]>([
  ['asks our response for more than it has', new TypeError('response.text is not a function'), true],
  ['gives no stream', new TypeError('chunks is not async iterable'), true],
  ['cannot read what came', new TypeError("Cannot read properties of undefined (reading 'parts')"), false],
  ['gets an address that is none', new TypeError('Invalid URL'), false],
  ['gets no answer', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }), false],
])('an SDK that %s no longer fits: %#', (_what, error, isMisfit) => {
  expect(misfitIn(error) !== undefined).toBe(isMisfit);
});
