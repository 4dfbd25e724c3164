import { describe, expect, test } from '@jest/globals';
import { Redactor } from '../../../src/lib/redact/redactor.js';

const VALUE = 'wJalrXU/K7MD+bPx!Rfi CYKEY';
const { text } = new Redactor({ secrets: () => [{ name: 'S', text: VALUE }] });

test.each([
  ['as a part of an address', encodeURIComponent(VALUE)],
  ['as a whole address', encodeURI(VALUE)],
  ['as a path', 'wJalrXU/K7MD%2BbPx%21Rfi%20CYKEY'],
  ['as a path, in lower case', 'wJalrXU/K7MD%2bbPx%21Rfi%20CYKEY'],
  ['as a form', 'wJalrXU%2FK7MD%2BbPx%21Rfi+CYKEY'],
])('a value is found %s', (_how, spelt) => {
  expect(text(`x=${spelt};`)).toBe('x=[redacted:S];');
});

describe('a value is found in the escapes of strings', () => {
  const hex = (character: string) => (character.codePointAt(0) as number).toString(16);
  const four = (character: string) => `\\u${hex(character).padStart(4, '0')}`;
  const every = (escape: (character: string) => string) => [...VALUE].map(escape).join('');
  const cases: [string, string][] = [
    ['all of it', every(four)],
    ['in upper case', every((one) => four(one).toUpperCase().replace('U', 'u'))],
    ['every other character', [...VALUE].map((one, i) => (i % 2 === 0 ? four(one) : one)).join('')],
    ['one character', VALUE.replace('+', '\\u002B')],
    ['the first and the last', `${four('w')}${VALUE.slice(1, -1)}${four('Y')}`],
    ['in a string in a string', every(four).replaceAll('\\', '\\\\')],
    ['with braces', every((one) => `\\u{${hex(one)}}`)],
    ['of two digits', every((one) => `\\x${hex(one)}`)],
    ['broken into lines', every(four).replaceAll(/.{60}/g, '$&\n')],
    ['broken into lines that are escaped, too', every(four).replaceAll(/(?:.{6}){5}/g, '$&\\n')],
    ['in base64', Buffer.from(`abc${VALUE}`).toString('base64').replaceAll('/', '\\u002F').slice(4)],
  ];
  test.each(cases)('%s', (_how, spelt) => {
    expect(text(`<${spelt}>`)).toMatch(/^<.{0,4}\[redacted:S\].{0,4}>$/);
  });

  test('also if it has more than ASCII in it', () => {
    const redactor = new Redactor({
      secrets: () => [{ name: 'S', text: 'geheim-\u00e9\u20ac\u{1f600}-wort' }],
    });
    expect(redactor.text('"geheim-\\u00e9\\u20AC\\ud83d\\ude00-wort"')).toBe('"[redacted:S]"');
  });

  test.each(['C:\\users\\xavier', '\\u12', '\\u{}', '\\u{110000}', '\\xzz', 'caf\\u00e9', '\\'])(
    '%s stays as it is',
    (other) => expect(text(`say ${other}`)).toBe(`say ${other}`),
  );
});
