import { describe, expect, test } from '@jest/globals';
import { rootCommands } from '../../src/runs/policies.js';
import { builtinTools } from '../../src/tools/builtin.js';
import { defineTool } from '../../src/tools/define.js';
import { createRegistry } from '../../src/tools/registry.js';
import { runCommand } from '../../src/sandbox/local.js';
import { callTool, errorOf, textOf } from '../helpers/call-tool.js';

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
  parameterAliases: { dir_path: 'path' },
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
    [{ path: 3 }, '`path` must be string'],
    [{ path: 'a', times: 0 }, '`times` must be >= 1'],
    [{ path: 'bad' }, '`path` is bad'],
    [{ path: 'a', tims: 1 }, '`tims` is not known (did you mean `times`?)'],
    ['text', 'must be object'],
    [['path'], 'must be object'],
    [{ path: 'a', constructor: 1 }, '`constructor` is not known'],
    [JSON.parse('{"path": "a", "__proto__": 1}'), '`__proto__` is not known'],
  ])('%j are refused, and the message says why', async (params, fault) => {
    const error = errorOf(await callTool(echo, params));
    expect(error.type).toBe('invalid_tool_params');
    expect(error.message).toMatch(/^Invalid parameters for echo: /);
    expect(error.message).toContain(fault);
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
  const limits = { timeoutMs: 1, idleTimeoutMs: 1 };
  const shell = {
    workspace: '/',
    environment: {},
    ...limits,
    runCommand,
    rootCommands,
    shellText: async (line: string) => line,
  };
  const find = { admits: () => true, outputCap: 1000 };
  const tools = builtinTools({ ...shell, ...find }).map(({ name, kind, parameters }) => {
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
