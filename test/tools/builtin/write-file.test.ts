import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { writeFileTool } from '../../../src/tools/builtin/write-file.js';
import { callTool, errorOf, invocationOf, textOf } from '../../helpers/call-tool.js';
import { useWorkspace } from '../../helpers/workspace.js';

const ws = useWorkspace();
const call = (file_path: string, content: string) =>
  callTool(writeFileTool(ws.path()), { file_path, content });

describe('a new file', () => {
  test('is created with its folders, and shown as a diff', async () => {
    const report = await call('a/b/new.txt', 'one\ntwo\n');
    expect(ws.text('a/b/new.txt')).toBe('one\ntwo\n');
    const diff = '--- /dev/null\n+++ b/a/b/new.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n';
    expect(report).toEqual({
      ok: true,
      content: `Created a/b/new.txt.\n${diff}`,
      change: { path: 'a/b/new.txt', diff, lines_added: 2, lines_removed: 0 },
    });
  });

  test('has the mode that new files have, and nothing lies beside it', async () => {
    textOf(await call('new', 'x'));
    expect(statSync(ws.path('new')).mode & 0o777).toBe(0o666 & ~process.umask());
    expect(readdirSync(ws.path())).toEqual(['new']);
  });

  test.each([
    ['nothing', ''],
    ['every kind of line end', 'a\nb\r\nc\rd'],
    ['characters of every plane', 'ä€😀\u2028'],
  ])('has what was given, to the byte: %s', async (_, content) => {
    textOf(await call('new', content));
    expect(ws.bytes('new').equals(Buffer.from(content))).toBe(true);
  });

  test.each([
    [String.raw`a\nb\n`, 'no line break, but 2 times a literal \\n'],
    [String.raw`print(\"a\")\nprint(\"b\")\n`, 'no line break, but 2 times a literal \\n'],
    [`print(\\"a\\")\nend\n`, 'no double quote without a backslash, but 2 times \\"'],
  ])('that looks escaped is written as given, and the look is told: %j', async (content, look) => {
    const [first] = textOf(await call('new', content)).split('\n');
    expect(first).toBe(
      `Created new. Note that the content has ${look}: if it was escaped by mistake, write it again as it should be in the file.`,
    );
    expect(ws.text('new')).toBe(content);
    expect(textOf(await call('new', `${content} `)).split('\n')[0]).toContain(`Wrote new. Note that`);
  });

  test.each([
    ['one escape', String.raw`a\nb`],
    ['JSON', String.raw`{"a":"b\nc\nd","e":"\"f\""}`],
    ['a JSON text', String.raw`"b\nc\nd"`],
    ['code with line breaks', "print('a\\n')\nprint('b\\n')\n"],
    ['code on one line, quotes and all', String.raw`printf "a\nb\n"`],
    ['quotes of both kinds', 'a = "\\"x\\""\n'],
  ])('has no note where escapes have their place: %s', async (_, content) => {
    expect(textOf(await call('new', content)).split('\n')[0]).toBe('Created new.');
  });

  test('is created where a dangling link points', async () => {
    symlinkSync('target/file', ws.path('link'));
    expect(textOf(await call('link', 'x'))).toContain('Created target/file.');
    expect(ws.text('target/file')).toBe('x');
  });
});

describe('an existing file', () => {
  test('is replaced, and shown as a diff', async () => {
    ws.write('file', 'a\nb\nc\n');
    const report = await call('file', 'a\nx\nc\n');
    expect(textOf(report)).toBe('Wrote file.\n--- a/file\n+++ b/file\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n');
    expect(report).toMatchObject({ change: { path: 'file', lines_added: 1, lines_removed: 1 } });
    expect(ws.text('file')).toBe('a\nx\nc\n');
    expect(readdirSync(ws.path())).toEqual(['file']);
  });

  test('is emptied', async () => {
    ws.write('file', 'a\n');
    expect(await call('file', '')).toMatchObject({ change: { lines_added: 0, lines_removed: 1 } });
    expect(ws.text('file')).toBe('');
  });

  test.each([
    ['as it is', 'a\nb\n', 'a\nb\n'],
    ['empty', '', ''],
    ['but for the line ends that it keeps', 'a\r\nb\r\n', 'a\nb\n'],
    ['but for the mark that it keeps', '\ufeffabc', 'abc'],
    ['with its mark', '\ufeffabc', '\ufeffabc'],
  ])('is not touched when it has this content already: %s', async (_, before, content) => {
    ws.write('file', before);
    utimesSync(ws.path('file'), 1, 1);
    const inode = statSync(ws.path('file')).ino;
    const report = await call('file', content);
    expect(textOf(report)).toBe('file is unchanged: it already has this content.');
    expect(report).not.toHaveProperty('change');
    expect(statSync(ws.path('file'))).toMatchObject({ ino: inode, mtimeMs: 1000 });
  });

  test('that was binary becomes text', async () => {
    ws.write('file', Buffer.from([0, 1, 2]));
    textOf(await call('file', 'text\n'));
    expect(ws.text('file')).toBe('text\n');
  });

  test('in Latin-1 stays so while its characters fit, and becomes UTF-8 when they do not', async () => {
    ws.write('file', Buffer.from('grüße\n', 'latin1'));
    textOf(await call('file', 'größe\n'));
    expect(ws.bytes('file').toString('latin1')).toBe('größe\n');
    textOf(await call('file', '5 €\n'));
    expect(ws.text('file')).toBe('5 €\n');
  });
});

describe('what cannot be written is told, and nothing is left behind', () => {
  test.each([
    ['a directory', 'dir', /^target_is_directory$/],
    ['a FIFO', 'fifo', /^(read_content|file_write)_failure$/],
    ['a path below a file', 'file/below', /^(file_not_found|file_write_failure)$/],
  ])('%s', async (_, path, type) => {
    mkdirSync(ws.path('dir'));
    execFileSync('mkfifo', [ws.path('fifo')]);
    ws.write('file', 'x');
    const before = readdirSync(ws.path());
    const error = errorOf(await call(path, 'new'));
    expect(error.type).toMatch(type);
    expect(error.message).toContain(path);
    expect(readdirSync(ws.path())).toEqual(before);
    expect(ws.text('file')).toBe('x');
  });
});

describe('before it is allowed', () => {
  test('the call shows what it would change, and changes nothing', async () => {
    ws.write('file', 'a\r\n');
    const invocation = await invocationOf(writeFileTool(ws.path()), { file_path: 'file', content: 'b\n' });
    expect(await invocation.confirmation()).toEqual({
      type: 'edit',
      file_path: 'file',
      old_content: 'a\r\n',
      new_content: 'b\r\n',
      diff: '--- a/file\n+++ b/file\n@@ -1 +1 @@\n-a\r\n+b\r\n',
    });
    expect(invocation.paths).toMatchObject([{ path: 'file', access: 'write' }]);
    expect(ws.text('file')).toBe('a\r\n');
  });

  test.each([
    [{ file_path: 'f' }, '`content` is missing'],
    [{ content: 'x' }, '`file_path` is missing'],
    [{ file_path: 'f', content: 3 }, '`content` must be a string'],
    [{ file_path: 'f', content: '', mode: 'a' }, '`mode` is not known'],
  ])('the parameters %j are refused by name', async (params, fault) => {
    expect(errorOf(await callTool(writeFileTool(ws.path()), params)).message).toContain(fault);
  });
});
