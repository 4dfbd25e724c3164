import { formatDuration } from '../../../lib/duration.js';
import { formatDollars } from '../../../lib/money.js';
import { sentence, formatNumber } from '../../../lib/text.js';
import { markup, type Html } from '../../../reporters/html/markup.js';
import type { BatchState, BatchStory } from '../story.js';

/** How it ended, what it took, and how to continue it: what people read first. */
export function batchHead({ record, state, folder }: BatchStory): Html {
  return markup`<div class="outcome ${toneOf(state)}">
  <h1>${batchTitle(state)}</h1>
  ${state.exit_code !== null && markup`<p class="code">${batchExit(state)}</p>`}
  <p class="meaning">Batch ${record.name}${state.message && `: ${sentence(state.message)}`}${state.reset_at !== null && ` It resets at ${state.reset_at}.`}</p>
  ${state.continue !== null && markup`<p class="go-on"><b>Continue with</b> <code>${state.continue}</code></p>`}
</div>
${bar(state)}
${batchFigures(state)}
<dl class="facts"><div><dt>Folder</dt><dd><code>${folder}</code></dd></div><div><dt>Batch</dt><dd><code>${record.batch_id}</code></dd></div></dl>`;
}

export function batchTitle({ status }: BatchState): string {
  const words = status.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function toneOf({ status }: BatchState): 'good' | 'wait' | 'bad' {
  if (status === 'completed') return 'good';
  return ['approval_required', 'cancelled', 'running'].includes(status) ? 'wait' : 'bad';
}

function batchExit({ exit_code, reason }: BatchState): string {
  return reason === null ? `exit ${exit_code}` : `exit ${exit_code} · ${reason}`;
}

/** The share of each state, wide enough to see even a single task among thousands. */
function bar({ tasks }: BatchState): Html {
  const parts = [
    ['completed', tasks.completed],
    ['failed', tasks.failed],
    ['pending', tasks.pending],
  ] as const;
  const text = parts.map(([name, n]) => `${n} ${name}`).join(', ');
  const total = Math.max(1, tasks.total);
  let from = 0;
  const shapes = parts.map(([name, n]) => {
    const at = from;
    from += (n / total) * 100;
    return n > 0
      ? markup`<rect class="${name}" x="${at.toFixed(3)}%" width="${Math.max(0.3, from - at).toFixed(3)}%" height="100%"/>`
      : markup``;
  });
  return markup`<svg class="shares" role="img" aria-label="${text}">${shapes}</svg>`;
}

function batchFigures({
  tasks,
  stability,
  cost_usd,
  tokens,
  requests,
  rejected,
  duration_ms,
  waited_ms,
}: BatchState): Html {
  const all: [name: string, value: string, more?: string, tone?: string][] = [
    ['Tasks', formatNumber(tasks.total)],
    [
      'Completed',
      formatNumber(tasks.completed),
      tasks.skipped > 0 ? `${formatNumber(tasks.skipped)} before` : '',
    ],
    ['Failed', formatNumber(tasks.failed), '', tasks.failed > 0 ? 'bad' : 'plain'],
    ['Pending', formatNumber(tasks.pending)],
    ...(stability ? [['Flaky', formatNumber(stability.flaky)] as [string, string]] : []),
    ['Cost', cost_usd === null ? 'not known' : formatDollars(cost_usd)],
    ['Tokens', tokens === null ? 'not known' : formatNumber(tokens)],
    ['Requests', formatNumber(requests), rejected > 0 ? `${formatNumber(rejected)} rejected` : ''],
    [
      'Duration',
      formatDuration(duration_ms),
      waited_ms > 0 ? `${formatDuration(waited_ms)} at the gate` : '',
    ],
  ];
  return markup`<dl class="figures">${all.map(
    ([name, value, more, tone]) =>
      markup`<div class="${tone ?? 'plain'}"><dt>${name}</dt><dd>${value}${more && markup`<small>${more}</small>`}</dd></div>`,
  )}</dl>`;
}
