import { count, oneLine } from '../../../lib/text.js';
import { markup, type Html } from '../../../reporters/html/markup.js';
import type { TaskResult } from '../../journal/event.js';
import { classOf, hasFailed } from '../story.js';

/** The list below the classes shows all tasks, even thousands. */
const SHOWN_MESSAGES = 8;
const SHOWN_TASKS = 5;

/** Failures, by class and by message: 300 failures are often two. */
export function classes(results: readonly TaskResult[]): Html {
  const groups = groupedBy(
    results.map((result, i) => [result, i] as const).filter(([one]) => hasFailed(one)),
    ([one]) => classOf(one),
  );
  if (groups.length === 0) return markup``;
  return markup`<section class="classes" aria-labelledby="failures"><h2 id="failures">What failed</h2>${groups.map(
    ([name, tasks]) => markup`
<div class="group"><h3>${name} <span class="badge deny">${count(tasks.length, 'task')}</span>
<button type="button" class="show-class" data-class="${name}" hidden>Show</button></h3>
<ul>${messages(tasks)}</ul></div>`,
  )}</section>`;
}

type Numbered = readonly [result: TaskResult, index: number];

function messages(tasks: readonly Numbered[]): Html {
  const groups = groupedBy(tasks, ([{ error }]) => oneLine(error?.message ?? 'no message', 300));
  const more = groups.length - SHOWN_MESSAGES;
  return markup`${groups.slice(0, SHOWN_MESSAGES).map(([message, same]) => {
    const rest = same.length - SHOWN_TASKS;
    const links = same
      .slice(0, SHOWN_TASKS)
      .map(([{ id }, i], at) => markup`${at > 0 && ', '}<a href="#t${i}">${oneLine(id, 100)}</a>`);
    return markup`<li>${message} <span class="fine">${links}${rest > 0 && `, and ${rest} more`}</span></li>`;
  })}${more > 0 && markup`<li class="fine">${count(more, 'other message')}</li>`}`;
}

/** Largest first. */
function groupedBy<T>(items: readonly T[], keyOf: (item: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return [...groups].toSorted(([, a], [, b]) => b.length - a.length);
}
