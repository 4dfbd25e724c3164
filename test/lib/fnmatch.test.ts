import { expect, test } from '@jest/globals';
import { fnmatch } from '../../src/lib/fnmatch.js';

test.each([
  ['*.js', 'a.js', true],
  ['*.js', '.js', true],
  ['*.js', 'src/a.js', true],
  ['*.js', 'a.jsx', false],
  ['.e*', '.env', true],
  ['?env', '.env', true],
  ['.env', 'xenv', false],
  ['a\\*b', 'a*b', true],
  ['a\\*b', 'axb', false],
  ['a.b|c(d)+', 'a.b|c(d)+', true],
  ['*', 'a\nb', true],
])('%s fits %s: %s', (pattern, name, expected) => {
  expect(fnmatch(pattern)?.(name)).toBe(expected);
});

test('what depends on the locale, or could take long, is left open', () => {
  expect(fnmatch('[a-z]*')).toBeUndefined();
  expect(fnmatch('*a*a*a*a*a*')).toBeUndefined();
});

test('capitals count unless they do not', () => {
  expect(fnmatch('*.JS')?.('a.js')).toBe(false);
  expect(fnmatch('*.JS', { ignoreCase: true })?.('a.js')).toBe(true);
});
