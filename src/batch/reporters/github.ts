import { workflowCommand, type Annotation } from '../../lib/workflow-command.js';
import { classOf, hasFailed, type BatchStory } from './story.js';

/** GitHub shows this many of each level, and silently drops the rest. */
const MAX_SHOWN = 10;

/** What people should see of a batch at first glance, as workflow commands. */
export function batchAnnotations({ state, results, record }: BatchStory): string {
  const failed = results.filter(hasFailed);
  const whole: Annotation[] =
    state.exit_code === 0
      ? []
      : [{ level: 'error', title: `Bosun batch ${record.name}: ${state.status}`, message: state.message }];
  const each = failed.map((result): Annotation => ({
    level: 'error',
    title: `Bosun: ${result.id}: ${classOf(result)}`,
    message: result.error?.message ?? classOf(result),
  }));
  const room = MAX_SHOWN - whole.length;
  const shown = each.length <= room ? each : each.slice(0, room - 1);
  const more = each.length - shown.length;
  const rest: Annotation[] =
    more === 0
      ? []
      : [{ level: 'error', title: `Bosun: ${more} more tasks failed`, message: 'See the step summary.' }];
  return [...whole, ...shown, ...rest].map(workflowCommand).join('');
}
