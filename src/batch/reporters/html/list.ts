import { formatDuration } from '../../../lib/duration.js';
import { formatDollars } from '../../../lib/money.js';
import { oneLine } from '../../../lib/text.js';
import { markup, type Html } from '../../../reporters/html/markup.js';
import type { TaskResult } from '../../journal/event.js';
import { classOf, hasFailed } from '../story.js';

/** The page of a task's run, relative to the page of the batch; undefined if there is none. */
export type RunLink = (result: TaskResult) => string | undefined;

/** Every task in task order: one line each, which can be opened. */
export function* taskList(results: readonly TaskResult[], linkOf: RunLink): Generator<Html> {
  yield markup`<section class="tasks" aria-labelledby="tasks">
<h2 id="tasks">Tasks</h2>
<noscript><p class="fine">Without JavaScript this is a plain list: you cannot filter it or open lines.</p></noscript>
${toolbar(results)}
<ol class="rows" id="rows">`;
  for (const [i, result] of results.entries()) yield rowOf(result, i, linkOf(result));
  yield markup`</ol><p class="nothing" id="nothing" hidden>Nothing matches.</p></section>`;
}

function rowOf(result: TaskResult, i: number, link: string | undefined): Html {
  const { id, cost_usd, duration_ms, error } = result;
  const cost = cost_usd === null ? '' : formatDollars(cost_usd);
  const time = duration_ms === null ? '' : formatDuration(duration_ms);
  // No spaces between the elements: there are thousands of them.
  return markup`
<li class="${taskState(result)}" data-class="${classOf(result)}" data-cost="${cost_usd ?? 0}" data-time="${(duration_ms ?? 0) / 1000}"${result.stability !== null && markup` data-stability="${result.stability}"`}><details id="t${i}"><summary><b>${oneLine(id, 300)}</b><span class="state">${classOf(result)}${result.stability === 'flaky' && ', flaky'}</span><span class="text">${error ? oneLine(error.message, 200) : oneLine(result.response ?? '', 200)}</span><span class="cost">${cost}</span><span class="time">${time}</span></summary></details>${link !== undefined && markup`<a class="run" href="${link}">Run<span class="hidden"> of ${oneLine(id, 300)}</span></a>`}</li>`;
}

/** The four states that people filter by; the class says more. */
export function taskState(result: TaskResult): 'completed' | 'failed' | 'pending' | 'waiting' {
  if (result.status === 'approval_required') return 'waiting';
  if (hasFailed(result)) return 'failed';
  return result.status === 'completed' ? 'completed' : 'pending';
}

function toolbar(results: readonly TaskResult[]): Html {
  return markup`<form class="toolbar" id="filters" role="search" hidden>
<input type="search" id="query" placeholder="Search tasks, answers and errors  (press /)" aria-label="Search" autocomplete="off" spellcheck="false">
${choice('state', 'Status', valueCounts(results.map(taskState)))}
${choice('class', 'Class', valueCounts(results.map(classOf)))}
${stabilities(results)}
<label>from $ <input type="number" name="cost" min="0" step="any" inputmode="decimal" aria-label="Cost of at least, in dollars"></label>
<label>from s <input type="number" name="time" min="0" step="any" inputmode="decimal" aria-label="Time of at least, in seconds"></label>
<select name="order" aria-label="Order"><option value="">in task order</option><option value="cost">by cost</option><option value="time">by time</option></select>
<output id="count" aria-live="polite"></output>
</form>`;
}

/** Only if tasks are repeated. */
function stabilities(results: readonly TaskResult[]): Html {
  const known = results.flatMap(({ stability }) => stability ?? []);
  return known.length > 0 ? choice('stability', 'Stability', valueCounts(known)) : markup``;
}

function valueCounts(values: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts];
}

function choice(name: string, label: string, choices: readonly [string, number][]): Html {
  return markup`<select name="${name}" aria-label="${label}">
<option value="">${label}: all</option>
${choices.map(([value, n]) => markup`<option value="${value}">${value} (${n})</option>`)}
</select>`;
}
