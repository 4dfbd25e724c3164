import { fitItems, byteLength } from '../../lib/fit-items.js';
import { formatDuration } from '../../lib/duration.js';
import { formatDollars } from '../../lib/money.js';
import { codeSpan, detailsBlock, sentenceOrCode } from '../../lib/markdown.js';
import { count, formatNumber } from '../../lib/text.js';
import type { TaskResult } from '../journal/event.js';
import { classOf, hasFailed, runsText, type BatchStory } from './story.js';

/** Large enough for a page with everything; a caller with less room says so. */
const NO_LIMIT = 64 * 1024 * 1024;
const OPEN_GROUPS = 3;

/** Room for the counts of hidden tasks and the ends of folds. */
const SPARE = 1000;

/** A batch as Markdown of at most `room` bytes: failures come first, by class, and what does not fit is counted. */
export function* batchMarkdown(story: BatchStory, room = NO_LIMIT): Generator<string> {
  const { record, state, results } = story;
  const head = [
    `## Bosun batch ${codeSpan(record.name)}: ${state.status}\n\n`,
    state.exit_code === 0 || state.message === '' ? '' : `${sentenceOrCode(state.message)}\n\n`,
    `${facts(story).join('\n')}\n\n`,
    state.continue === null ? '' : `Continue with ${codeSpan(state.continue, 1000)}\n\n`,
  ].join('');
  yield head;
  let left = room - byteLength(head) - SPARE;
  let hidden = 0;
  for (const [i, [title, list]] of groupsOf(results).entries()) {
    const { kept, left: more } = fitItems(list.map(taskItem), left);
    const fold = detailsBlock(`${list.length} × ${title}`, kept.join(''), { open: i < OPEN_GROUPS });
    hidden += more;
    left -= byteLength(fold);
    if (kept.length > 0) yield fold;
  }
  if (hidden > 0) yield `\n${count(hidden, 'task')} more: see results.jsonl.\n`;
}

function facts({ state }: BatchStory): string[] {
  const { tasks, cost_usd, tokens, requests, rejected, duration_ms, waited_ms } = state;
  const rows: [string, string][] = [
    ['Tasks', `${tasks.total}`],
    ['Completed', `${tasks.completed}${tasks.skipped > 0 ? ` (${tasks.skipped} before)` : ''}`],
    ['Failed', `${tasks.failed}`],
    ['Pending', `${tasks.pending}`],
    ...(state.stability ? ([['Flaky', `${state.stability.flaky}`]] as [string, string][]) : []),
    ['Cost', cost_usd === null ? 'not known' : formatDollars(cost_usd)],
    ['Tokens', tokens === null ? 'not known' : formatNumber(tokens)],
    ['Requests', `${requests}${rejected > 0 ? `, ${rejected} rejected` : ''}`],
    ['Time', `${formatDuration(duration_ms)}${waited_ms > 0 ? `, ${formatDuration(waited_ms)} waited` : ''}`],
    ...(state.reset_at === null ? [] : ([['Resets at', state.reset_at]] as [string, string][])),
  ];
  return ['| | |', '| --- | --- |', ...rows.map(([name, value]) => `| ${name} | ${value} |`)];
}

/** Tasks by their state, in our words; failures first. */
function groupsOf(results: readonly TaskResult[]): [string, TaskResult[]][] {
  const groups = new Map<string, TaskResult[]>();
  for (const result of results) {
    const list = groups.get(classOf(result)) ?? [];
    if (list.length === 0) groups.set(classOf(result), list);
    list.push(result);
  }
  const rank = ([result]: readonly TaskResult[]) => (result && hasFailed(result) ? 0 : 1);
  return [...groups].toSorted(([, a], [, b]) => rank(a) - rank(b) || b.length - a.length);
}

function taskItem(result: TaskResult): string {
  const { id, error, cost_usd } = result;
  const cost = cost_usd === null ? '' : ` (${formatDollars(cost_usd)})`;
  const runs = runsText(result);
  const shownRuns = runs === undefined ? '' : ` (${runs})`;
  const why = error ? `: ${sentenceOrCode(error.message, 300)}` : '';
  return `- ${codeSpan(id)}${cost}${shownRuns}${why}\n`;
}
