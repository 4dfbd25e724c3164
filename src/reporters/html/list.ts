import { formatDuration } from '../../lib/duration.js';
import { markup, type Html } from './markup.js';
import { isProblem, ROW_STATES, type Row, type RowState } from './row.js';
import { percent } from './timeline.js';

/** All events in order: one line each, which can be opened. */
export function* stepList(rows: readonly Row[], total: number): Generator<Html> {
  const span = Math.max(total, 1);
  yield markup`<section class="story" aria-labelledby="story">
<h2 id="story">What happened</h2>
<noscript><p class="fine">Without JavaScript this is a plain list: you cannot open arguments, outputs and diffs.</p></noscript>
${toolbar(rows)}
<ol class="rows" id="rows">`;
  for (const row of rows) yield rowHtml(row, span);
  yield markup`</ol><p class="nothing" id="nothing" hidden>Nothing matches.</p></section>`;
}

function rowHtml(row: Row, span: number): Html {
  const { seq, kind, title, text, note, state, stateText, tool, decision, start, end } = row;
  const word = stateText ?? ROW_STATES[state];
  const figures = row.figures ?? (end > start ? formatDuration(end - start) : '');
  const hasBar = end > start || kind === 'call';
  // No spaces between the elements: there are thousands of these.
  return markup`
<li class="${kind} ${state}"${data('tool', tool)}${data('decision', decision)}><details id="e${seq}"><summary tabindex="-1"><b>${title}</b>
<span class="text">${text}</span><span class="state">${word}</span>${hasBar ? barOf(row, span) : NO_BAR}
<span class="time">${figures}</span>${note && markup`<span class="aside">${note}</span>`}</summary></details></li>`;
}

const NO_BAR = markup`<span class="bar"></span>`;

function barOf({ start, end }: Row, span: number): Html {
  return markup`<svg class="bar" aria-hidden="true"><rect x="${percent(start, span)}" width="${percent(end - start, span)}" height="100%"/></svg>`;
}

function data(name: 'tool' | 'decision', value: string | undefined): Html {
  if (value === undefined) return markup``;
  return name === 'tool' ? markup` data-tool="${value}"` : markup` data-decision="${value}"`;
}

function toolbar(rows: readonly Row[]): Html {
  const states = rows.map(({ state }) => state);
  const problems = states.filter(isProblem).length;
  const stateChoices = Object.entries(ROW_STATES).map(
    ([state, label]) => [state, label || 'other', states.filter((each) => each === state).length] as const,
  );
  return markup`<form class="toolbar" id="filters" role="search" hidden>
    <input
      type="search"
      id="query"
      placeholder="Search everything  (press /)"
      aria-label="Search"
      autocomplete="off"
      spellcheck="false"
    />
    ${choice('tool', 'Tool', choicesOf(rows.map(({ tool }) => tool)))}
    ${choice('state', 'State', [['problem', 'any problem', problems], ...stateChoices.filter(([, , n]) => n > 0)])}
    ${choice('decision', 'Decision', choicesOf(rows.map(({ decision }) => decision)))}
    ${choice('kind', 'Show', [
      ['call', 'calls only', rows.filter(({ kind }) => kind === 'call').length],
      ['turn', 'turns only', rows.filter(({ kind }) => kind === 'turn').length],
    ])}
    <button type="button" id="open-all">Open all</button>
    <output id="count" aria-live="polite"></output>
  </form>`;
}

type Choice = readonly [value: RowState | string, label: string, count: number];

function choicesOf(values: readonly (string | undefined)[]): Choice[] {
  const counts = new Map<string, number>();
  for (const value of values) if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([value, n]) => [value, value, n]);
}

function choice(name: string, label: string, choices: readonly Choice[]): Html {
  return markup`<select name="${name}" aria-label="${label}">
    <option value="">${label}: all</option>
    ${choices.map(([value, text, n]) => markup`<option value="${value}">${text} (${n})</option>`)}
  </select>`;
}
