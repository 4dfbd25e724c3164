import { EXIT_CODES, TASKS_FAILED, type Status } from '../../protocol/outcome.js';
import { badInput, type Inputs } from './inputs.js';

/** How a run or a batch can end. */
export type StepStatus = Status | typeof TASKS_FAILED.status;

const STATUSES = [...Object.keys(EXIT_CODES), TASKS_FAILED.status] as StepStatus[];

/** The statuses that fail the step. */
export function failingStatuses(inputs: Inputs): ReadonlySet<StepStatus> {
  const words = inputs
    .value('fail-on')
    .split(/[\s,]+/)
    .filter(Boolean);
  const [word = 'all', ...others] = words;
  if (others.length === 0 && word === 'none') return new Set();
  if (others.length === 0 && word === 'all') return new Set(STATUSES.filter((name) => name !== 'completed'));
  const unknown = words.find((name) => !STATUSES.includes(name as StepStatus));
  if (unknown !== undefined)
    throw badInput('fail-on', unknown, `Give all, none, or some of ${STATUSES.join(', ')}.`);
  return new Set(words as StepStatus[]);
}
