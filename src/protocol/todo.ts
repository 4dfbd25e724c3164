import { object, oneOf, text, type TypeOf } from './shape.js';

export const TODO_STATUSES = ['pending', 'in_progress', 'completed', 'cancelled'] as const;

/** One step of the model's plan. */
export const TODO = object({ description: text, status: oneOf(TODO_STATUSES) });
export type Todo = TypeOf<typeof TODO>;

/** How much of a plan is done. Cancelled steps no longer count. */
export function progressOf(todos: readonly Todo[]): { readonly done: number; readonly all: number } {
  const wanted = todos.filter(({ status }) => status !== 'cancelled');
  return { done: wanted.filter(({ status }) => status === 'completed').length, all: wanted.length };
}
