import { describe, expect, test } from '@jest/globals';
import { applyMatches, findText } from '../../../src/tools/files/find-text.js';
import { within } from '../../helpers/bounds.js';

/** What a text becomes, how many places changed, and how they were found. */
function edit(text: string, wanted: string, replacement: string) {
  const { matches, tolerance } = findText(text, wanted, replacement);
  return { text: applyMatches(text, matches), places: matches.length, tolerance };
}

describe('to the letter', () => {
  test.each([
    ['one place', 'a b c', 'b', 'x', 'a x c', 1],
    ['several places', 'b a b', 'b', 'x', 'x a x', 2],
    ['the whole text', 'abc', 'abc', '', '', 1],
    ['places side by side', 'aaaa', 'aa', 'b', 'bb', 2],
    ['places that would overlap', 'aaa', 'aa', 'b', 'ba', 1],
    ['no place', 'abc', 'x', 'y', 'abc', 0],
    ['characters that mean something to regular expressions', 'a.*(b)', '.*(b)', '$&$1', 'a$&$1', 1],
    ['part of a line, with white space that matters', 'x  = 1', '  =', ' =', 'x = 1', 1],
  ])('changes %s', (_, text, wanted, replacement, after, places) => {
    expect(edit(text, wanted, replacement)).toEqual({ text: after, places, tolerance: undefined });
  });
});

describe('but for line endings', () => {
  test.each([
    ['LF asked, CRLF in the file', 'a\r\nb\r\nc\r\n', 'a\nb', 'x\ny\nz', 'x\r\ny\r\nz\r\nc\r\n'],
    ['CRLF asked, LF in the file', 'a\nb\nc\n', 'a\r\nb', 'x\r\ny', 'x\ny\nc\n'],
    ['an ending at the end', 'a\r\nb\r\n', 'a\n', 'x\n', 'x\r\nb\r\n'],
    ['an ending at the start', 'a\r\nb\r\n', '\nb', '\nx', 'a\r\nx\r\n'],
    ['endings at both ends', 'a\r\nb\r\nc', '\nb\n', '\nx\ny\n', 'a\r\nx\r\ny\r\nc'],
    ['an ending and nothing else', 'a\r\nb', '\n', '\n\n', 'a\r\n\r\nb'],
    ['a line taken out', 'a\r\nb\r\nc\r\n', 'b\n', '', 'a\r\nc\r\n'],
    ['lines joined', 'a\r\nb\r\nc\r\n', 'a\nb', 'ab', 'ab\r\nc\r\n'],
  ])('the file keeps its own: %s', (_, text, wanted, replacement, after) => {
    expect(edit(text, wanted, replacement)).toMatchObject({ text: after, places: 1 });
  });

  test('every place is found, in a long text too', () => {
    const text = 'x\r\ny\r\n'.repeat(500);
    expect(edit(text, 'x\ny\n', 'z\n')).toEqual({
      text: 'z\r\n'.repeat(500),
      places: 500,
      tolerance: 'line endings',
    });
  });

  test('new lines get the ending that all lines have, also where one word was replaced', () => {
    expect(edit('a\r\nb\r\n', 'b', 'x\ny').text).toBe('a\r\nx\r\ny\r\n');
    expect(edit('a\nb\n', 'b', 'x\r\ny').text).toBe('a\nx\ny\n');
  });

  test('nothing outside the place changes where endings are mixed', () => {
    expect(edit('a\r\nb\nc\r\nd\n', 'b\nc', 'x\ny').text).toBe('a\r\nx\ny\r\nd\n');
    expect(edit('a\nb\r\nc\n', 'b\n', 'x\n')).toMatchObject({ places: 1 });
    expect(edit('a\r\nb\nc\n', '\nb', '\nx').text).toBe('a\r\nx\nc\n');
    expect(edit('a\r\nb\nc\n', '\nb', '').text).toBe('a\nc\n');
  });
});

describe('but for white space', () => {
  const TABS = 'if (a) {\n\tone();\n\tif (b) {\n\t\ttwo();\n\t}\n}\n';

  test('the file keeps its indentation when it is deeper than asked for', () => {
    const text = 'class A {\n    run() {\n        go();\n    }\n}\n';
    expect(edit(text, 'run() {\n    go();\n}', 'run() {\n    stop();\n}')).toEqual({
      text: 'class A {\n    run() {\n        stop();\n    }\n}\n',
      places: 1,
      tolerance: 'white space',
    });
  });

  test('the file keeps its tabs', () => {
    const wanted = '    if (b) {\n        two();\n    }';
    const fresh = '    if (b) {\n        three();\n        two();\n    }';
    expect(edit(TABS, wanted, fresh).text).toBe(TABS.replace('\t\ttwo();', '\t\tthree();\n\t\ttwo();'));
  });

  test('the file keeps its trailing blanks where a line stays', () => {
    expect(edit('a  \nb\t\nc\n', 'a\nb', 'a\nx').text).toBe('a  \nx\nc\n');
  });

  test('the file keeps its line endings', () => {
    expect(edit('  a\r\n  b\r\n  c\r\n', 'a\nb\n', 'a\nx\n').text).toBe('  a\r\n  x\r\n  c\r\n');
  });

  test('lines that look alike keep each its own indentation', () => {
    const text = 'if a:\n    go()\n    if b:\n        go()\n';
    const edited = edit(text, 'if a:\ngo()\nif b:\ngo()', 'if a:\ngo()\nif c:\ngo()');
    expect(edited.text).toBe('if a:\n    go()\n    if c:\n        go()\n');
  });

  test('a line is taken out with its ending', () => {
    expect(edit('a\n\tb\nc\n', '  b\n', '').text).toBe('a\nc\n');
  });

  test('blank lines at the end of the new text are kept', () => {
    expect(edit('a\n\tb\nc\n', '  b\n', '  b\n\n').text).toBe('a\n\tb\n\nc\n');
  });

  test('blank lines at the start of the new text are kept', () => {
    expect(edit('a\n\tb\nc\n', '  b\n', '\n  b\n').text).toBe('a\n\n\tb\nc\n');
  });

  test('a text without a last newline stays without one', () => {
    expect(edit('a\n\tb', '  b\n', '  x\n').text).toBe('a\n\tx');
  });

  test.each([
    ['part of a line', '\tone two three\n', '  two'],
    ['lines with another between them', 'a\nb\nc\n', ' a\n c'],
    ['blank lines alone', 'a\n\n\nb\n', ' \n\t\n '],
    ['other words', '\tone();\n', '  two();'],
    ['more lines than there are', '\ta\n', '  a\n  b'],
  ])('never matches %s', (_, text, wanted) => {
    expect(edit(text, wanted, 'x')).toEqual({ text, places: 0, tolerance: undefined });
  });

  test('every place is found and gets its own indentation', () => {
    expect(edit('\ta\n\t\ta\n', '  a', '  b')).toEqual({
      text: '\tb\n\t\tb\n',
      places: 2,
      tolerance: 'white space',
    });
  });
});

describe('whatever the text is made of, the search does not take for ever', () => {
  const LINES = 100_000;
  test.each([
    ['many lines alike, the wanted ones end otherwise', `${'}\n'.repeat(LINES / 2)}x`],
    [
      'many lines alike, one of the wanted differs',
      `${'}\n'.repeat(LINES / 4)}x\n${'}\n'.repeat(LINES / 4)}`,
    ],
    ['the same with other white space', `${' }\n'.repeat(LINES / 4)}x\n${' }\n'.repeat(LINES / 4)}`],
  ])('%s', (_, wanted) => {
    expect(within(3000, () => findText('}\n'.repeat(LINES), wanted, '')).matches).toEqual([]);
  });
});
