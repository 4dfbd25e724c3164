import { expect, test } from '@jest/globals';
import { explainMiss } from '../../../src/tools/files/explain-miss.js';
import { within } from '../../helpers/bounds.js';
import { sized } from '../../helpers/counts.js';

const FILE = 'import x\n\nfunction add(a, b) {\n\treturn a + b;\n}\n';

test('a line that is almost there is shown with its number, and where it differs', () => {
  const told = explainMiss(FILE, 'function add(a, c) {');
  expect(told).toContain('The nearest place is line 3:\n3| function add(a, b) {');
  expect(told).toContain('Line 3 differs:');
  expect(told).toContain('old_string: "function add(a, c) {"');
  expect(told).toContain('file:       "function add(a, b) {"');
});

test('of several lines the first that differs is named, with its white space to be seen', () => {
  const told = explainMiss(FILE, 'function add(a, b) {\n    return a - b;\n}');
  expect(told).toContain('3| function add(a, b) {\n4| \treturn a + b;\n5| }');
  expect(told).toContain('Line 4 differs:');
  expect(told).toContain('old_string: "    return a - b;"');
  expect(told).toContain(String.raw`file:       "\treturn a + b;"`);
});

test('blank lines in front do not lead astray', () => {
  expect(explainMiss(FILE, '\nfunction add(a, c) {')).toContain('The nearest place is line 2:');
});

test('text that goes on past the end of the file is told so', () => {
  expect(explainMiss('last line', 'last line\nand more\n')).toContain('(end of file)');
});

test('CRLF does not count as a difference', () => {
  const told = explainMiss('one\r\ntwo\r\nthree\r\n', 'one\ntwo\nfour');
  expect(told).toContain('Line 3 differs:');
});

test.each([
  ['nothing alike', FILE, 'completely different words, in another language'],
  ['an empty file', '', 'anything'],
  ['blank lines asked for', FILE, '   \n\t\n'],
])('with %s it says that nothing resembles it', (_, text, wanted) => {
  expect(explainMiss(text, wanted)).toMatch(/^Nothing in the file resembles it/);
});

test('the nearest of several similar lines is taken, the first of equal ones', () => {
  const text = 'value = 1\nvalues = 12\nvalue = 2\nvalue = 1\n';
  expect(explainMiss(text, 'values = 13')).toContain('The nearest place is line 2:');
  expect(explainMiss(text, 'value = 3')).toContain('The nearest place is line 1:');
});

test('long lines and long texts are shown in part', () => {
  const long = `${'x'.repeat(5000)}\n`.repeat(100);
  const told = explainMiss(long, `${'x'.repeat(4999)}y\n`.repeat(100));
  expect(told.length).toBeLessThan(8000);
  expect(told.split('\n').length).toBeLessThan(20);
});

test('a large file is searched to its end', () => {
  const lines = Array.from(
    { length: sized(50_000) },
    (_, i) => `const value${i} = compute(${i * 7}, "text");`,
  );
  const near = lines.length - 1000;
  const told = explainMiss(lines.join('\n'), `const value${near} = compute(${near * 7}, "texts");`);
  expect(told).toContain(`The nearest place is line ${near + 1}:`);
});

test('lines that are long and many do not take for ever', () => {
  const lines = Array.from({ length: sized(100_000) }, (_, i) => String(i).repeat(100).slice(0, 400));
  const told = within(5000, () => explainMiss(lines.join('\n'), 'x'.repeat(400)));
  expect(told).toMatch(/^Nothing in the file resembles it/);
});

test('the place is chosen by all its lines, not by the first one', () => {
  const text = 'if (a) {\n  one();\n}\nif (a) {\n  two();\n}\nif (a) {\n  three();\n}\n';
  expect(explainMiss(text, 'if (a) {\n  tow();\n}')).toContain('The nearest place is line 4:');
});

test.each([
  ['a blank that is none', 'a\u00a0= 1;', 'a = 1;', String.raw`"a\u00a0= 1;"`],
  ['a character without a shape', 'value\u200b = 1;', 'value = 10;', String.raw`"value\u200b = 1;"`],
  ['a tab', '\tvalue = 1;', '  value = 11;', String.raw`"\tvalue = 1;"`],
])('%s can be seen', (_, inFile, wanted, shown) => {
  expect(explainMiss(inFile, wanted)).toContain(`file:       ${shown}`);
});

test('a difference far out in a long line is what is shown of it', () => {
  const told = explainMiss(
    `${'x'.repeat(2000)}yes${'z'.repeat(100)}`,
    `${'x'.repeat(2000)}no${'z'.repeat(100)}`,
  );
  expect(told).toContain('Line 1 differs (from character 1951):');
  expect(told).toMatch(/old_string: "x{50}noz+"\n {2}file: {7}"x{50}yesz+"/);
});
