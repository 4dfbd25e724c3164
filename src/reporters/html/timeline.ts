import { formatDuration } from '../../lib/duration.js';
import { markup, type Html } from './markup.js';
import { isProblem, type Row } from './row.js';
import { lanesOf, timeSpent } from './spans.js';

const WIDTH = 1000;
const LANE = 10;
const GAP = 2;
const MOST_LANES = 8;
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000];

/** When everything happened, on one strip, and how much time each kind of work took. */
export function timeline(rows: readonly Row[], total: number): Html {
  const span = Math.max(total, 1);
  const lanes = [
    rows.filter(({ kind }) => kind === 'turn' || kind === 'wait' || kind === 'check'),
    ...lanesOf(
      rows.filter(({ kind, state }) => kind === 'call' && state !== 'waiting'),
      MOST_LANES,
    ),
  ];
  const height = lanes.length * (LANE + GAP);
  const classes = ['model', 'wait', 'tool', 'check', 'trouble'] as const;
  return markup`<section class="timeline" aria-labelledby="time">
    <h2 id="time">Where the time went</h2>
    ${shares(rows, span)}
    <div class="strip" id="strip">
      <svg
        class="lanes"
        role="img"
        aria-label="Turns, calls and checks in time"
        viewBox="0 0 ${WIDTH} ${height}"
        height="${height}"
        preserveAspectRatio="none"
      >
        ${classes.map((name) => markup`<path class="${name}" d="${svgPath(lanes, name, span)}" />`)}
        <rect class="shade" x="0" width="0" y="0" height="${height}" />
        <rect class="shade" x="${WIDTH}" width="0" y="0" height="${height}" />
      </svg>
      <svg class="axis" aria-hidden="true" height="18">
        ${ticks(span).map(
          (at) =>
            markup`<line x1="${percent(at, span)}" x2="${percent(at, span)}" y1="0" y2="4" /><text
                x="${percent(at, span)}"
                dx="3"
                y="13"
                >${formatDuration(at)}</text
              >`,
        )}
      </svg>
    </div>
    <p class="zoom" hidden>
      <button type="button" data-zoom="in">Zoom in</button>
      <button type="button" data-zoom="out">Zoom out</button>
      <button type="button" data-zoom="back" aria-label="Earlier">←</button>
      <button type="button" data-zoom="on" aria-label="Later">→</button>
      <button type="button" data-zoom="all">All</button> <output id="window"></output>
    </p>
  </section>`;
}

const TIMED: readonly Row['kind'][] = ['call', 'check'];

type Paint = 'model' | 'wait' | 'tool' | 'check' | 'trouble';

function paintOf({ kind, state }: Row): Paint {
  if (kind === 'turn') return 'model';
  if (kind === 'wait') return 'wait';
  if (isProblem(state)) return 'trouble';
  return kind === 'check' ? 'check' : 'tool';
}

/** One path for all bars of a colour: a thousand are drawn at once. */
function svgPath(lanes: readonly (readonly Row[])[], paint: Paint, span: number): string {
  return lanes
    .flatMap((lane, i) =>
      lane
        .filter((row) => paintOf(row) === paint)
        .map(({ start, end }) => {
          const width = scaled(end - start, span);
          return `M${scaled(start, span)} ${i * (LANE + GAP)}h${width}v${LANE}h-${width}z`;
        }),
    )
    .join('');
}

function scaled(ms: number, span: number): number {
  return Math.round((ms / span) * WIDTH * 100) / 100;
}

/** A position on the axis. */
export function percent(ms: number, span: number): string {
  return `${Math.round((ms / span) * 1e5) / 1e3}%`;
}

function ticks(span: number): number[] {
  const step = STEPS.find((each) => span / each <= 8) ?? Math.ceil(span / 8 / 60_000) * 60_000;
  return Array.from({ length: Math.ceil(span / step) }, (_, i) => i * step).filter((at) => at < span * 0.96);
}

function shares(rows: readonly Row[], span: number): Html {
  const { model, waits, tools, checks, rest } = timeSpent(rows, span);
  const hasTrouble = rows.some((row) => TIMED.includes(row.kind) && paintOf(row) === 'trouble');
  const all = [
    ['model', 'Model', model],
    ['wait', 'Waiting to retry', waits],
    ['tool', 'Tools', tools],
    ['check', 'Checks', checks],
    ['rest', 'Everything else', rest],
  ] as const;
  let reached = 0;
  const bars = all.map(([name, , ms]) => {
    const bar = markup`<rect
      class="${name}"
      x="${percent(reached, span)}"
      width="${percent(ms, span)}"
      height="100%"
    />`;
    reached += ms;
    return bar;
  });
  const keys = all
    .filter(([, , ms]) => ms > 0)
    .map(
      ([name, label, ms]) =>
        markup`<li>
          <span class="swatch ${name}"></span>${label} <b>${formatDuration(ms)}</b>
          <span class="fine">${Math.round((ms / span) * 100)} %</span>
        </li>`,
    );
  return markup`<svg class="shares" aria-hidden="true" height="12">${bars}</svg>
    <ul class="keys">
      ${keys}
      ${hasTrouble && markup`<li><span class="swatch trouble"></span>Failed calls and checks</li>`}
    </ul>`;
}
