import { chmodSync, chownSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { readFileTool } from '../../../src/tools/builtin/read-file.js';
import { replaceTool } from '../../../src/tools/builtin/replace.js';
import { searchFileContentTool } from '../../../src/tools/builtin/search-file-content.js';
import { writeFileTool } from '../../../src/tools/builtin/write-file.js';
import { callTool, errorOf, textOf } from '../../helpers/call-tool.js';
import { findSettings, searchEnvironment } from '../../helpers/find-tools.js';
import { asOrdinaryUser } from '../../helpers/ordinary-user.js';
import { useWorkspace } from '../../helpers/workspace.js';

const ws = useWorkspace();
const read = (file_path: string) => callTool(readFileTool(ws.path()), { file_path });
const write = (file_path: string) => callTool(writeFileTool(ws.path()), { file_path, content: 'new' });
const replace = (file_path: string) =>
  callTool(replaceTool(ws.path()), { file_path, old_string: 'old', new_string: 'new' });
const search = (path: string) =>
  callTool(searchFileContentTool({ ...findSettings(ws.path()), environment: searchEnvironment }), {
    pattern: 'old',
    path,
  });
const create = (file_path: string) =>
  callTool(replaceTool(ws.path()), { file_path, old_string: '', new_string: 'new' });

describe('permission is denied by the file system, and nothing is left behind', () => {
  test.each([
    ['reading a file that nobody may read', read, 'secret'],
    ['reading a file in a folder that nobody may enter', read, 'closed/file'],
    ['searching a file that nobody may read', search, 'secret'],
    ['searching a folder that nobody may read', search, 'hidden'],
    ['editing a file that nobody may read', replace, 'secret'],
    ['overwriting a file that nobody may read', write, 'secret'],
    ['editing a file in a folder that nobody may write', replace, 'fixed/file'],
    ['overwriting a file in such a folder', write, 'fixed/file'],
    ['creating a file in such a folder', write, 'fixed/new'],
    ['creating a file in the other way', create, 'fixed/new'],
    ['creating a folder in such a folder', write, 'fixed/new/file'],
  ])('%s', async (_, call, path) => {
    ws.write('secret', 'old');
    ws.write('closed/file', 'old');
    ws.write('fixed/file', 'old');
    chmodSync(ws.path('secret'), 0);
    chmodSync(ws.path('closed'), 0o600);
    chmodSync(ws.path('fixed'), 0o555);
    mkdirSync(ws.path('hidden'), 0o300);
    const error = await asOrdinaryUser(ws, async () => errorOf(await call(path)));
    chmodSync(ws.path('secret'), 0o600);
    chmodSync(ws.path('closed'), 0o700);
    chmodSync(ws.path('fixed'), 0o755);
    expect(error.type).toBe('permission_denied');
    expect(error.message).toContain(path);
    expect([ws.text('secret'), ws.text('closed/file'), ws.text('fixed/file')]).toEqual(['old', 'old', 'old']);
    expect(readdirSync(ws.path('fixed'))).toEqual(['file']);
    expect(readdirSync(ws.path()).toSorted()).toEqual(['closed', 'fixed', 'hidden', 'secret']);
  });
});

test('a file that is only readable can be edited by whoever may replace it, and stays so', async () => {
  chmodSync(ws.write('file', 'old'), 0o444);
  await asOrdinaryUser(ws, async () => textOf(await replace('file')));
  expect([ws.text('file'), statSync(ws.path('file')).mode & 0o777]).toEqual(['new', 0o444]);
});

const testAsRoot = process.getuid?.() === 0 ? test : test.skip;

testAsRoot(
  "a file of somebody else becomes the editor's own, and loses what it did in their name",
  async () => {
    mkdirSync(ws.path('dir'));
    ws.write('dir/file', 'old');
    await asOrdinaryUser(ws, async () => {
      process.seteuid?.(0);
      chownSync(ws.path('dir/file'), 0, 0);
      chmodSync(ws.path('dir/file'), 0o4755);
      process.seteuid?.(65534);
      textOf(await replace('dir/file'));
    });
    const { uid, mode } = statSync(ws.path('dir/file'));
    expect([uid, (mode & 0o7777).toString(8)]).toEqual([65534, '755']);
  },
);
