import { formatDuration } from '../../lib/duration.js';
import { count, oneLine } from '../../lib/text.js';
import { checkKey, type Check } from '../checks.js';
import { markup, type Html } from './markup.js';
import type { Row } from './row.js';

const TEXT_WIDTH = 220;

/** The success conditions and whether they were met: directly after the outcome. */
export function checks(all: readonly Check[], find: (key: string) => Row | undefined): Html {
  if (all.length === 0) return markup``;
  return markup`<section class="checks" aria-labelledby="checks">
    <h2 id="checks">${checksTitle(all)}</h2>
    <ul>${all.map((check) => checkOf(check, find))}</ul>
  </section>`;
}

function checksTitle(all: readonly Check[]): string {
  const unmet = all.filter(({ ok }) => ok === false).length;
  if (unmet > 0) return `${count(unmet, 'condition')} not met`;
  const passed = all.filter(({ ok }) => ok).length;
  if (passed === all.length) return `${count(passed, 'check')} passed`;
  return `${passed} of ${count(all.length, 'check')} passed`;
}

function checkOf(check: Check, find: (key: string) => Row | undefined): Html {
  const { ok, event } = check;
  const row = event && find(checkKey(event));
  const { name, isCommand, message } = check;
  const text = isCommand
    ? markup`<code>${oneLine(`${name}: ${message}`, TEXT_WIDTH)}</code>`
    : markup`${name} (${oneLine(message, TEXT_WIDTH)})`;
  const facts = event ? [triesOf(event.attempt), timeOf(event.duration_ms)].filter(Boolean).join(', ') : '';
  const [tone, mark, word] = ok === undefined ? UNKNOWN : ok ? PASSED : FAILED;
  return markup`<li class="${tone}"><span class="mark" aria-hidden="true">${mark}</span><span class="hidden">${word}: </span>
    <span>${row ? markup`<a href="#e${row.seq}">${text}</a>` : text}${facts && markup` <span class="fine">${facts}</span>`}</span></li>`;
}

const PASSED = ['good', '✓', 'passed'] as const;
const FAILED = ['bad', '✗', 'failed'] as const;
const UNKNOWN = ['unknown', '–', 'not looked at'] as const;

function triesOf(attempt: number): string {
  return attempt > 1 ? `after ${count(attempt - 1, 'repair')}` : '';
}

function timeOf(ms: number): string {
  return ms > 0 ? formatDuration(ms) : '';
}
