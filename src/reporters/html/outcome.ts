import { formatDuration } from '../../lib/duration.js';
import { formatDollars } from '../../lib/money.js';
import type { InitEvent, ResultEvent, RunStats } from '../../protocol/event.js';
import { MEANINGS, type Status } from '../../protocol/outcome.js';
import { callCounts } from '../call-counts.js';
import { markup, type Html } from './markup.js';
import { formatNumber } from '../../lib/text.js';

/** Ends that are not failures: waiting for approval, or stopped. */
const PATIENT: readonly Status[] = ['approval_required', 'cancelled'];

/** How it ended and why: what people read first. */
export function outcomeBlock(result: ResultEvent | undefined): Html {
  return markup`<div class="outcome ${toneOf(result)}">
    <h1>${outcomeTitle(result)}</h1>
    <p class="code">${runExit(result)}</p>
    <p class="meaning">${outcomeMeaning(result)}</p>
    ${result?.error && errorBlock(result.error)}
  </div>`;
}

/** What it took. */
export function figureList(stats: RunStats, init: InitEvent | undefined, refused: number): Html {
  const all = figuresOf(stats, init?.replay !== undefined, refused);
  return markup`<dl class="figures">${all.map(
    ({ name, value, more, tone }) =>
      markup`<div class="${tone ?? 'plain'}"><dt>${name}</dt><dd>${value}${more && markup`<small>${more}</small>`}</dd></div>`,
  )}</dl>`;
}

export function outcomeTitle(result: ResultEvent | undefined): string {
  if (!result) return 'No result';
  const words = result.status.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function toneOf(result: ResultEvent | undefined): 'good' | 'wait' | 'bad' {
  if (result?.status === 'completed') return 'good';
  return result && PATIENT.includes(result.status) ? 'wait' : 'bad';
}

function runExit(result: ResultEvent | undefined): string {
  if (!result) return 'killed, or still running';
  return result.reason === undefined
    ? `exit ${result.exit_code}`
    : `exit ${result.exit_code} · ${result.reason}`;
}

function outcomeMeaning(result: ResultEvent | undefined): string {
  if (!result) return 'The transcript ends without a result; this page shows what it has.';
  // The meaning of the status for other commands is not about this run.
  const [meaning = ''] = ((MEANINGS[result.status] as string | undefined) ?? '').split('; `bosun ');
  return meaning && `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}.`.replaceAll('`', '');
}

function errorBlock({ message, hint, code, http_status }: NonNullable<ResultEvent['error']>): Html {
  const http = http_status === undefined ? '' : `, HTTP ${http_status}`;
  return markup`<div class="error-block">
    <p class="message">${message}</p>
    ${hint !== undefined && markup`<p class="hint"><b>What to do</b> ${hint}</p>`}
    <p class="fine">${code}${http}</p>
  </div>`;
}

interface Figure {
  readonly name: string;
  readonly value: string;
  readonly more?: string;
  readonly tone?: 'bad' | 'warn';
}

function figuresOf(stats: RunStats, isReplay: boolean, denials: number): Figure[] {
  const { total_tokens, input_tokens, output_tokens, cost_usd } = stats;
  const { calls, failed, refused } = callCounts(stats, denials);
  return [
    { name: 'Duration', value: formatDuration(stats.duration_ms) },
    {
      name: 'Cost',
      value: cost_usd === undefined ? 'not known' : formatDollars(cost_usd),
      ...(isReplay && { more: 'when it was recorded' }),
    },
    {
      name: 'Tokens',
      value: total_tokens === undefined ? 'not known' : formatNumber(total_tokens),
      ...(total_tokens !== undefined && {
        more: `${shownTokens(input_tokens)} in, ${shownTokens(output_tokens)} out`,
      }),
    },
    {
      name: 'Turns',
      value: formatNumber(stats.turns),
      ...(stats.retries > 0 && { more: `${stats.retries} retried` }),
    },
    {
      name: 'Calls',
      value: formatNumber(calls),
      ...(failed > 0 && { more: `${formatNumber(failed)} failed` }),
    },
    { name: 'Denied', value: formatNumber(refused), ...(refused > 0 && { tone: 'bad' as const }) },
    {
      name: 'Files changed',
      value: stats.files_changed === undefined ? 'not known' : formatNumber(stats.files_changed),
      ...((stats.files_changed ?? 0) > 0 && {
        more: `+${formatNumber(stats.lines_added ?? 0)} -${formatNumber(stats.lines_removed ?? 0)}`,
      }),
    },
  ];
}

function shownTokens(tokens: number | undefined): string {
  return tokens === undefined ? '?' : formatNumber(tokens);
}
