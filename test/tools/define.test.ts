import { describe, expect, test } from '@jest/globals';
import { rootCommands } from '../../src/policy/shell/lazy.js';
import { builtinTools } from '../../src/tools/builtin.js';
import { defineTool } from '../../src/tools/define.js';
import { createRegistry } from '../../src/tools/registry.js';
import { runCommand } from '../../src/sandbox/local.js';
import type { Tool } from '../../src/protocol/tool.js';
import { callTool, errorOf, invocationOf, textOf } from '../helpers/call-tool.js';

function builtins(): Tool[] {
  return builtinTools({
    workspace: '/',
    environment: {},
    timeoutMs: 1,
    idleTimeoutMs: 1,
    runCommand,
    rootCommands,
    shellText: async (line) => line,
    admits: () => true,
    outputCap: 1000,
  });
}

const echo = defineTool('/', {
  name: 'echo',
  displayName: 'Echo',
  kind: 'read',
  description: 'Says what it was given.',
  aliases: ['say'],
  schema: {
    type: 'object',
    properties: { path: { type: 'string' }, times: { type: 'integer', minimum: 1 } },
    required: ['path'],
    additionalProperties: false,
  },
  check: ({ path }) => (path === 'bad' ? '`path` is bad' : undefined),
  paths: ({ path }) => [{ path, access: 'read' }],
  describe: ({ path }) => `Echo ${path}`,
  confirmation: ({ path }) => ({ type: 'info', description: path }),
  execute: (params) => ({ ok: true, content: JSON.stringify(params) }),
});

describe('parameters', () => {
  test.each([
    [{ path: 'a' }, { path: 'a' }],
    [
      { path: 'a', times: 2 },
      { path: 'a', times: 2 },
    ],
    [{ dir_path: 'a' }, { path: 'a' }],
    [{ dir_path: 'other', path: 'real' }, { path: 'real' }],
    [{ path: 'real', dir_path: 'other' }, { path: 'real' }],
  ])('%j reach the tool as %j', async (given, taken) => {
    expect(JSON.parse(textOf(await callTool(echo, given)))).toEqual(taken);
  });

  test.each([
    [{}, '`path` is missing'],
    [undefined, '`path` is missing'],
    [null, '`path` is missing'],
    [{ path: 3 }, '`path` must be a string'],
    [{ path: 'a', times: 0 }, '`times` must be >= 1'],
    [{ path: 'bad' }, '`path` is bad'],
    [{ path: 'a', tims: 1 }, '`tims` is not known (did you mean `times`?)'],
    ['text', 'must be an object'],
    [['path'], 'must be an object'],
    [{ instruction: 'x' }, '`path` is missing; not known: `instruction`'],
  ])('%j are refused, and the message says why', async (params, fault) => {
    const error = errorOf(await callTool(echo, params));
    expect(error.type).toBe('invalid_tool_params');
    expect(error.message).toMatch(/^Invalid parameters for echo: /);
    expect(error.message).toContain(fault);
  });
});

describe('parameters that a tool does not know', () => {
  test.each([
    [{ path: 'a', instruction: 'x' }, '[Ignored, not known to echo: `instruction`.]'],
    [{ path: 'a', is_background: true, depth: 3 }, '[Ignored, not known to echo: `is_background`, `depth`.]'],
    [{ path: 'a', constructor: 1 }, '[Ignored, not known to echo: `constructor`.]'],
    [JSON.parse('{"path": "a", "__proto__": {"times": 0}}'), '[Ignored, not known to echo: `__proto__`.]'],
    [{ path: 'a', dir_path: 'b' }, '[Ignored, not known to echo: `dir_path`.]'],
    [{ path: 'a', 'x\n]\u001b[31m': 1 }, '[Ignored, not known to echo: `x ]`.]'],
    [{ path: 'a', ['y'.repeat(50)]: 1 }, `[Ignored, not known to echo: \`${'y'.repeat(39)}…\`.]`],
    [
      { path: 'a', a1: 1, b2: 1, c3: 1, d4: 1, e5: 1, f6: 1, g7: 1 },
      '[Ignored, not known to echo: `a1`, `b2`, `c3`, `d4`, `e5` and 2 more.]',
    ],
  ])('%j are left out, and one line says so', async (given, note) => {
    const invocation = await invocationOf(echo, given);
    expect(invocation.params).toEqual({ path: 'a' });
    expect(invocation.note).toBe(note);
  });

  test.each([[{ path: 'a' }], [{ dir_path: 'a' }], [{ path: 'a', dir_path: 'a' }]])(
    'nothing is said about %j',
    async (given) => {
      const invocation = await invocationOf(echo, given);
      expect(invocation.params).toEqual({ path: 'a' });
      expect(invocation.note).toBeUndefined();
    },
  );

  test('one that looks misspelt is none where the right one is there as well', async () => {
    const { params, note } = await invocationOf(echo, { path: 'a', times: 2, tims: 3 });
    expect([params, note]).toEqual([{ path: 'a', times: 2 }, '[Ignored, not known to echo: `tims`.]']);
  });
});

describe('what models send from elsewhere', () => {
  const files = { file_path: 'a', old_string: 'a', new_string: 'b' };
  const filtering = { respect_git_ignore: true, respect_gemini_ignore: true };
  test.each<[string, object, object, string]>([
    ['replace', { ...files, instruction: 'Fix it.' }, files, 'instruction'],
    ['replace', { ...files, replace_all: true }, { ...files, allow_multiple: true }, ''],
    ['read_file', { absolute_path: '/w/a' }, { file_path: '/w/a' }, ''],
    ['write_file', { path: 'a', content: '' }, { file_path: 'a', content: '' }, ''],
    ['run_shell_command', { command: 'ls', is_background: false }, { command: 'ls' }, 'is_background'],
    ['run_shell_command', { command: 'ls', delay_ms: 200 }, { command: 'ls' }, 'delay_ms'],
    ['run_shell_command', { command: 'ls', cwd: 'src' }, { command: 'ls', directory: 'src' }, ''],
    ['glob', { pattern: '*', respect_gemini_ignore: true }, { pattern: '*' }, 'respect_gemini_ignore'],
    [
      'list_directory',
      { dir_path: '.', file_filtering_options: filtering },
      { path: '.' },
      'file_filtering_options',
    ],
    [
      'read_many_files',
      { include: ['a'], useDefaultExcludes: true },
      { include: ['a'] },
      'useDefaultExcludes',
    ],
    ['search_file_content', { pattern: 'a', total_max_matches: 3 }, { pattern: 'a', max_matches: 3 }, ''],
    ['search_file_content', { pattern: 'a', names_only: true }, { pattern: 'a' }, 'names_only'],
    ['search_file_content', { pattern: 'a', before: 1 }, { pattern: 'a' }, 'before'],
    ['web_fetch', { url: 'https://a.example/' }, { prompt: 'https://a.example/' }, ''],
    [
      'write_todos',
      { todos: [{ id: 1, description: 'a', status: 'pending' }] },
      { todos: [{ description: 'a', status: 'pending' }] },
      'todos.0.id',
    ],
  ])('%s takes %j', async (name, given, taken, ignored) => {
    const tool = createRegistry(builtins()).find(name);
    const { params, note } = await invocationOf(tool as Tool, given);
    expect(params).toEqual(taken);
    expect(note ?? '').toBe(ignored && `[Ignored, not known to ${name}: \`${ignored}\`.]`);
  });

  test.each([
    ['append', true],
    ['mode', 'a'],
    ['start_line', 3],
  ])('a whole file is not written where %s asks for less', async (name, value) => {
    const tool = createRegistry(builtins()).find('write_file') as Tool;
    const error = errorOf(await callTool(tool, { file_path: 'a', content: '', [name]: value }));
    expect(error.message).toBe(`Invalid parameters for write_file: \`${name}\` is not known.`);
  });
});

describe('the registry', () => {
  test('finds a tool by its name and by its alias', () => {
    const registry = createRegistry([echo]);
    expect([registry.find('echo'), registry.find('say')]).toEqual([echo, echo]);
    expect(registry.find('Echo')).toBeUndefined();
    expect(registry.find('constructor')).toBeUndefined();
  });

  test('does not take two tools of one name', () => {
    expect(() => createRegistry([echo, { ...echo, name: 'say', aliases: [] }])).toThrow(
      'two tools are called say',
    );
  });
});

test('the built-in tools have the names, kinds and parameters that models know', () => {
  const tools = builtins().map(({ name, kind, parameters }) => {
    const { properties, required } = parameters as { properties: object; required: string[] };
    return [name, kind, Object.keys(properties).map((key) => key + (required.includes(key) ? '*' : ''))];
  });
  expect(Object.fromEntries(tools.map(([name, ...rest]) => [name, rest]))).toMatchObject({
    read_file: ['read', ['file_path*', 'offset', 'limit', 'start_line', 'end_line']],
    read_many_files: ['read', ['include*', 'exclude', 'recursive', 'respect_git_ignore']],
    list_directory: ['search', ['path*', 'ignore', 'respect_git_ignore']],
    glob: ['search', ['pattern*', 'path', 'case_sensitive', 'respect_git_ignore']],
    search_file_content: [
      'search',
      ['pattern*', 'path', 'include', 'case_sensitive', 'context', 'max_matches'],
    ],
    write_file: ['edit', ['file_path*', 'content*']],
    replace: [
      'edit',
      ['file_path*', 'old_string*', 'new_string*', 'expected_replacements', 'allow_multiple'],
    ],
    run_shell_command: ['execute', ['command*', 'description', 'directory']],
    save_memory: ['think', ['fact*']],
    write_todos: ['think', ['todos*']],
  });
});
