import { describe, expect, test } from '@jest/globals';
import { reportOf } from '../../../src/tools/mcp/convert.js';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
  'base64',
);
const png = { mimeType: 'image/png', data: PNG.toString('base64') };
const wav = Buffer.from('RIFF\0\0\0\0WAVEfmt ').toString('base64');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const text = (value: string) => ({ type: 'text', text: value });

describe('an answer of a server becomes', () => {
  const cases: [string, object | null | string, unknown][] = [
    ['its text', { content: [text('a'), text('b')] }, 'a\nb'],
    ['a note, if it is empty', { content: [] }, '(the answer is empty)'],
    ['a note, if it is nothing', null, '(the answer is empty)'],
    ['a note, if it is no object', 'what?', '(the answer is empty)'],
    [
      'an image beside the text',
      { content: [text('look'), { type: 'image', ...png }] },
      [{ text: 'look\n[image: image/png, attached]' }, { inlineData: png }],
    ],
    [
      'an image by what it is, not by what it is called',
      { content: [{ type: 'image', mimeType: 'image/jpeg', data: png.data }] },
      [{ text: '[image: image/png, attached]' }, { inlineData: png }],
    ],
    [
      'audio',
      { content: [{ type: 'audio', mimeType: 'audio/x-wav', data: wav }] },
      [{ text: '[audio: audio/wav, attached]' }, { inlineData: { mimeType: 'audio/wav', data: wav } }],
    ],
    [
      'words about an image that is none',
      { content: [{ type: 'image', mimeType: 'image/png', data: base64('hello') }] },
      '[image: image/png, 5 bytes, not something that can be shown]',
    ],
    [
      'the source of a drawing',
      { content: [{ type: 'image', mimeType: 'image/svg+xml', data: base64('<svg/>') }] },
      '[image: image/svg+xml]\n<svg/>',
    ],
    [
      'the text of a resource',
      { content: [{ type: 'resource', resource: { uri: 'file:///a', text: 'inside' } }] },
      '[resource file:///a]\ninside\n[end of the resource]',
    ],
    [
      'the image in a resource',
      { content: [{ type: 'resource', resource: { uri: 'x:y', mimeType: 'image/png', blob: png.data } }] },
      [{ text: '[resource x:y: image/png, attached]' }, { inlineData: png }],
    ],
    [
      'words about bytes in a resource',
      {
        content: [
          { type: 'resource', resource: { uri: 'x:y', mimeType: 'application/zip', blob: base64('PK') } },
        ],
      },
      '[resource x:y: application/zip, 2 bytes, not something that can be shown]',
    ],
    [
      'a link',
      {
        content: [
          { type: 'resource_link', uri: 'x:y', name: 'n', mimeType: 'text/plain', description: 'd\ne' },
        ],
      },
      '[link to a resource: n x:y (text/plain; d e)]',
    ],
    ['structured content', { structuredContent: { a: 1 } }, '{\n  "a": 1\n}'],
    [
      'structured content once, if the text says the same',
      { content: [text('{"b": 2, "a": 1}')], structuredContent: { a: 1, b: 2 } },
      '{"b": 2, "a": 1}',
    ],
    [
      'structured content once, if the text is its only value',
      { content: [text('long')], structuredContent: { content: 'long' } },
      'long',
    ],
    [
      'structured content beside another text',
      { content: [text('see below')], structuredContent: [1] },
      'see below\n[\n  1\n]',
    ],
    ['what servers of old sent', { toolResult: 'x' }, '"x"'],
    [
      'words about what is not known',
      { content: [{ type: 'hologram', data: 'x' }, 7] },
      '[content of an unknown type: {"type":"hologram","data":"x"}]\n[content of an unknown type: {"value":7}]',
    ],
  ];
  test.each(cases)('%s', (_what, result, content) => {
    expect(reportOf(result)).toEqual({ ok: true, content });
  });

  test('an error of the tool', () => {
    expect(reportOf({ isError: true, content: [text('no'), { type: 'image', ...png }] })).toEqual({
      ok: false,
      error: { type: 'mcp_tool_error', message: 'no\n[image: image/png, attached]' },
    });
  });

  test('as many attachments as can be sent, and a word about the others', () => {
    const big = Buffer.concat([PNG, Buffer.alloc(12 * 1024 * 1024)]).toString('base64');
    const image = { type: 'image', mimeType: 'image/png', data: big };
    const report = reportOf({ content: [image, image] });
    const content = (report.ok ? report.content : []) as { text?: string }[];
    expect(content).toHaveLength(2);
    expect(content[0]?.text).toContain('[1 attachments were left out');
  });
});
