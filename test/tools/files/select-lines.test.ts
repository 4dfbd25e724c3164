import { expect, test } from '@jest/globals';
import { selectLines } from '../../../src/tools/files/select-lines.js';

const FIVE = '1\n2\n3\n4\n5\n';

test.each([
  ['all of a short text', FIVE, 0, undefined, FIVE],
  ['all of a text without a last newline', '1\n2', 0, undefined, '1\n2'],
  ['a page in the middle', FIVE, 1, 2, '[Lines 2 to 3 of 5. To read on: offset 3.]\n2\n3'],
  ['the last page', FIVE, 3, 10, '[Lines 4 to 5 of 5.]\n4\n5\n'],
  ['a blank last line as a line', '1\n\n', 1, undefined, '[Lines 2 to 2 of 2.]\n\n'],
  ['an empty text', '', 0, undefined, '[The file is empty.]'],
  ['CRLF as it is', '1\r\n2\r\n', 0, undefined, '1\r\n2\r\n'],
])('shows %s', (_, text, first, count, shown) => {
  expect(selectLines(text, { first, count })).toEqual({ type: 'lines', text: shown });
});

test('reading on from each page to the next gives the whole text', () => {
  const text = Array.from({ length: 5555 }, (_, i) => `line ${i}`).join('\n');
  const lines: string[] = [];
  for (let first: number | undefined = 0; first !== undefined;) {
    const page = selectLines(text, { first, count: undefined });
    if (page.type !== 'lines') throw new Error('past the end');
    const [note = '', ...body] = page.text.split('\n');
    expect(note).toMatch(/^\[Lines \d+ to \d+ of 5555\./);
    lines.push(...body);
    const next = /offset (\d+)/.exec(note)?.[1];
    first = next === undefined ? undefined : Number(next);
  }
  expect(lines.join('\n')).toBe(text);
});

test('never shows more than 2,000 lines, whatever is asked', () => {
  const page = selectLines('x\n'.repeat(5000), { first: 0, count: 4000 });
  expect(page).toMatchObject({
    text: expect.stringContaining('Lines 1 to 2000 of 5000. To read on: offset 2000.'),
  });
});

test.each([5, 6, 100])('says that line %i is past the end', (first) => {
  expect(selectLines(FIVE, { first, count: undefined })).toEqual({ type: 'past_end', total: 5 });
});

test('cuts long lines and says so', () => {
  const page = selectLines(`short\n${'x'.repeat(2500)}\n`, { first: 0, count: undefined });
  expect(page).toEqual({
    type: 'lines',
    text: `[Lines longer than 2000 characters are cut (1).]\nshort\n${'x'.repeat(2000)}… [500 more characters]\n`,
  });
});

test('cuts no character in half', () => {
  const page = selectLines(`${'x'.repeat(1999)}😀${'y'.repeat(100)}`, { first: 0, count: undefined });
  if (page.type !== 'lines') throw new Error('past the end');
  expect(page.text).not.toContain('\ufffd');
  expect(page.text.isWellFormed()).toBe(true);
});
