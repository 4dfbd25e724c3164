import { formatDollars } from '../../lib/money.js';
import { markup, type Html } from './markup.js';
import type { StoryTurn } from './story.js';
import { formatNumber } from '../../lib/text.js';

const SLOT = 10;
const BAR = 8;
const HEIGHT = 100;
/** Fewer would be too wide. */
const FEWEST_SLOTS = 24;

interface Series {
  readonly name: string;
  readonly paint: string;
  readonly values: readonly (number | undefined)[];
}

/** Tokens and cost of each turn. */
export function charts(turns: readonly StoryTurn[]): Html {
  if (turns.length === 0) return markup``;
  const valuesOf = (value: (turn: StoryTurn['turn']) => number | undefined) =>
    turns.map(({ turn }) => value(turn));
  return markup`<section class="charts" aria-labelledby="tokens">
    <h2 id="tokens">Tokens and cost per turn</h2>
    <div class="chart-row">
      ${chart('Tokens in', formatNumber, [
        { name: 'cached', paint: 'cached', values: valuesOf(({ usage }) => usage?.cached) },
        { name: 'new', paint: 'input', values: valuesOf(freshTokens) },
      ])}
      ${chart('Tokens out', formatNumber, [
        { name: 'thoughts', paint: 'thoughts', values: valuesOf(({ usage }) => usage?.thoughts) },
        { name: 'answer', paint: 'output', values: valuesOf(({ usage }) => usage?.output) },
      ])}
      ${chart('Cost', formatDollars, [{ name: 'cost', paint: 'cost', values: valuesOf(({ cost_usd }) => cost_usd) }])}
    </div>
  </section>`;
}

function freshTokens({ usage }: StoryTurn['turn']): number | undefined {
  return usage?.prompt === undefined ? undefined : Math.max(0, usage.prompt - (usage.cached ?? 0));
}

function chart(title: string, format: (value: number) => string, series: readonly Series[]): Html {
  const known = series.filter(({ values }) => values.some((value) => value !== undefined && value > 0));
  if (known.length === 0)
    return markup`<figure>
      <figcaption><b>${title}</b> <span class="fine">not known</span></figcaption>
    </figure>`;
  const length = series[0]?.values.length ?? 0;
  const sums = Array.from({ length }, (_, i) => known.reduce((sum, { values }) => sum + (values[i] ?? 0), 0));
  const peak = Math.max(...sums);
  const at = sums.indexOf(peak) + 1;
  const total = format(sums.reduce((sum, value) => sum + value, 0));
  const summary = `${total} in all, at most ${format(peak)} in turn ${at}`;
  const floors = Array.from({ length }, () => 0);
  return markup`<figure>
    <figcaption><b>${title}</b> <span class="fine">${summary}</span></figcaption>
    <svg
      class="chart"
      role="img"
      aria-label="${title} per turn: ${summary}"
      viewBox="0 0 ${Math.max(length, FEWEST_SLOTS) * SLOT} ${HEIGHT}"
      height="${HEIGHT}"
      preserveAspectRatio="none"
    >
      ${known.map(({ paint, values }) => markup`<path class="${paint}" d="${barsOf(values, floors, peak)}" />`)}
    </svg>
    ${
      known.length > 1 &&
      markup`<ul class="keys">
        ${known.map(({ name, paint }) => markup`<li><span class="swatch ${paint}"></span>${name}</li>`)}
      </ul>`
    }
  </figure>`;
}

/** The bars of one series, stacked on those before it; `floors` grows. */
function barsOf(values: readonly (number | undefined)[], floors: number[], peak: number): string {
  let path = '';
  for (const [i, value] of values.entries()) {
    if (value === undefined || value <= 0) continue;
    const floor = floors[i] as number;
    const height = round((value / peak) * HEIGHT);
    path += `M${i * SLOT + 1} ${round(HEIGHT - (floor / peak) * HEIGHT)}h${BAR}v-${height}h-${BAR}z`;
    floors[i] = floor + value;
  }
  return path;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
