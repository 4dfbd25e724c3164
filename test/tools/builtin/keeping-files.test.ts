import { chmodSync, chownSync, lstatSync, readlinkSync, statSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { replaceTool } from '../../../src/tools/builtin/replace.js';
import { writeFileTool } from '../../../src/tools/builtin/write-file.js';
import { callTool, textOf } from '../../helpers/call-tool.js';
import { useWorkspace } from '../../helpers/workspace.js';

const ws = useWorkspace();
const testAsRoot = process.getuid?.() === 0 ? test : test.skip;

/** Both tools change `old` to `new` in a file of two lines; what else it is made of must stay. */
const EDITS = {
  write_file: (file_path: string) =>
    callTool(writeFileTool(ws.path()), { file_path, content: 'first\nnew\n' }),
  replace: (file_path: string) =>
    callTool(replaceTool(ws.path()), { file_path, old_string: 'old', new_string: 'new' }),
};

describe.each(['write_file', 'replace'] as const)('%s keeps', (tool) => {
  test.each([0o600, 0o644, 0o664, 0o666, 0o755, 0o777, 0o444])('the mode of the file: %p', async (mode) => {
    chmodSync(ws.write('file', 'first\nold\n'), mode);
    textOf(await EDITS[tool]('file'));
    expect((statSync(ws.path('file')).mode & 0o7777).toString(8)).toBe(mode.toString(8));
    expect(ws.text('file')).toBe('first\nnew\n');
  });

  testAsRoot('the owner of the file, and its mode with it (only root may give files away)', async () => {
    chownSync(ws.write('file', 'first\nold\n'), 1234, 2345);
    chmodSync(ws.path('file'), 0o4755);
    textOf(await EDITS[tool]('file'));
    const { uid, gid, mode } = statSync(ws.path('file'));
    expect({ uid, gid, mode: (mode & 0o7777).toString(8) }).toEqual({ uid: 1234, gid: 2345, mode: '4755' });
  });

  test('a link a link, and changes what it leads to', async () => {
    ws.write('dir/real', 'first\nold\n');
    symlinkSync('dir/real', ws.path('link'));
    symlinkSync('link', ws.path('chain'));
    expect(textOf(await EDITS[tool]('chain'))).toContain('+++ b/dir/real');
    expect(ws.text('dir/real')).toBe('first\nnew\n');
    expect(lstatSync(ws.path('chain')).isSymbolicLink()).toBe(true);
    expect(readlinkSync(ws.path('link'))).toBe('dir/real');
  });

  const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();
  test.each([
    ['a byte order mark', (text: string) => Buffer.from(`\ufeff${text}`)],
    ['UTF-16LE', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16BE', (text: string) => utf16be(`\ufeff${text}`)],
    ['Latin-1', (text: string) => Buffer.from(text.replace('first', 'fïrst'), 'latin1')],
    ['CRLF', (text: string) => Buffer.from(text.replaceAll('\n', '\r\n'))],
    [
      'UTF-16LE with CRLF',
      (text: string) => Buffer.from(`\ufeff${text.replaceAll('\n', '\r\n')}`, 'utf16le'),
    ],
  ])('%s', async (name, encode) => {
    ws.write('file', encode('first\nold\n'));
    if (name === 'Latin-1' && tool === 'write_file') {
      const content = 'fïrst\nnew\n';
      textOf(await callTool(writeFileTool(ws.path()), { file_path: 'file', content }));
    } else {
      textOf(await EDITS[tool]('file'));
    }
    expect(ws.bytes('file').toString('hex')).toBe(encode('first\nnew\n').toString('hex'));
  });
});

describe('line ends that were mixed', () => {
  test('are as given after write_file', async () => {
    ws.write('file', 'a\r\nb\nc\n');
    const content = 'x\ny\r\nz\n';
    textOf(await callTool(writeFileTool(ws.path()), { file_path: 'file', content }));
    expect(ws.text('file')).toBe(content);
  });

  test('stay where they were after replace', async () => {
    ws.write('file', 'a\r\nold\nc\r\nd');
    textOf(await EDITS.replace('file'));
    expect(ws.text('file')).toBe('a\r\nnew\nc\r\nd');
  });
});

test('replace leaves every other byte alone, also those that are no proper text', async () => {
  const broken = Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff, 0x0a]);
  ws.write('file', Buffer.concat([broken, Buffer.from('old\n')]));
  const report = await EDITS.replace('file');
  const expected = report.ok ? 'new\n' : 'old\n';
  expect(ws.bytes('file').toString('hex')).toBe(
    Buffer.concat([broken, Buffer.from(expected)]).toString('hex'),
  );
});

test('a mark that the content brings along is not doubled', async () => {
  ws.write('file', '\ufeffold');
  textOf(await callTool(writeFileTool(ws.path()), { file_path: 'file', content: '\ufeffnew' }));
  expect(ws.text('file')).toBe('\ufeffnew');
});
