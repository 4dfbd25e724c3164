import { formatDuration } from '../lib/duration.js';
import { formatDollars } from '../lib/money.js';
import { count } from '../lib/text.js';
import type { LimitName } from '../protocol/limit.js';
import { failure, type Outcome } from '../protocol/outcome.js';

interface LimitWords {
  /** What raises it. */
  readonly raise: string;
  /** Formats an amount for people. */
  readonly amount: (n: number) => string;
  /** Its name before its amount. */
  readonly title: string;
}

const flagOrKey = (flag: string, key: string) => `with ${flag}, or by ${key} where a policy sets it`;

const WORDS: Readonly<Record<LimitName, LimitWords>> = {
  turns: {
    raise: flagOrKey('--max-turns', 'limits.turns'),
    amount: (n) => count(n, 'turn'),
    title: 'limit',
  },
  tool_calls: {
    raise: flagOrKey('--max-tool-calls', 'limits.tool_calls'),
    amount: (n) => count(n, 'tool call'),
    title: 'limit',
  },
  tokens: {
    raise: flagOrKey('--max-tokens', 'limits.tokens'),
    amount: (n) => count(n, 'token'),
    title: 'limit',
  },
  cost: { raise: flagOrKey('--max-cost', 'limits.cost_usd'), amount: formatDollars, title: 'cost limit' },
  time: { raise: flagOrKey('--timeout', 'limits.time'), amount: formatDuration, title: 'time limit' },
  denials: { raise: 'by limits.denials', amount: (n) => count(n, 'denied call'), title: 'limit' },
};

/** `limit of 5 turns`, `time limit of 10m 00s`. */
export function limitTitle(limit: LimitName, value: number): string {
  return `${WORDS[limit].title} of ${WORDS[limit].amount(value)}`;
}

/** The end of a run that has used up what it was given. */
export function limitOutcome(limit: LimitName, used: number, value: number): Outcome {
  const message = `stopped at the ${limitTitle(limit, value)} (used: ${WORDS[limit].amount(used)})`;
  return failure('limit', limit, message, { hint: `Raise it ${WORDS[limit].raise}.` });
}

/** What the model is told when a limit is near. */
export function noticeText(limit: LimitName, used: number, value: number): string {
  const { amount } = WORDS[limit];
  return `Notice: this run has used ${amount(used)}, and ends at ${amount(value)}. Wrap up now: finish what matters most, and give your final answer before the limit stops you.`;
}
