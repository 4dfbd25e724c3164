import type { Comparison } from './compare.js';
import { FIGURES } from './sample.js';

/** What a gate can limit, and which way is worse. */
const WORSE = {
  pass_rate: -1,
  lost: 1,
  missing: 1,
  ...(Object.fromEntries(FIGURES.map((name) => [name, 1])) as Record<(typeof FIGURES)[number], 1>),
} as const;
export type Limited = keyof typeof WORSE;
export const LIMITED = Object.keys(WORSE) as Limited[];

/** How much worse B may be. */
export interface Limit {
  readonly name: Limited;
  /** As in the file: `+10%`, `-0`. */
  readonly text: string;
  /** Not negative: for the pass rate percentage points that it may fall, otherwise what a figure may rise. */
  readonly amount: number;
  /** The amount is a share of A's value, in percent. */
  readonly relative: boolean;
}

export interface LimitCheck {
  readonly name: Limited;
  readonly limit: string;
  readonly ok: boolean;
  /** Null if it is not known. */
  readonly a: number | null;
  readonly b: number | null;
  /** The worst value of B that would be accepted. */
  readonly allowed: number | null;
  /** The difference may be a coincidence; null with too few tasks to tell, or for numbers of tasks. */
  readonly noise: boolean | null;
}

/** Tasks of A that B has not done say nothing about B, so none may be missing unless the gate says how many. */
const ALWAYS: Limit = { name: 'missing', text: '+0', amount: 0, relative: false };

/** Reads `+10%`, `-0`, `0.5`; or says what is wrong. */
export function parseLimit(name: string, value: unknown): Limit | { readonly fault: string } {
  if (!isLimited(name)) return { fault: `${name} cannot be limited; ${LIMITED.join(', ')} can` };
  const text = Object.is(value, -0) ? '-0' : String(value);
  const match = /^([+-]?)(\d+(?:\.\d+)?|\.\d+)(%?)$/.exec(text);
  if (!match || (typeof value !== 'string' && typeof value !== 'number'))
    return { fault: `${name}: ${text} is not a limit; write it like +10% or ${sign(name)}0` };
  const [, given = '', digits = '', percent = ''] = match;
  const amount = Number(digits);
  // Without a sign it is what a figure may rise by; a rise of the pass rate needs no limit.
  if ((given || '+') !== sign(name) && amount !== 0)
    return {
      fault: `${name}: ${text} limits what is better, not what is worse; write ${sign(name)}${digits}${percent}`,
    };
  if (percent !== '' && (name === 'lost' || name === 'missing'))
    return { fault: `${name}: it is a number of tasks, without %` };
  return { name, text, amount, relative: percent !== '' };
}

function isLimited(name: string): name is Limited {
  return Object.hasOwn(WORSE, name);
}

function sign(name: Limited): '+' | '-' {
  return WORSE[name] > 0 ? '+' : '-';
}

/** Whether each limit holds. What is not known does not hold. */
export function checkLimits(comparison: Comparison, limits: readonly Limit[]): LimitCheck[] {
  const all = limits.some(({ name }) => name === 'missing') ? limits : [...limits, ALWAYS];
  return all.map((limit) => checkLimit(comparison, limit));
}

function checkLimit(comparison: Comparison, { name, text, amount, relative }: Limit): LimitCheck {
  const known = valuesOf(comparison, name);
  if (!known) return { name, limit: text, ok: false, a: null, b: null, allowed: null, noise: null };
  const { a, b, noise } = known;
  const step = relative ? (a * amount) / 100 : name === 'pass_rate' ? amount / 100 : amount;
  const allowed = a + WORSE[name] * step;
  // Sums of fractions differ in their last digits.
  const ok = WORSE[name] * (b - allowed) <= Math.abs(allowed) * 1e-9;
  return { name, limit: text, ok, a, b, allowed, noise };
}

function valuesOf(
  { pass_rate, lost, only_a, not_ended, figures }: Comparison,
  name: Limited,
): (Pick<LimitCheck, 'noise'> & { readonly a: number; readonly b: number }) | undefined {
  switch (name) {
    case 'pass_rate':
      return { a: pass_rate.a.rate, b: pass_rate.b.rate, noise: pass_rate.noise };
    case 'lost':
      return { a: 0, b: lost.length, noise: pass_rate.noise };
    case 'missing':
      return { a: 0, b: only_a.length + not_ended.b.length, noise: null };
    default:
      return figures.find((figure) => figure.name === name);
  }
}
