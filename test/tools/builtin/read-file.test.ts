import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { readFileTool } from '../../../src/tools/builtin/read-file.js';
import { callTool, errorOf, invocationOf, textOf } from '../../helpers/call-tool.js';
import { freeReaderLater } from '../../helpers/processes.js';
import { useWorkspace } from '../../helpers/workspace.js';

const ws = useWorkspace();
const read = (params: object) => callTool(readFileTool(ws.path()), params);
const readText = async (params: object) => textOf(await read(params));

describe('text', () => {
  test.each([
    ['UTF-8', 'grüße 😀\n', 'grüße 😀\n'],
    ['UTF-8 with a mark', '\ufeffabc\n', 'abc\n'],
    ['UTF-16LE', Buffer.from('\ufeffgrüße\n', 'utf16le'), 'grüße\n'],
    ['UTF-16BE', Buffer.from('\ufeffgrüße\n', 'utf16le').swap16(), 'grüße\n'],
    ['Latin-1', Buffer.from('grüße\n', 'latin1'), 'grüße\n'],
    ['CRLF', 'a\r\nb\r\n', 'a\r\nb\r\n'],
    ['no newline at its end', 'a', 'a'],
    ['nothing in it', '', '[The file is empty.]'],
  ])('is read: %s', async (_, content, text) => {
    ws.write('file', content);
    expect(await readText({ file_path: 'file' })).toBe(text);
  });

  test('is found by an absolute path and through a link', async () => {
    ws.write('dir/file', 'x\n');
    symlinkSync('dir/file', ws.path('link'));
    expect(await readText({ file_path: ws.path('dir/file') })).toBe('x\n');
    expect(await readText({ file_path: 'link' })).toBe('x\n');
    expect(await readText({ file_path: './dir/../dir/file' })).toBe('x\n');
  });

  test.each([
    [{ offset: 1, limit: 2 }, '[Lines 2 to 3 of 5. To read on: offset 3.]\n2\n3'],
    [{ offset: 3 }, '[Lines 4 to 5 of 5.]\n4\n5\n'],
    [{ limit: 1 }, '[Lines 1 to 1 of 5. To read on: offset 1.]\n1'],
    [{ start_line: 2, end_line: 3 }, '[Lines 2 to 3 of 5. To read on: offset 3.]\n2\n3'],
    [{ start_line: 5 }, '[Lines 5 to 5 of 5.]\n5\n'],
    [{ end_line: 1 }, '[Lines 1 to 1 of 5. To read on: offset 1.]\n1'],
    [{ start_line: 4, end_line: 99 }, '[Lines 4 to 5 of 5.]\n4\n5\n'],
  ])('is paged by %j', async (range, text) => {
    ws.write('file', '1\n2\n3\n4\n5\n');
    expect(await readText({ file_path: 'file', ...range })).toBe(text);
  });

  test('past its end is an error that tells how long it is', async () => {
    ws.write('file', '1\n2\n');
    const error = errorOf(await read({ file_path: 'file', offset: 2 }));
    expect(error).toEqual({
      type: 'invalid_tool_params',
      message: 'file has 2 lines; line 3 is past its end.',
    });
  });
});

describe('parameters', () => {
  test.each([
    [{}, '`file_path` is missing'],
    [{ file_path: '' }, '`file_path`'],
    [{ file_path: 'f', offset: -1 }, '`offset`'],
    [{ file_path: 'f', limit: 0 }, '`limit`'],
    [{ file_path: 'f', offset: 0, start_line: 1 }, 'not both'],
    [{ file_path: 'f', start_line: 5, end_line: 4 }, '`end_line` is before `start_line`'],
    [{ filepath: 'f' }, 'did you mean `file_path`?'],
  ])('%j are refused by name', async (params, fault) => {
    const error = errorOf(await read(params));
    expect(error.type).toBe('invalid_tool_params');
    expect(error.message).toContain(fault);
  });

  test('name the path that is read', async () => {
    const { paths } = await invocationOf(readFileTool(ws.path()), { file_path: 'a/b' });
    expect(paths).toMatchObject([{ path: 'a/b', access: 'read' }]);
  });
});

describe('media', () => {
  const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

  test('are handed on as they are, whatever the file is called', async () => {
    ws.write('notes.txt', PNG);
    expect(await read({ file_path: 'notes.txt' })).toEqual({
      ok: true,
      content: [
        { inlineData: { mimeType: 'image/png', data: PNG.toString('base64') }, mediaName: 'notes.txt' },
      ],
    });
  });

  test('are not what a text begins like', async () => {
    ws.write('README', 'ID3 tags, and how to read them\n');
    expect(await readText({ file_path: 'README' })).toBe('ID3 tags, and how to read them\n');
  });
});

describe('what cannot be read is told', () => {
  test('a file that is not there, with one that is almost called so', async () => {
    ws.write('src/index.ts', '');
    expect(errorOf(await read({ file_path: 'src/indx.ts' }))).toEqual({
      type: 'file_not_found',
      message: 'src/indx.ts does not exist. Did you mean src/index.ts?',
    });
    expect(errorOf(await read({ file_path: 'no/where' })).message).toBe('no/where does not exist.');
  });

  test('a path below a file', async () => {
    ws.write('file', '');
    expect(errorOf(await read({ file_path: 'file/below' })).type).toBe('file_not_found');
  });

  test('a directory', async () => {
    mkdirSync(ws.path('dir'));
    const error = errorOf(await read({ file_path: 'dir' }));
    expect(error).toMatchObject({
      type: 'target_is_directory',
      message: expect.stringContaining('list_directory'),
    });
  });

  test('binary data, with its size', async () => {
    ws.write('data', Buffer.from([1, 2, 0, 3]));
    const error = errorOf(await read({ file_path: 'data' }));
    expect(error).toMatchObject({
      type: 'read_content_failure',
      message: expect.stringContaining('4 bytes'),
    });
  });

  test('more than 20 MiB', async () => {
    ws.write('large', '');
    truncateSync(ws.path('large'), 20 * 1024 * 1024 + 1);
    expect(errorOf(await read({ file_path: 'large' })).type).toBe('file_too_large');
  });

  test('a FIFO, without waiting for a writer', async () => {
    execFileSync('mkfifo', [ws.path('fifo')]);
    const rescue = freeReaderLater(ws.path('fifo'), 20);
    const error = errorOf(await read({ file_path: 'fifo' }));
    expect(rescue.exitCode).toBeNull();
    rescue.kill();
    expect(error).toEqual({ type: 'read_content_failure', message: 'fifo is not a regular file.' });
  });
});
