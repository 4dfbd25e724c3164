import { describe, expect, test } from '@jest/globals';
import type { ToolContent } from '../../src/protocol/tool.js';
import { convertContent, responseContent } from '../../src/scheduler/response.js';

const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
const video = { fileData: { fileUri: 'https://x', mimeType: 'video/mp4' } };
const ready = (response: Record<string, unknown>) => ({ functionResponse: { name: 'x', response } });

describe('what a tool hands back becomes one output and its media', () => {
  const cases: [string, ToolContent, object][] = [
    ['a string', 'hello', { output: 'hello' }],
    ['an empty string', '', { output: '' }],
    ['one text part', { text: 'hello' }, { output: 'hello' }],
    ['several text parts', [{ text: 'a' }, { text: 'b' }], { output: 'ab' }],
    ['no parts', [], { output: '' }],
    ['one image', image, { output: 'Attached: image/png.', media: [image] }],
    ['text and media', [{ text: 'a' }, image, { text: 'b' }, video], { output: 'ab', media: [image, video] }],
    [
      'a file of unknown type',
      { fileData: { fileUri: 'u' } },
      { output: 'Attached: a file.', media: [{ fileData: { fileUri: 'u' } }] },
    ],
    ['a ready response with text', ready({ output: 'done' }), { output: 'done' }],
    ['a ready response with an object', ready({ output: { n: 1 } }), { output: { n: 1 } }],
    ['a ready response of its own shape', ready({ items: [1] }), { output: { items: [1] } }],
    ['a ready response and an image', [ready({ output: 'see' }), image], { output: 'see', media: [image] }],
  ];
  test.each(cases)('%s', (_what, content, converted) => {
    expect(convertContent(content)).toEqual(converted);
  });
});

test('the answer to a turn is one content: responses in call order as objects, then media with their owners', () => {
  const call = (id: string) => ({ id, wireId: `wire-${id}`, name: `tool-${id}`, args: {}, turn: 0 });
  const content = responseContent([
    { call: call('1'), kind: 'read', status: 'success', output: 'a', media: [image], duration_ms: 1 },
    {
      call: call('2'),
      kind: 'read',
      status: 'error',
      error: { type: 'timeout', message: 'late' },
      duration_ms: 1,
    },
    { call: call('3'), kind: 'read', status: 'success', output: { rows: [] }, duration_ms: 1 },
    { call: call('4'), kind: 'read', status: 'success', duration_ms: 1 },
  ]);
  expect(content).toEqual({
    role: 'user',
    parts: [
      { functionResponse: { id: 'wire-1', name: 'tool-1', response: { output: 'a' } } },
      { functionResponse: { id: 'wire-2', name: 'tool-2', response: { error: 'late', type: 'timeout' } } },
      { functionResponse: { id: 'wire-3', name: 'tool-3', response: { output: { rows: [] } } } },
      { functionResponse: { id: 'wire-4', name: 'tool-4', response: { output: '' } } },
      { text: '[1] call 1, tool-1' },
      image,
    ],
  });
});
