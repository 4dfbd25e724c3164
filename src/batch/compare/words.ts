import type { Comparison, FigureChange, PassRate } from '../../evidence/compare/compare.js';
import type { Limited, LimitCheck } from '../../evidence/compare/gate.js';
import type { Figure } from '../../evidence/compare/sample.js';
import { formatDuration } from '../../lib/duration.js';
import { formatDollars } from '../../lib/money.js';
import { count } from '../../lib/text.js';

/** How the reports call what is compared. */
const NAMES: Readonly<Record<Limited, string>> = {
  pass_rate: 'pass rate',
  lost: 'tasks lost',
  missing: 'tasks missing',
  cost_usd: 'cost',
  tokens: 'tokens',
  turns: 'turns',
  duration_ms: 'time',
  tool_calls: 'tool calls',
  denials: 'denials',
};

const NOISE = 'inside the noise';
const TOO_FEW = 'too few tasks to tell from noise';

export function shown(name: Figure, value: number): string {
  if (name === 'cost_usd') return formatDollars(value);
  if (name === 'duration_ms') return formatDuration(value);
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 2 : 0 });
}

/** `91.3 % (87.6 to 94.0)`. */
function rateText({ rate, low, high }: PassRate): string {
  const digits = (share: number) => (share * 100).toFixed(1);
  return `${digits(rate)} % (${digits(low)} to ${digits(high)})`;
}

/** `+2.7 points`. */
function pointsText(difference: number): string {
  return `${signed(difference * 100, 1)} points`;
}

/** `-10.6 %`; without a percentage where A has nothing to compare with. */
function changeText({ name, a, b, change }: FigureChange): string {
  if (a === b) return 'the same';
  return change === null ? `+${shown(name, b)}` : `${signed(change * 100, 1)} %`;
}

function noiseText(noise: boolean | null): string {
  return noise === null ? TOO_FEW : noise ? NOISE : '';
}

/** The sentences about what could not be compared. */
function gaps({ only_a, only_b, not_ended }: Comparison): string[] {
  return [
    ...(only_a.length > 0 ? [`${count(only_a.length, 'task')} only in A`] : []),
    ...(only_b.length > 0 ? [`${count(only_b.length, 'task')} only in B`] : []),
    ...(not_ended.a.length > 0 ? [`${count(not_ended.a.length, 'task')} not ended in A`] : []),
    ...(not_ended.b.length > 0 ? [`${count(not_ended.b.length, 'task')} not ended in B`] : []),
  ];
}

/** `cost +10%: $0.012 -> $0.02, accepted up to $0.0132 (inside the noise)`. */
export function limitText({ name, limit, ok, a, b, allowed, noise }: LimitCheck): string {
  if (a === null || b === null || allowed === null) return `${NAMES[name]} ${limit}: not known`;
  const values = `${valueText(name, a)} -> ${valueText(name, b)}, accepted ${name === 'pass_rate' ? 'down' : 'up'} to ${valueText(name, allowed)}`;
  return `${NAMES[name]} ${limit}: ${values}${!ok && noise ? ` (${NOISE})` : ''}`;
}

function valueText(name: Limited, value: number): string {
  if (name === 'pass_rate') return `${(value * 100).toFixed(1)} %`;
  return name === 'lost' || name === 'missing' ? String(value) : shown(name, value);
}

function signed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return value > 0 ? `+${text}` : text;
}

/** What the reports show side by side: a name, A, B, the change, and what to think of it. */
export function rowsOf({ pass_rate, figures }: Comparison): string[][] {
  const { a, b, difference, noise } = pass_rate;
  return [
    [
      NAMES.pass_rate,
      rateText(a),
      rateText(b),
      pointsText(difference),
      difference === 0 ? '' : noiseText(noise),
    ],
    ...figures.map((figure) => [
      `${NAMES[figure.name]} per task`,
      shown(figure.name, figure.a),
      shown(figure.name, figure.b),
      changeText(figure),
      figure.a === figure.b ? '' : noiseText(figure.noise),
    ]),
  ];
}

/** `300 tasks compared; 2 tasks only in A`. */
export function scopeText(comparison: Comparison): string {
  return [`${count(comparison.tasks, 'task')} compared`, ...gaps(comparison)].join('; ');
}
