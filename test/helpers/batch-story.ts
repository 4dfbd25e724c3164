import type { TaskResult } from '../../src/batch/journal/event.js';
import type { BatchStory } from '../../src/batch/reporters/story.js';

/** A task that was completed, unless something else is said. */
export function taskResult(id: string, more: Partial<TaskResult> = {}): TaskResult {
  return {
    id,
    key: 'a'.repeat(64),
    values: { file: id },
    status: 'completed',
    exit_code: 0,
    reason: null,
    response: `About ${id}.`,
    structured_output: null,
    changes: null,
    patch: null,
    transcript: null,
    cost_usd: 0.01,
    tokens: 1200,
    turns: 3,
    duration_ms: 4000,
    waited_ms: 0,
    attempts: 1,
    stability: null,
    runs: null,
    error: null,
    ...more,
  };
}

/** A batch with these tasks, as its journal would tell it. */
export function batchStory(
  results: readonly TaskResult[],
  more: Partial<BatchStory['state']> = {},
): BatchStory {
  const completed = results.filter(({ status }) => status === 'completed').length;
  const pending = results.filter(({ status }) => ['pending', 'approval_required'].includes(status)).length;
  const failed = results.length - completed - pending;
  return {
    folder: '/batches/find-user',
    record: { name: 'find-user', batch_id: '20261118-000000-abc', settings: {} },
    results,
    state: {
      ...{ status: 'tasks_failed', exit_code: 13, reason: null, message: `${failed} tasks failed` },
      tasks: { total: results.length, completed, failed, pending, skipped: 0 },
      ...{ cost_usd: 1.5, tokens: 12_000, requests: 40, rejected: 2, late_results: 0, waited_ms: 1000 },
      ...{ duration_ms: 60_000, reset_at: null, continue: null },
      ...more,
    },
  };
}

/** A thousand tasks, of which some failed in two ways, and some are yet to come. */
export function thousandTasks(): TaskResult[] {
  return Array.from({ length: 1000 }, (_, i) => {
    const id = `packages/web/src/component-${i}.ts`;
    const cost = { cost_usd: i / 1000, duration_ms: i * 100 };
    if (i % 10 === 1)
      return taskResult(id, {
        ...cost,
        ...{ status: 'unverified', exit_code: 5, reason: 'verify', response: 'x'.repeat(5000) },
        error: { code: 'verify', message: i % 20 === 1 ? 'npm test failed' : 'npm run lint failed' },
      });
    if (i % 50 === 0)
      return taskResult(id, {
        ...{ status: 'pending', exit_code: null, response: null, cost_usd: null, duration_ms: null },
      });
    return taskResult(id, { ...cost, response: 'word '.repeat(300) });
  });
}
