import { metricsText, type Metric } from '../../reporters/prometheus/metrics.js';
import type { TaskResult } from '../journal/event.js';
import type { BatchStory } from './story.js';

const STATES = ['completed', 'failed', 'pending'] as const;

/** The figures of a batch and of its tasks, for monitoring. */
export function* batchPrometheus({ record, state, results }: BatchStory): Generator<string> {
  const batch = record.name;
  const one = (name: string, help: string, value: number | null): Metric => ({
    name: `bosun_batch_${name}`,
    help,
    points: [{ labels: { batch }, value }],
  });
  const each = (name: string, help: string, valueOf: (result: TaskResult) => number | null): Metric => ({
    name: `bosun_task_${name}`,
    help,
    points: results.map((result) => ({ labels: { batch, task: result.id }, value: valueOf(result) })),
  });
  const { tasks, exit_code, cost_usd, tokens, requests, rejected, duration_ms } = state;
  const states = STATES.map((status) => ({ labels: { batch, status }, value: tasks[status] }));
  yield metricsText([
    one('exit_code', 'The exit code of the batch.', exit_code),
    { name: 'bosun_batch_tasks', help: 'Tasks, by state.', points: states },
    one('cost_usd', 'What it cost, in dollars.', cost_usd),
    one('tokens', 'Tokens of all tasks.', tokens),
    one('requests', 'Requests to the model.', requests),
    one('rejected', 'Requests that the provider rejected.', rejected),
    one('duration_seconds', 'How long the last start took.', duration_ms / 1000),
    each('exit_code', 'How the task ended.', (result) => result.exit_code),
    each('cost_usd', 'What the task cost, in dollars.', (result) => result.cost_usd),
    each('tokens', 'Tokens of the task.', (result) => result.tokens),
    each('duration_seconds', 'How long the task took.', ({ duration_ms: ms }) =>
      ms === null ? null : ms / 1000,
    ),
  ]);
}
