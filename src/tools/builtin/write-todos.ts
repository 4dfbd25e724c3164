import { oneLine } from '../../lib/text.js';
import { progressOf, TODO_STATUSES, type Todo } from '../../protocol/todo.js';
import type { Tool, ToolReport } from '../../protocol/tool.js';
import { defineTool } from '../define.js';

const MAX_TODOS = 100;
const MAX_DESCRIPTION = 500;

const MARKS: Readonly<Record<Todo['status'], string>> = {
  pending: '[ ]',
  in_progress: '[>]',
  completed: '[x]',
  cancelled: '[-]',
};

/** `onTodos` gets every list that is written. */
export function writeTodosTool(workspace: string, onTodos: (todos: readonly Todo[]) => void): Tool {
  return defineTool(workspace, {
    name: 'write_todos',
    displayName: 'Write todos',
    kind: 'think',
    description:
      'Shows the plan for work with several steps, and its progress. Give the whole list every time; it replaces the last one. At most one step is in_progress.',
    schema: {
      type: 'object',
      properties: {
        todos: {
          type: 'array',
          maxItems: MAX_TODOS,
          items: {
            type: 'object',
            properties: {
              description: { type: 'string', minLength: 1, maxLength: MAX_DESCRIPTION },
              status: { type: 'string', enum: TODO_STATUSES },
            },
            required: ['description', 'status'],
            additionalProperties: false,
          },
          description: 'All steps, in order.',
        },
      },
      required: ['todos'],
      additionalProperties: false,
    },
    check: ({ todos }) => todosFault(todos),
    paths: () => [],
    describe: ({ todos }) => `Plan: ${planText(todos)}`,
    confirmation: ({ todos }) => ({ type: 'info', description: todoList(todos) }),
    execute: ({ todos }) => writeTodos(todos, onTodos),
  });
}

function todosFault(todos: readonly Todo[]): string | undefined {
  const blank = todos.findIndex(({ description }) => oneLine(description) === '');
  if (blank >= 0) return `\`todos.${blank}.description\` is blank`;
  const current = todos.filter(({ status }) => status === 'in_progress');
  return current.length > 1 ? `${current.length} todos are in_progress, at most one may be` : undefined;
}

function writeTodos(todos: readonly Todo[], onTodos: (todos: readonly Todo[]) => void): ToolReport {
  onTodos(todos.map(({ description, status }) => ({ description: todoLine(description), status })));
  return { ok: true, content: todoList(todos) };
}

function todoList(todos: readonly Todo[]): string {
  const lines = todos.map(({ description, status }) => `${MARKS[status]} ${todoLine(description)}`);
  return [summary(todos), ...lines].join('\n');
}

function summary(todos: readonly Todo[]): string {
  const { done, all } = progressOf(todos);
  return todos.length === 0 ? 'The list is empty.' : `${done} of ${all} done.`;
}

/** `1 of 3 done, now: Run the tests`. */
function planText(todos: readonly Todo[]): string {
  const { done, all } = progressOf(todos);
  const current = todos.find(({ status }) => status === 'in_progress');
  if (todos.length === 0) return 'empty';
  return `${done} of ${all} done${current ? `, now: ${current.description}` : ''}`;
}

function todoLine(description: string): string {
  return oneLine(description, MAX_DESCRIPTION);
}
