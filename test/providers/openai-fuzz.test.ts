import { expect, test } from '@jest/globals';
import type { ModelFailure, ModelReply } from '../../src/protocol/provider.js';
import { errorInAnswer } from '../../src/providers/openai/failure.js';
import { messagesOf } from '../../src/providers/openai/messages.js';
import { errorIn, parseChunk, ReplyBuilder } from '../../src/providers/openai/response.js';
import { rounds } from '../helpers/counts.js';
import { streamOf, toolCall } from '../helpers/openai-server.mjs';
import { Random } from '../helpers/random.js';

const ANSWERS = [
  { text: 'Hello.', calls: [toolCall('read_file', { file_path: 'a' }), toolCall('f', {})] },
  {
    deltas: [{ reasoning: 'a', reasoning_details: [{ type: 'x', text: 'a', index: 0 }] }, { refusal: 'no' }],
  },
  {
    deltas: [
      { content: [{ type: 'thinking', thinking: 'x' }] },
      { function_call: { name: 'f', arguments: '{}' } },
    ],
  },
  { text: 'x', usage: { prompt_tokens: 1, completion_tokens_details: { reasoning_tokens: 2 } } },
];
const ODD = [
  null,
  '',
  0,
  -1,
  1e308,
  'stop',
  '{',
  [],
  [null],
  {},
  { error: { code: 7 } },
  true,
  '__proto__',
  'é\ud800',
];

/** One of the values inside, replaced by something that has no business there. */
function spoil(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.15)) return random.pick(ODD);
  const entries = Object.entries(value);
  if (entries.length === 0) return random.pick(ODD);
  const [key, inner] = random.pick(entries);
  const spoilt = spoil(inner, random);
  return Array.isArray(value) ? value.with(Number(key), spoilt) : { ...value, [key]: spoilt };
}

function read(events: readonly unknown[]): ModelReply | ModelFailure {
  const reply = new ReplyBuilder('m');
  for (const event of events) {
    const chunk = parseChunk(JSON.stringify(event));
    if (errorIn(chunk)) return errorInAnswer(errorIn(chunk), 'm');
    reply.add(chunk);
  }
  return reply.build();
}

test('whatever an answer has in it, it is a reply that can go back, a failure, or not the protocol', () => {
  const random = new Random(23);
  const ends = new Set<string>();
  for (let round = 0; round < rounds(4000); round++) {
    const events = streamOf({ ...random.pick(ANSWERS), done: false })
      .map((event) => JSON.parse(event.slice('data: '.length)))
      .map((event) => (random.chance(0.3) ? spoil(event, random) : event));
    try {
      const outcome = read(events);
      ends.add(outcome.type === 'reply' ? outcome.end : outcome.class);
      if (outcome.type === 'reply') expectUsable(outcome);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      ends.add('protocol');
    }
  }
  for (const end of ['stop', 'blocked', 'malformed_call', 'unavailable', 'protocol', 'unknown']) {
    expect(ends).toContain(end);
  }
});

function expectUsable({ content, end, finishReason }: ModelReply): void {
  expect(finishReason).not.toBe('');
  const calls = content.parts.flatMap(({ functionCall }) => functionCall ?? []);
  for (const { name, args, id } of calls) {
    expect(name).toMatch(/./);
    expect(Object.prototype.toString.call(args)).toBe('[object Object]');
    expect(id).not.toBe('');
  }
  if (end !== 'stop') return;
  const [message] = messagesOf(content, { before: undefined, after: undefined }, true);
  expect((message?.['tool_calls'] as unknown[] | undefined)?.length ?? 0).toBe(calls.length);
  for (const sent of (message?.['tool_calls'] ?? []) as { function: { arguments: string } }[]) {
    expect(() => JSON.parse(sent.function.arguments)).not.toThrow();
  }
}
