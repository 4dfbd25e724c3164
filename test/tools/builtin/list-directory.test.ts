import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { listDirectoryTool } from '../../../src/tools/builtin/list-directory.js';
import { callTool, errorOf, invocationOf, textOf } from '../../helpers/call-tool.js';
import { findSettings } from '../../helpers/find-tools.js';
import { freeReaderLater } from '../../helpers/processes.js';
import { useWorkspace } from '../../helpers/workspace.js';

const ws = useWorkspace();
const call = (params: object) => callTool(listDirectoryTool(findSettings(ws.path())), params);
const list = async (params: object) => textOf(await call(params));

test('folders come first, then files with their sizes, each by name, hidden ones too', async () => {
  ws.write('b.txt', '12345');
  ws.write('a.txt', '1');
  ws.write('.hidden', '');
  ws.write('z/file', '');
  ws.write('.config/file', '');
  expect(await list({ path: '.' })).toBe(
    '.:\n[DIR] .config\n[DIR] z\n.hidden (0 bytes)\na.txt (1 byte)\nb.txt (5 bytes)',
  );
});

test('a folder is named as the workspace sees it, however it was spelt', async () => {
  ws.write('a/b/file', '');
  for (const path of ['a/b', './a/../a/b/', ws.path('a/b')]) {
    expect(await list({ path })).toBe('a/b:\nfile (0 bytes)');
  }
  expect(await list({ dir_path: 'a' })).toBe('a:\n[DIR] b');
});

test('an empty folder is told so', async () => {
  mkdirSync(ws.path('empty'));
  expect(await list({ path: 'empty' })).toBe('empty has no entries to show.');
});

test('links are shown as what they lead to, and by name alone where that is nothing', async () => {
  ws.write('dir/file', '123');
  symlinkSync('dir', ws.path('to-dir'));
  symlinkSync('dir/file', ws.path('to-file'));
  symlinkSync('nowhere', ws.path('to-nothing'));
  expect(await list({ path: '.' })).toBe('.:\n[DIR] dir\n[DIR] to-dir\nto-file (3 bytes)\nto-nothing');
});

test('a link out of reach shows its name alone', async () => {
  ws.write('.env', 'SECRET=1');
  symlinkSync('/etc', ws.path('to-etc'));
  symlinkSync('/etc/passwd', ws.path('to-passwd'));
  symlinkSync('.env', ws.path('to-secret'));
  expect(await list({ path: '.' })).toBe('.:\n.env (8 bytes)\nto-etc\nto-passwd\nto-secret');
});

test('a name with a line break in it cannot pass for two', async () => {
  ws.write('a\n[DIR] b', '');
  expect(await list({ path: '.' })).toBe('.:\n"a\\n[DIR] b" (0 bytes)');
});

test('what is neither file nor folder has no size, and nobody waits for it', async () => {
  execFileSync('mkfifo', [ws.path('fifo')]);
  expect(await list({ path: '.' })).toBe('.:\nfifo');
});

describe('.gitignore', () => {
  test('leaves out what it names, in every folder down to the one listed, and says how many', async () => {
    ws.write('.gitignore', '*.log\n/build/\n');
    ws.write('sub/.gitignore', '!keep.log\nlocal\n');
    ws.write('build/x', '');
    ws.write('a.log', '');
    for (const name of ['drop.log', 'keep.log', 'local', 'file']) ws.write(`sub/${name}`, '');
    expect(await list({ path: '.' })).toBe('.:\n[DIR] sub\n.gitignore (14 bytes)\n(2 ignored)');
    expect(await list({ path: 'sub' })).toBe(
      'sub:\n.gitignore (16 bytes)\nfile (0 bytes)\nkeep.log (0 bytes)\n(2 ignored)',
    );
  });

  test('does not count when the call says so', async () => {
    ws.write('.gitignore', '*.log\n');
    ws.write('a.log', '');
    expect(await list({ path: '.', respect_git_ignore: false })).toContain('a.log (0 bytes)');
  });

  test('that is a directory is no rule', async () => {
    mkdirSync(ws.path('.gitignore'));
    ws.write('file', '');
    expect(await list({ path: '.' })).toBe('.:\n[DIR] .gitignore\nfile (0 bytes)');
  });

  test('that is a FIFO keeps nobody waiting', async () => {
    execFileSync('mkfifo', [ws.path('.gitignore')]);
    const rescue = freeReaderLater(ws.path('.gitignore'), 20);
    await call({ path: '.' });
    expect(rescue.exitCode).toBeNull();
    rescue.kill();
  });
});

describe('patterns of the call', () => {
  test.each([
    [['*.txt'], '.:\n[DIR] build\nc.md (0 bytes)\n(2 ignored)'],
    [['*.txt', 'build'], '.:\nc.md (0 bytes)\n(3 ignored)'],
    [['build/'], '.:\na.txt (0 bytes)\nb.txt (0 bytes)\nc.md (0 bytes)\n(1 ignored)'],
    [['?.txt', '!b.txt'], '.:\n[DIR] build\nb.txt (0 bytes)\nc.md (0 bytes)\n(1 ignored)'],
    [[], '.:\n[DIR] build\na.txt (0 bytes)\nb.txt (0 bytes)\nc.md (0 bytes)'],
  ])('%j leave out what they match', async (ignore, text) => {
    for (const name of ['a.txt', 'b.txt', 'c.md', 'build/x']) ws.write(name, '');
    expect(await list({ path: '.', ignore })).toBe(text);
  });
});

describe('what cannot be listed is told', () => {
  test.each([
    ['a directory that is not there', 'missing', 'file_not_found', 'missing does not exist.'],
    ['a file', 'file', 'ls_execution_error', 'file is not a directory.'],
  ])('%s', async (_, path, type, message) => {
    ws.write('file', '');
    expect(errorOf(await call({ path }))).toEqual({ type, message });
  });

  test('a path below a file', async () => {
    ws.write('file', '');
    expect(errorOf(await call({ path: 'file/below' })).type).toMatch(/^(file_not_found|ls_execution_error)$/);
  });

  test('a call without a path', async () => {
    expect(errorOf(await call({})).message).toContain('`path` is missing');
  });
});

test('the call names the path that it reads', async () => {
  const { paths } = await invocationOf(listDirectoryTool(findSettings(ws.path())), { dir_path: 'x' });
  expect(paths).toMatchObject([{ path: 'x', access: 'read' }]);
});

test('of very many entries the first thousand are shown, and the rest is counted', async () => {
  for (let i = 0; i < 1010; i++) ws.write(`f${i}`, '');
  const lines = (await list({ path: '.' })).split('\n');
  expect(lines).toHaveLength(1002);
  expect(lines.at(-1)).toBe('[10 more. Find some of them by a pattern with glob.]');
});
