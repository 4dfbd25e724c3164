import { describe, expect, test } from '@jest/globals';
import {
  withoutPeriod,
  cleanText,
  count,
  neutralizeCommands,
  oneLine,
  sentence,
} from '../../src/lib/text.js';

describe('cleaning', () => {
  test.each([
    ['colours', '\u001b[1;31mred\u001b[0m', 'red'],
    ['cursor moves', 'a\u001b[2K\u001b[1Gb', 'ab'],
    ['a one-byte introducer', '\u009b31mred', 'red'],
    ['window titles', '\u001b]0;title\u0007text', 'text'],
    ['links', '\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\', 'link'],
    ['colours with colons', '\u001b[38:2:255:0:0mred\u001b[0m', 'red'],
    ['NUL', 'a\0b\0', 'ab'],
  ])('removes %s', (_, dirty, clean) => {
    expect(cleanText(dirty)).toBe(clean);
  });

  test.each([
    ['half a sequence around a whole one', '\u001b[\u001b[31m31mred'],
    ['a sequence with a NUL in it', '\u001b\0[31mred'],
    ['a sequence cut off by the end', 'text\u001b['],
    ['an escape character alone', 'a\u001bb'],
    ['an application command', '\u001b_Gpayload\u001b\\text'],
  ])('leaves nothing that a terminal acts on: %s', (_, dirty) => {
    expect(cleanText(dirty)).not.toMatch(/[\u001b\u009b\0]/);
  });

  test('replaces lone surrogates and keeps pairs', () => {
    expect(cleanText('a\ud83d b😀 \ude00')).toBe('a\ufffd b😀 \ufffd');
  });

  test.each(['plain', 'tab\tnew\nline\r\n', '日本語 😀 \u2028', '[31m is no sequence', ''])(
    'keeps %j',
    (text) => {
      expect(cleanText(text)).toBe(text);
    },
  );
});

describe('one line', () => {
  test.each([
    ['a\n  b\t\tc \r\n', 200, 'a b c'],
    ['abcdef', 4, 'abc…'],
    ['abcd', 4, 'abcd'],
    ['\u001b[31mred\u001b[0m', 3, 'red'],
  ])('of %j in %i columns is %j', (text, width, line) => {
    expect(oneLine(text, width)).toBe(line);
  });

  test('is well-formed when it is cut inside a character', () => {
    expect(oneLine('ab😀cd', 4).isWellFormed()).toBe(true);
  });
});

test.each([
  [0, '0 files'],
  [1, '1 file'],
  [2, '2 files'],
])('%i counts as %j', (n, text) => {
  expect(count(n, 'file')).toBe(text);
});

test.each([
  '::error::x',
  '  ::set-env name=A::b',
  'a\n::add-mask::b',
  'a\r::stop-commands::b',
  '##[error]x',
  'a ##[command]b',
])('a runner does not obey %j', (text) => {
  const neutral = neutralizeCommands(text);
  expect(neutral).not.toMatch(/^\s*::|##\[/m);
  expect(neutral.replaceAll('\u200b', '')).toBe(text);
});

test.each(['std::string', 'a: b', '# [x]', 'C:\\x'])('%j is no command and stays', (text) => {
  expect(neutralizeCommands(text)).toBe(text);
});

test.each([
  ['no', 'no.', 'no'],
  ['No.', 'No.', 'No'],
  ['Why?', 'Why?', 'Why?'],
  ['and so on…', 'and so on…', 'and so on…'],
])('%j ends once: as a sentence %j, inside of one %j', (text, whole, inside) => {
  expect([sentence(text), withoutPeriod(text)]).toEqual([whole, inside]);
});
