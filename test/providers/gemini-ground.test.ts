import { describe, expect, test } from '@jest/globals';
import type { GroundedReply, GroundingRequest, ModelFailure, Provider } from '../../src/protocol/provider.js';
import { grounded, groundingFields } from '../helpers/grounding.js';
import { providers, within } from '../helpers/provider.js';
import type { Reply } from '../helpers/gemini-server.mjs';

const { open, serve } = providers();
const SEARCH: GroundingRequest = { instruction: 'Be exact.', prompt: 'What is new?', with: 'google_search' };

function ground(provider: Provider, request = SEARCH, signal = new AbortController().signal) {
  if (!provider.ground) throw new Error('it has no ground');
  return provider.ground(request, signal);
}

function asGrounded(outcome: GroundedReply | ModelFailure): GroundedReply {
  if (outcome.type !== 'grounded') throw new Error(JSON.stringify(outcome));
  return outcome;
}

async function answerTo(reply: Reply): Promise<GroundedReply> {
  return asGrounded(await ground(open(await serve([reply]))));
}

test.each([
  ['google_search', { googleSearch: {} }],
  ['url_context', { urlContext: {} }],
] as const)('a request with %s has that tool and nothing of the conversation', async (tool, declared) => {
  const server = await serve([grounded('Fine.')]);
  await ground(open(server), { ...SEARCH, with: tool });
  expect(server.requests[0]?.body).toMatchObject({
    contents: [{ role: 'user', parts: [{ text: 'What is new?' }] }],
    systemInstruction: { parts: [{ text: 'Be exact.' }] },
    tools: [declared],
  });
  expect(server.requests[0]?.url).toContain('gemini-test:streamGenerateContent');
});

test('an answer comes with its sources, what they stand for, and what it used', async () => {
  const reply = await answerTo({
    ...grounded('Zürich is nice.', {
      sources: [
        ['https://a.example/', 'A'],
        ['https://b.example/', 'B'],
        ['https://a.example/', 'A again'],
      ],
      supports: [{ start: 0, end: 16, text: 'Zürich is nice.', chunks: [1, 0, 2] }],
      queries: ['zürich'],
      urls: { 'https://x.example/': 'SUCCESS', 'https://y.example/': 'PAYWALL' },
    }),
    usage: { promptTokenCount: 7, toolUsePromptTokenCount: 50, candidatesTokenCount: 3, totalTokenCount: 60 },
  });
  expect(reply).toEqual({
    type: 'grounded',
    text: 'Zürich is nice.',
    end: 'stop',
    finishReason: 'STOP',
    model: 'gemini-scripted',
    usage: { prompt: 7, tool_use: 50, output: 3, total: 60 },
    urls: [
      { url: 'https://x.example/', ok: true, status: 'URL_RETRIEVAL_STATUS_SUCCESS' },
      { url: 'https://y.example/', ok: false, status: 'URL_RETRIEVAL_STATUS_PAYWALL' },
    ],
    sources: [
      { uri: 'https://a.example/', title: 'A' },
      { uri: 'https://b.example/', title: 'B' },
    ],
    supports: [{ end: 16, sources: [1, 0] }],
    queries: ['zürich'],
  });
});

test('what comes in several events is put together', async () => {
  const candidate = groundingFields({
    sources: [['https://a.example/', 'A']],
    supports: [{ end: 8, chunks: [0] }],
  });
  const reply = await answerTo({ chunks: [[{ text: 'One ' }], [{ text: 'two.' }], []], candidate });
  expect(reply.text).toBe('One two.');
  expect(reply.supports).toEqual([{ end: 8, sources: [0] }]);
});

test('offsets into a later part count from its start, if that is what fits', async () => {
  const parts = [{ text: 'First. ', thoughtSignature: 'c2ln' }, { text: 'Second.' }];
  const sources = [['https://a.example/', 'A']] as const;
  const at = async (text: string) => {
    const supports = [{ start: 0, end: 7, part: 1, text, chunks: [0] }];
    return (await answerTo({ parts, candidate: groundingFields({ sources, supports }) })).supports[0]?.end;
  };
  expect(await at('Second.')).toBe(14);
  expect(await at('something else')).toBe(7);
});

describe('nothing is taken for granted', () => {
  test.each<[string, object]>([
    ['no metadata', {}],
    ['null', { groundingMetadata: null, urlContextMetadata: null }],
    ['lists that are none', { groundingMetadata: { groundingChunks: 'x', groundingSupports: {} } }],
    [
      'holes',
      { groundingMetadata: { groundingChunks: [null, {}, { web: {} }], groundingSupports: [null, {}] } },
    ],
    [
      'supports that point nowhere',
      groundingFields({
        sources: [['https://a.example/', 'A']],
        supports: [{ end: 3, chunks: [5, -1] }, { chunks: [0] }, { end: -4, chunks: [0] }, { end: 2 }],
      }),
    ],
    ['URLs that are none', { urlContextMetadata: { urlMetadata: [{ retrievedUrl: 5 }, null, 'x'] } }],
  ])('%s', async (_what, candidate) => {
    const reply = await answerTo({ parts: [{ text: 'Text.' }], candidate });
    expect(reply).toMatchObject({ text: 'Text.', supports: [], urls: [] });
  });

  test('a stream without a finish reason is a failure', async () => {
    const outcome = await ground(open(await serve([{ parts: [{ text: 'Half' }], finishReason: null }])));
    expect(outcome).toMatchObject({ type: 'failure', class: 'unavailable' });
  });

  test('a blocked answer says so', async () => {
    expect(await answerTo({ promptFeedback: { blockReason: 'SAFETY' } })).toMatchObject({
      end: 'blocked',
      finishReason: 'SAFETY',
      text: '',
    });
  });

  test('an error of the API is a failure', async () => {
    const outcome = await ground(
      open(await serve([{ status: 429, body: { error: { message: 'slow down' } } }])),
    );
    expect(outcome).toMatchObject({ type: 'failure', class: 'quota' });
  });
});

test('abort closes the connection', async () => {
  const stop = new AbortController();
  const server = await serve(() => {
    stop.abort();
    return { hang: true };
  });
  const outcome = await within(5000, ground(open(server), SEARCH, stop.signal));
  expect(outcome.type).toBe('failure');
});
