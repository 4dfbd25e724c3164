import { describe, expect, test } from '@jest/globals';
import type { Todo } from '../../../src/protocol/todo.js';
import { writeTodosTool } from '../../../src/tools/builtin/write-todos.js';
import { callTool, errorOf, invocationOf, textOf } from '../../helpers/call-tool.js';

const heard: (readonly Todo[])[] = [];
const tool = writeTodosTool('/', (todos) => heard.push(todos));
const todo = (description: string, status: string = 'pending') => ({ description, status });

test('hands the list on and answers with it', async () => {
  heard.length = 0;
  const todos = [
    todo('read', 'completed'),
    todo('mend', 'in_progress'),
    todo('test'),
    todo('boast', 'cancelled'),
  ];
  expect(textOf(await callTool(tool, { todos }))).toBe(
    '1 of 3 done.\n[x] read\n[>] mend\n[ ] test\n[-] boast',
  );
  expect(heard).toEqual([todos]);
});

test('an empty list is a list', async () => {
  heard.length = 0;
  expect(textOf(await callTool(tool, { todos: [] }))).toBe('The list is empty.');
  expect(heard).toEqual([[]]);
});

test('a description is one clean line wherever it is shown', async () => {
  heard.length = 0;
  const description = '  two\r\nlines \u001b[31mred\u001b[0m \u0000 end';
  expect(textOf(await callTool(tool, { todos: [{ description, status: 'pending' }] }))).toBe(
    '0 of 1 done.\n[ ] two lines red end',
  );
  expect(heard[0]).toEqual([todo('two lines red end')]);
});

describe('is told what is wrong with', () => {
  const cases: [string, unknown, RegExp][] = [
    ['no list', {}, /`todos` is missing/],
    ['a list as text', { todos: '[]' }, /`todos` must be a list/],
    [
      'an unknown status',
      { todos: [todo('a', 'done')] },
      /`todos\.0\.status` must be one of pending, in_pro/,
    ],
    ['a missing status', { todos: [{ description: 'a' }] }, /`todos\.0\.status` is missing/],
    [
      'a misspelt field',
      { todos: [{ description: 'a', statu: 'pending' }] },
      /`todos\.0\.statu` is not known/,
    ],
    ['a text for a step', { todos: ['a'] }, /`todos\.0` must be an object/],
    ['a blank description', { todos: [todo('a'), todo(' \n')] }, /`todos\.1\.description` is blank/],
    ['two steps at a time', { todos: [todo('a', 'in_progress'), todo('b', 'in_progress')] }, /at most one/],
    ['a novel', { todos: [todo('x'.repeat(501))] }, /more than 500 characters/],
    ['too many steps', { todos: Array.from({ length: 101 }, () => todo('a')) }, /more than 100 items/],
  ];
  test.each(cases)('%s', async (_what, params, message) => {
    heard.length = 0;
    const { type, message: said } = errorOf(await callTool(tool, params));
    expect(type).toBe('invalid_tool_params');
    expect(said).toMatch(message);
    expect(heard).toEqual([]);
  });
});

test('touches no file and asks with the list itself', async () => {
  const invocation = await invocationOf(tool, { todos: [todo('a')] });
  expect([invocation.paths, invocation.describe()]).toEqual([[], 'Plan: 0 of 1 done']);
  expect(await invocation.confirmation()).toEqual({ type: 'info', description: '0 of 1 done.\n[ ] a' });
});
