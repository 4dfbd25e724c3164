import { existsSync, mkdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { replaceTool } from '../../../src/tools/builtin/replace.js';
import { callTool, errorOf, invocationOf, textOf } from '../../helpers/call-tool.js';
import { useWorkspace } from '../../helpers/workspace.js';

const ws = useWorkspace();

interface More {
  readonly expected_replacements?: number;
  readonly allow_multiple?: boolean;
}
const call = (old_string: string, new_string: string, more: More = {}, file_path = 'file') =>
  callTool(replaceTool(ws.path()), { file_path, old_string, new_string, ...more });

describe('a place that is found', () => {
  test('is changed and shown as a diff', async () => {
    ws.write('file', 'a\nb\nc\n');
    const diff = '--- a/file\n+++ b/file\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n';
    expect(await call('b', 'x')).toEqual({
      ok: true,
      content: `Changed 1 place in file.\n${diff}`,
      change: { path: 'file', diff, lines_added: 1, lines_removed: 1 },
    });
    expect(ws.text('file')).toBe('a\nx\nc\n');
  });

  test.each([
    ['line endings', 'a\r\nb\r\n', 'a\nb', 'x\ny', 'x\r\ny\r\n'],
    ['white space', '\ta\n\tb\n', '  a\n  b', '  a\n  x', '\ta\n\tx\n'],
  ])('but for %s is changed, and the difference told', async (what, before, wanted, fresh, after) => {
    ws.write('file', before);
    expect(textOf(await call(wanted, fresh))).toContain(
      `old_string did not match exactly: its ${what} differed, the file's were kept.`,
    );
    expect(ws.text('file')).toBe(after);
  });

  test('is taken to the letter although it looks like a pattern', async () => {
    ws.write('file', 'price: $1.00 (a|b)*\n');
    textOf(await call('$1.00 (a|b)*', String.raw`$& \1 $$`));
    expect(ws.text('file')).toBe('price: $& \\1 $$\n');
  });

  test('may be the last that the file has', async () => {
    ws.write('file', 'all');
    expect(await call('all', '')).toMatchObject({ change: { lines_added: 0, lines_removed: 1 } });
    expect(ws.text('file')).toBe('');
  });
});

describe('a text that was escaped too often', () => {
  const R = String.raw;
  test.each([
    ['quotes', 'say("hi");\n', R`say(\"hi\");`, R`say(\"ho\");`, 'say("ho");\n'],
    ['single quotes', "say('hi');\n", R`say(\'hi\');`, R`say(\'ho\');`, "say('ho');\n"],
    ['line breaks', 'a\nb\nc\n', R`a\nb`, R`x\ny`, 'x\ny\nc\n'],
    ['line breaks, in a file of CRLF', 'a\r\nb\r\n', R`a\nb`, R`x\ny`, 'x\r\ny\r\n'],
    ['tabs and another indentation', '\t\ta\n\t\tb\n', R`\ta\n\tb`, R`\ta\n\tx`, '\t\ta\n\t\tx\n'],
    ['all of it', 'f("a")\ng("\\n")\n', R`f(\"a\")\ng(\"\\n\")`, R`g(\"\\t\")\n`, 'g("\\t")\n\n'],
    ['quotes alone, beside escapes that stay', 'f("\\n")\n', R`f(\"\n\")`, R`g(\"\n\")`, 'g("\\n")\n'],
    ['line breaks alone, beside quotes that stay', 'a\n"\\""\n', R`a\n"\""`, R`b\n"\""`, 'b\n"\\""\n'],
    [
      'quotes, over real lines',
      'f("a")\nf("b")\n',
      'f(\\"a\\")\nf(',
      'g(\\"\\n\\")\nf(',
      'g("\\n")\nf("b")\n',
    ],
  ])('is found where one place fits: %s', async (_, before, wanted, fresh, after) => {
    ws.write('file', before);
    expect(textOf(await call(wanted, fresh)).split('\n')[0]).toBe(
      R`Changed 1 place in file. old_string was found only without its backslash escapes (such as \" or \n), so both strings were unescaped; check the diff, and give text as it is.`,
    );
    expect(ws.text('file')).toBe(after);
  });

  test.each([
    ['several places', 'a"\na"\n', R`a\"`, { allow_multiple: true }],
    ['two ways to take it', 'f("\n")\nf("\\n")\n', R`f(\"\n\")`, {}],
    ['nothing but white space', 'a\nb', R`\n`, {}],
    ['no place', 'a', R`b\"`, {}],
  ])('is not guessed: %s', async (_, before, wanted, more) => {
    ws.write('file', before);
    expect(errorOf(await call(wanted, 'x', more)).type).toBe('edit_no_occurrence_found');
    expect(ws.text('file')).toBe(before);
  });

  test('counts to the letter first', async () => {
    ws.write('file', 'a\\"\na"\n');
    expect(textOf(await call(R`a\"`, R`b\"`)).split('\n')[0]).toBe('Changed 1 place in file.');
    expect(ws.text('file')).toBe('b\\"\na"\n');
  });
});

describe('several places', () => {
  test('are an error that says where they are', async () => {
    ws.write('file', 'x\ny\nx\n\nx');
    expect(errorOf(await call('x', 'z'))).toEqual({
      type: 'edit_expected_occurrence_mismatch',
      message: expect.stringContaining('found 3 times in file, 1 expected: at line 1, 3, 5.'),
    });
    expect(ws.text('file')).toBe('x\ny\nx\n\nx');
  });

  test.each([
    ['as many as expected', { expected_replacements: 3 }],
    ['any number', { allow_multiple: true }],
    ['as many as expected, and any number', { allow_multiple: true, expected_replacements: 3 }],
  ])('are all changed when the call wants %s', async (_, more) => {
    ws.write('file', 'x\ny\nx\nx\n');
    expect(textOf(await call('x', 'zz', more))).toContain('Changed 3 places in file.');
    expect(ws.text('file')).toBe('zz\ny\nzz\nzz\n');
  });

  test.each([
    ['fewer', { expected_replacements: 2 }],
    ['more', { expected_replacements: 4 }],
    ['more, and any number', { expected_replacements: 4, allow_multiple: true }],
  ])('are an error when the call expects %s', async (_, more) => {
    ws.write('file', 'x x x');
    expect(errorOf(await call('x', 'z', more)).type).toBe('edit_expected_occurrence_mismatch');
    expect(ws.text('file')).toBe('x x x');
  });

  test('that are more than anybody means are not changed, not even for «any number»', async () => {
    ws.write('file', 'x'.repeat(100_001));
    expect(errorOf(await call('x', 'z', { allow_multiple: true })).message).toContain(
      'found more than 100000 times',
    );
  });

  test('that would make the file too large are not changed', async () => {
    ws.write('file', 'x\n'.repeat(10_000));
    const fresh = 'y'.repeat(10_000);
    for (const [wanted, more] of [
      ['x', { allow_multiple: true }],
      ['  x', { expected_replacements: 10_000 }],
    ] as const) {
      expect(errorOf(await call(wanted, fresh, more)).type).toBe('file_too_large');
    }
    expect(ws.text('file')).toBe('x\n'.repeat(10_000));
  });

  test('that differ in white space are not all changed for «any number»', async () => {
    ws.write('file', '\tx\n\t\tx\n');
    expect(errorOf(await call('  x', '  z', { allow_multiple: true })).message).toContain(
      'found 2 times (but for white space)',
    );
  });
});

describe('no place', () => {
  test('is an error that shows the nearest one', async () => {
    ws.write('file', 'one\nfunction add(a, b) {\n');
    expect(errorOf(await call('function add(a, c) {', 'x'))).toEqual({
      type: 'edit_no_occurrence_found',
      message: expect.stringMatching(/^old_string was not found in file\. The nearest place is line 2:/),
    });
  });

  test('is an error with «any number» too', async () => {
    ws.write('file', 'one\n');
    expect(errorOf(await call('two', 'x', { allow_multiple: true })).type).toBe('edit_no_occurrence_found');
  });
});

describe('no change', () => {
  test.each([
    ['the same text', 'a', 'a'],
    ['the same but for line ends that the file keeps', 'a\nb', 'a\r\nb'],
  ])('is an error: %s', async (_, wanted, fresh) => {
    ws.write('file', 'a\nb\n');
    expect(errorOf(await call(wanted, fresh)).type).toBe('edit_no_change');
  });
});

describe('an empty old_string', () => {
  test('creates a file with its folders', async () => {
    expect(textOf(await call('', 'x\n', {}, 'a/new'))).toMatch(/^Created a\/new\.\n--- \/dev\/null\n/);
    expect(ws.text('a/new')).toBe('x\n');
  });

  test('never overwrites one', async () => {
    ws.write('file', 'precious');
    expect(errorOf(await call('', 'x')).type).toBe('attempt_to_create_existing_file');
    expect(ws.text('file')).toBe('precious');
  });
});

describe('what cannot be edited is told', () => {
  test('a file that is not there', async () => {
    expect(errorOf(await call('a', 'b')).type).toBe('file_not_found');
    expect(existsSync(ws.path('file'))).toBe(false);
  });

  test('a path below a file', async () => {
    ws.write('file', 'a');
    expect(errorOf(await call('a', 'b', {}, 'file/below')).type).toBe('file_not_found');
  });

  test('a directory', async () => {
    mkdirSync(ws.path('file'));
    expect(errorOf(await call('a', 'b')).type).toBe('target_is_directory');
    expect(errorOf(await call('', 'b')).type).toBe('target_is_directory');
  });

  test('binary data', async () => {
    ws.write('file', Buffer.from('a\0b'));
    expect(errorOf(await call('a', 'b')).type).toBe('edit_preparation_failure');
  });

  test('characters that the encoding of the file does not have', async () => {
    ws.write('file', Buffer.from('grüße\n', 'latin1'));
    expect(errorOf(await call('grüße', '5 €'))).toMatchObject({
      type: 'file_write_failure',
      message: expect.stringContaining('latin1'),
    });
    expect(ws.bytes('file').toString('latin1')).toBe('grüße\n');
  });
});

test('before it is allowed the call shows what it would change, and changes nothing', async () => {
  ws.write('file', 'a\n');
  const params = { file_path: 'file', old_string: 'a', new_string: 'b' };
  const invocation = await invocationOf(replaceTool(ws.path()), params);
  expect(await invocation.confirmation()).toMatchObject({
    type: 'edit',
    file_path: 'file',
    old_content: 'a\n',
    new_content: 'b\n',
  });
  expect(invocation.paths).toMatchObject([{ path: 'file', access: 'write' }]);
  expect(ws.text('file')).toBe('a\n');
});
