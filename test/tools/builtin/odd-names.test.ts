import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { readFileTool } from '../../../src/tools/builtin/read-file.js';
import { replaceTool } from '../../../src/tools/builtin/replace.js';
import { writeFileTool } from '../../../src/tools/builtin/write-file.js';
import { callTool, errorOf, invocationOf, textOf } from '../../helpers/call-tool.js';
import { useWorkspace } from '../../helpers/workspace.js';

const ws = useWorkspace();
const tools = () => ({
  read: readFileTool(ws.path()),
  write: writeFileTool(ws.path()),
  replace: replaceTool(ws.path()),
});
const CONTEXT = {
  signal: new AbortController().signal,
  callId: 'c',
  onOutput: () => {},
  openOutput: () => {
    throw new Error('not needed');
  },
};

describe('a file is written, edited and read whatever it is called', () => {
  test.each([
    ' blanks in front and behind ',
    'line\nbreak',
    'tab\tand "quotes" and \\backslash',
    'grüße 😀 e\u0301',
    '-rf',
    '$(touch owned)',
    '*?[a]',
    '#!~%',
    '...',
    'x'.repeat(255),
    '😀'.repeat(63),
    'a/ b /c\n/d',
  ])('%j', async (file_path) => {
    const { read, write, replace } = tools();
    const written = await callTool(write, { file_path, content: 'one\n' });
    expect(written).toMatchObject({ ok: true, change: { path: file_path, lines_added: 1 } });
    textOf(await callTool(replace, { file_path, old_string: 'one', new_string: 'two' }));
    expect(textOf(await callTool(read, { file_path }))).toBe('two\n');
    expect(ws.text(file_path)).toBe('two\n');
    expect(readdirSync(ws.path())).toEqual([file_path.split('/')[0]]);
  });

  test.each([
    ['a name that is too long', 'x'.repeat(256)],
    ['a path that is too long', `${'x'.repeat(200)}/`.repeat(30)],
  ])('%s is an error, not an accident', async (_, file_path) => {
    const { read, write, replace } = tools();
    for (const report of [
      await callTool(write, { file_path, content: 'x' }),
      await callTool(replace, { file_path, old_string: '', new_string: 'x' }),
      await callTool(read, { file_path }),
    ]) {
      expect(errorOf(report).message).toContain('ENAMETOOLONG');
    }
    expect(readdirSync(ws.path())).toEqual([]);
  });

  test('but not with a NUL', async () => {
    expect(errorOf(await callTool(tools().read, { file_path: 'a\0b' })).type).toBe('invalid_tool_params');
  });
});

describe('a file that vanishes between the decision and the call', () => {
  test.each([
    ['is not read', 'read', {}, 'file_not_found'],
    ['is not edited', 'replace', { old_string: 'a', new_string: 'b' }, 'file_not_found'],
  ] as const)('%s', async (_, name, params, type) => {
    ws.write('dir/file', 'a');
    const invocation = await invocationOf(tools()[name], { file_path: 'dir/file', ...params });
    rmSync(ws.path('dir'), { recursive: true });
    expect(errorOf(await invocation.execute(CONTEXT)).type).toBe(type);
    expect(readdirSync(ws.path())).toEqual([]);
  });

  test('is written anew, with its folder', async () => {
    ws.write('dir/file', 'a');
    const invocation = await invocationOf(tools().write, { file_path: 'dir/file', content: 'b' });
    rmSync(ws.path('dir'), { recursive: true });
    expect(textOf(await invocation.execute(CONTEXT))).toMatch(/^Created dir\/file\./);
    expect(ws.text('dir/file')).toBe('b');
  });

  test('and comes back as a directory is not written', async () => {
    ws.write('file', 'a');
    const invocation = await invocationOf(tools().write, { file_path: 'file', content: 'b' });
    rmSync(ws.path('file'));
    mkdirSync(ws.path('file'));
    expect(errorOf(await invocation.execute(CONTEXT)).type).toBe('target_is_directory');
  });
});
