import { expect, test } from '@jest/globals';
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
