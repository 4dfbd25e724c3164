import { describe, expect, test } from '@jest/globals';
import { withCitations } from '../../../src/tools/web/citations.js';

const sources = [
  { uri: 'https://a.example/', title: 'A' },
  { uri: 'https://b.example/', title: 'B\nb' },
  { uri: 'https://c.example/', title: '' },
];
const LIST =
  '\n\nSources:\n[1] A: https://a.example/\n[2] B b: https://b.example/\n[3] untitled: https://c.example/';

function cited(text: string, ...supports: [end: number, ...sources: number[]][]): string {
  const whole = withCitations({
    text,
    sources,
    supports: supports.map(([end, ...s]) => ({ end, sources: s })),
  });
  expect(whole.endsWith(LIST)).toBe(true);
  return whole.slice(0, -LIST.length);
}

describe('a mark stands behind what its source says', () => {
  test.each<[string, string, [number, ...number[]][], string]>([
    ['one', 'One. Two.', [[4, 0]], 'One.[1] Two.'],
    ['several sources', 'One. Two.', [[4, 2, 0]], 'One.[1][3] Two.'],
    [
      'several at one place, each once',
      'One.',
      [
        [4, 0],
        [4, 1],
        [4, 0, 2],
      ],
      'One.[1][2][3]',
    ],
    [
      'in any order',
      'One. Two.',
      [
        [9, 1],
        [4, 0],
      ],
      'One.[1] Two.[2]',
    ],
    [
      'in overlapping pieces',
      'One two three',
      [
        [7, 0],
        [13, 1],
        [3, 2],
      ],
      'One[3] two[1] three[2]',
    ],
    ['by bytes, not characters', 'Zürich. Ja.', [[8, 0]], 'Zürich.[1] Ja.'],
    [
      'behind emoji',
      '😀 yes. 日本',
      [
        [9, 0],
        [16, 1],
      ],
      '😀 yes.[1] 日本[2]',
    ],
    [
      'not inside a character',
      '日本',
      [
        [1, 0],
        [4, 1],
      ],
      '日[1]本[2]',
    ],
    ['not inside an emoji', '😀x', [[2, 0]], '😀[1]x'],
    ['past the end', 'End', [[99, 0]], 'End[1]'],
    [
      'nowhere at the very start',
      'Start',
      [
        [0, 0],
        [-5, 1],
      ],
      'Start',
    ],
    ['nowhere without supports', 'Text', [], 'Text'],
  ])('%s', (_what, text, supports, expected) => {
    expect(cited(text, ...supports)).toBe(expected);
  });
});

test('without sources there is no list', () => {
  expect(withCitations({ text: 'Text', sources: [], supports: [] })).toBe('Text');
});
