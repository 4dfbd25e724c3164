import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { builtinTools } from '../../../src/tools/builtin.js';
import { runCommand } from '../../../src/sandbox/local.js';
import { invocationOf } from '../../helpers/call-tool.js';
import { useWorkspace } from '../../helpers/workspace.js';

const ws = useWorkspace();

const tools = () =>
  builtinTools({
    workspace: ws.path(),
    environment: {},
    runCommand,
    shellText: async (line) => line,
    rootCommands: async () => [],
    timeoutMs: 1000,
    idleTimeoutMs: 1000,
    admits: () => true,
    outputCap: 1000,
    memory: ws.path('notes.md'),
  });

const urls = ['a', 'b', 'c', 'd', 'e'].map((name) => `https://${name}.example/`);
const todos = [
  { description: 'Look', status: 'completed' },
  { description: 'Fix it', status: 'in_progress' },
];

/** `@` is the workspace. */
const CASES: [tool: string, params: Record<string, unknown>, title: string][] = [
  ['read_file', { file_path: 'src/a.ts' }, 'Read src/a.ts'],
  ['read_file', { file_path: '@/src/../b.ts' }, 'Read b.ts'],
  ['read_file', { file_path: '../c.ts' }, 'Read ../c.ts'],
  ['read_file', { file_path: 'a', offset: 10, limit: 5 }, 'Read a (lines 11 to 15)'],
  ['read_file', { file_path: 'a', start_line: 3, end_line: 3 }, 'Read a (line 3)'],
  ['read_file', { file_path: 'a', offset: 10 }, 'Read a (from line 11)'],
  ['read_many_files', { include: ['a', 'b/*.ts'] }, 'Read a, b/*.ts'],
  ['read_many_files', { include: ['a', 'b', 'c', 'd', 'e'] }, 'Read a, b, c and 2 more'],
  ['list_directory', { path: '.' }, 'List the workspace'],
  ['list_directory', { path: '@/src' }, 'List src'],
  ['glob', { pattern: '**/*.ts', path: 'src' }, 'Find files **/*.ts in src'],
  ['search_file_content', { pattern: 'a b' }, 'Search for "a b"'],
  ['search_file_content', { pattern: 'x', path: 'src', include: '*.ts' }, 'Search for "x" in src, *.ts'],
  ['write_file', { file_path: '@/a.txt', content: 'x' }, 'Write a.txt'],
  ['replace', { file_path: 'a.txt', old_string: 'a', new_string: 'b' }, 'Edit a.txt'],
  ['replace', { file_path: 'a.txt', old_string: '', new_string: 'b' }, 'Create a.txt'],
  ['run_shell_command', { command: 'npm test\n' }, 'Run npm test'],
  ['run_shell_command', { command: 'npm test', directory: '@/web' }, 'Run npm test (in web)'],
  ['web_fetch', { prompt: urls.join(' ') }, `Fetch ${urls.slice(0, 3).join(', ')} and 2 more`],
  ['google_web_search', { query: 'cats' }, 'Search the web for "cats"'],
  ['save_memory', { fact: 'Tests run with npm.' }, 'Remember: Tests run with npm.'],
  ['write_todos', { todos }, 'Plan: 1 of 2 done, now: Fix it'],
];

test.each(CASES)('%s %j: %s', async (name, params, title) => {
  const here = JSON.parse(JSON.stringify(params).replaceAll('@', join(ws.path()))) as object;
  const tool = tools().find((one) => one.name === name);
  if (!tool) throw new Error(`there is no tool ${name}`);
  expect((await invocationOf(tool, here)).describe()).toBe(title);
});

test('every tool is among them', () => {
  const described = new Set(CASES.map(([name]) => name));
  expect(tools().filter(({ name }) => !described.has(name))).toEqual([]);
});
