import { describe, expect, test } from '@jest/globals';
import type { Content } from '../../src/protocol/content.js';
import { Problem } from '../../src/protocol/problem.js';
import type {
  FailureClass,
  GroundedReply,
  ModelFailure,
  ModelReply,
  ModelRequest,
  Provider,
} from '../../src/protocol/provider.js';
import { withFallback } from '../../src/providers/fallback.js';
import { retellFor } from '../../src/providers/foreign.js';
import { HELLO, request } from '../helpers/provider.js';

const fails = (kind: FailureClass): ModelFailure => ({
  type: 'failure',
  class: kind,
  retryable: false,
  message: `${kind}!`,
});
const says = (model: string): ModelReply => ({
  type: 'reply',
  content: { role: 'model', parts: [{ text: `I am ${model}.`, thoughtSignature: `of-${model}` }] },
  end: 'stop',
  finishReason: 'STOP',
  model,
});

/** Models that always say the same; those with a Problem cannot even be opened. */
function chain(
  outcomes: Readonly<Record<string, ModelFailure | ModelReply | Problem>>,
  providerName = 'gemini',
) {
  const asked: { model: string; request: ModelRequest }[] = [];
  const closed: string[] = [];
  const warnings: string[] = [];
  const open = (model: string): Provider => ({
    name: providerName,
    model,
    auth: 'none',
    send: async (sent) => {
      asked.push({ model, request: sent });
      await new Promise(setImmediate);
      return outcomes[model] as ModelReply;
    },
    close: () => closed.push(model),
  });
  const [first = '', ...others] = Object.keys(outcomes);
  const candidates = others.map((name) => ({
    name,
    open: async () => {
      if (outcomes[name] instanceof Problem) throw outcomes[name];
      return open(name);
    },
  }));
  const provider = withFallback(first, open(first), candidates, (message) => warnings.push(message));
  const send = (contents: readonly Content[] = [HELLO], signal = new AbortController().signal) =>
    provider.send(request({ contents }), signal);
  return { provider, send, asked: () => asked.map(({ model }) => model), requests: asked, closed, warnings };
}

describe('a model that cannot be had', () => {
  test.each(['quota', 'unavailable', 'protocol', 'not_found'] as const)(
    'because of %s hands over to the next, for good, and it is told once',
    async (kind) => {
      const { provider, send, asked, closed, warnings } = chain({ a: fails(kind), b: says('b') });
      expect(provider.model).toBe('a');
      for (let i = 0; i < 3; i++) expect(await send()).toMatchObject({ type: 'reply', model: 'b' });
      expect(asked()).toEqual(['a', 'b', 'b', 'b']);
      expect(provider.model).toBe('b');
      expect(warnings).toEqual([`a is not available, continuing with b: ${kind}!`]);
      expect(closed).toEqual(['a']);
      provider.close();
      expect(closed).toEqual(['a', 'b']);
    },
  );

  test.each(['auth', 'invalid_request', 'recording'] as const)('because of %s does not', async (kind) => {
    const { send, asked, warnings } = chain({ a: fails(kind), b: says('b') });
    expect(await send()).toEqual(fails(kind));
    expect([asked(), warnings]).toEqual([['a'], []]);
  });

  test('hands over to the one after the next, if that cannot be had either', async () => {
    const { send, asked, warnings } = chain({ a: fails('quota'), b: fails('not_found'), c: says('c') });
    expect(await send()).toMatchObject({ model: 'c' });
    expect(asked()).toEqual(['a', 'b', 'c']);
    expect(warnings).toHaveLength(2);
  });

  test('passes over one without credentials, and says so', async () => {
    const problem = new Problem('auth', 'no_credentials', 'no API key: OPENAI_API_KEY is not set');
    const { send, asked, warnings } = chain({ a: fails('quota'), b: problem, c: says('c') });
    expect(await send()).toMatchObject({ model: 'c' });
    expect(asked()).toEqual(['a', 'c']);
    expect(warnings).toEqual([
      'the fallback b is skipped: no API key: OPENAI_API_KEY is not set',
      'a is not available, continuing with c: quota!',
    ]);
  });

  test('is the end when nobody is left: the last failure counts', async () => {
    const { send, asked } = chain({ a: fails('not_found'), b: fails('quota') });
    expect(await send()).toEqual(fails('quota'));
    expect(await send()).toEqual(fails('quota'));
    expect(asked()).toEqual(['a', 'b', 'b']);
  });

  test('does not hand over in a run that was stopped', async () => {
    const { send, asked } = chain({ a: fails('unavailable'), b: says('b') });
    await send([HELLO], AbortSignal.abort());
    expect(asked()).toEqual(['a']);
  });

  test('hands over once, however many requests fail at the same time', async () => {
    const { send, asked, warnings } = chain({ a: fails('quota'), b: says('b'), c: says('c') });
    const models = await Promise.all([send(), send(), send()]);
    expect(models.map((one) => (one as ModelReply).model)).toEqual(['b', 'b', 'b']);
    expect(asked()).toEqual(['a', 'a', 'a', 'b', 'b', 'b']);
    expect(warnings).toHaveLength(1);
  });
});

test('whatever else a provider can do is asked of the one in use', async () => {
  const ground = (who: string) => async () => ({ text: `sources of ${who}` }) as GroundedReply;
  const a = { ...chain({ a: fails('quota') }).provider, ground: ground('a') };
  const b = { ...chain({ b: says('b') }).provider, ground: ground('b') };
  const provider = withFallback('a', a, [{ name: 'b', open: async () => b }], () => {}) as typeof a;
  expect((await provider.ground()).text).toBe('sources of a');
  await provider.send(request(), new AbortController().signal);
  expect((await provider.ground()).text).toBe('sources of b');
});

describe('the history', () => {
  const own = says('a').content;

  test('goes to the first model as it is, whoever wrote it', async () => {
    const { send, requests } = chain({ a: says('a'), b: says('b') });
    await send([HELLO, own, HELLO]);
    expect(requests[0]?.request.contents[1]).toBe(own);
  });

  test('goes to the next without what only the other can read; its own answers as they are', async () => {
    const { send, requests } = chain({ a: fails('quota'), b: says('b') });
    const reply = (await send([HELLO, own, HELLO])) as ModelReply;
    await send([HELLO, own, HELLO, reply.content, HELLO]);
    const [, first, second] = requests.map((one) => one.request.contents);
    expect(first?.[1]).toEqual({ role: 'model', parts: [{ text: 'I am a.' }] });
    expect(second?.[1]).toBe(first?.[1]);
    expect(second?.[3]).toBe(reply.content);
    expect(own.parts[0]).toHaveProperty('thoughtSignature');
  });

  const call = (name: string, more: object = {}) => ({ functionCall: { id: name, name, args: {} }, ...more });
  const said = {
    role: 'model',
    parts: [
      { thought: true, text: 'Hm.', thoughtSignature: 'S0' },
      { thought: true, openai: { thoughts: { reasoning: 'Hm.' } } },
      { text: '', thoughtSignature: 'S1' },
      { text: 'Look:' },
      call('f', { thoughtSignature: 'S2' }),
      call('g', { openai: { arguments: '{ }' } }),
    ],
  } as const;

  test.each([
    ['gemini', 'gemini-2.5-flash', false],
    ['vertex', 'gemini-2.0-flash-001', false],
    ['gemini', 'gemini-3-flash', true],
    ['vertex', 'gemini-3.1-pro-preview', true],
    ['gemini', 'gemini-flash-latest', true],
    ['openai', 'gemini-3-flash', false],
  ])('is retold for %s %s; the first call is marked as unsigned: %s', (name, model, marked) => {
    const mark = marked ? { thoughtSignature: 'skip_thought_signature_validator' } : {};
    expect(retellFor({ name, model })(said).parts).toEqual([{ text: 'Look:' }, call('f', mark), call('g')]);
  });

  test('of thoughts alone is not retold as nothing at all', () => {
    const thoughts: Content = { role: 'model', parts: [{ thought: true, text: 'Hm.' }] };
    expect(retellFor({ name: 'gemini', model: 'gemini-x' })(thoughts).parts).toEqual([{ text: '…' }]);
  });
});
