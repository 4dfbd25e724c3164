import { describe, expect, test } from '@jest/globals';
import { Budget, type BudgetSettings } from '../../src/agent/budget.js';

interface Circumstances extends Partial<Omit<BudgetSettings, 'limits'>> {
  readonly limits: Partial<BudgetSettings['limits']>;
}

const PRICES = { input: 1, output: 10 };

function open({ limits, ...more }: Circumstances): Budget {
  return new Budget({
    limits: { turns: 99, tool_calls: 99, time_ms: 1e9, denials: 99, retry_time_ms: 1e6, ...limits },
    pricesOf: () => PRICES,
    elapsedMs: () => 0,
    denials: () => 0,
    ...more,
  });
}

const dollar = { prompt: 500_000, output: 50_000 };

describe('a limit', () => {
  test('of turns lets exactly so many through', () => {
    const budget = open({ limits: { turns: 2 } });
    expect(budget.exceeded()).toBeUndefined();
    budget.chargeTurn(undefined, 'm');
    expect(budget.exceeded()).toBeUndefined();
    budget.chargeTurn(undefined, 'm');
    expect(budget.exceeded()).toMatchObject({ status: 'limit', reason: 'turns' });
  });

  test('of calls is reached by the call after the last one', () => {
    const budget = open({ limits: { tool_calls: 2 } });
    expect([budget.admitCall(), budget.admitCall()]).toEqual([undefined, undefined]);
    expect(budget.exceeded()).toBeUndefined();
    expect(budget.admitCall()).toEqual({
      type: 'cancelled',
      message: 'Not run: the limit of 2 tool calls is reached.',
    });
    expect(budget.exceeded()).toMatchObject({ status: 'limit', reason: 'tool_calls' });
  });

  test('of tokens counts answers that were thrown away', () => {
    const budget = open({ limits: { tokens: 100 } });
    budget.chargeTokens({ total: 60 }, 'm');
    expect(budget.exceeded()).toBeUndefined();
    budget.chargeTurn({ total: 60 }, 'm');
    expect(budget.exceeded()).toMatchObject({ reason: 'tokens' });
  });

  test('of cost counts each answer by its own model', () => {
    const pricesOf = (model: string) => (model === 'dear' ? { input: 2, output: 20 } : PRICES);
    const budget = open({ limits: { cost_usd: 3 }, pricesOf });
    expect(budget.chargeTurn(dollar, 'cheap')).toBe(1);
    expect(budget.exceeded()).toBeUndefined();
    expect(budget.chargeTokens(dollar, 'dear')).toBe(2);
    expect(budget.exceeded()).toMatchObject({ status: 'limit', reason: 'cost' });
  });

  test('of cost is reached to the cent, however the sum is made up', () => {
    const budget = open({ limits: { cost_usd: 0.3 } });
    for (let i = 0; i < 3; i++) {
      expect(budget.exceeded()).toBeUndefined();
      budget.chargeTurn({ prompt: 100_000, output: 0 }, 'm');
    }
    expect(budget.exceeded()).toMatchObject({ reason: 'cost' });
  });

  test.each(['turns', 'tokens', 'cost_usd'])('of 0 %s lets nothing through', (name) => {
    expect(open({ limits: { [name]: 0 } }).exceeded()).toMatchObject({ status: 'limit' });
  });

  test.each([
    [{ tokens: 10 }, 'Not run: the limit of 10 tokens is reached.'],
    [{ cost_usd: 0.5 }, 'Not run: the cost limit of $0.50 is reached.'],
  ])('of %j that a turn has used up lets no call of that turn run', (limits, message) => {
    const budget = open({ limits });
    budget.chargeTurn(dollar, 'm');
    expect(budget.admitCall()).toEqual({ type: 'cancelled', message });
    expect(budget.exceeded()?.reason).not.toBe('tool_calls');
  });

  test('says what it is, what was used, and what raises it', () => {
    const ends = [{ turns: 1 }, { tokens: 10 }, { cost_usd: 0.5 }].map((limits) => {
      const budget = open({ limits });
      budget.chargeTurn(dollar, 'm');
      const { message, hint } = budget.exceeded()?.error ?? {};
      return [message, hint];
    });
    expect(ends).toEqual([
      [
        'stopped at the limit of 1 turn (used: 1 turn)',
        'Raise it with --max-turns, or by limits.turns where a policy sets it.',
      ],
      [
        'stopped at the limit of 10 tokens (used: 550000 tokens)',
        'Raise it with --max-tokens, or by limits.tokens where a policy sets it.',
      ],
      [
        'stopped at the cost limit of $0.50 (used: $1.00)',
        'Raise it with --max-cost, or by limits.cost_usd where a policy sets it.',
      ],
    ]);
  });
});

describe('the cost of a turn', () => {
  test('is not known without a price, without usage, or if the usage is a guess', () => {
    expect(open({ limits: {}, pricesOf: () => undefined }).chargeTurn(dollar, 'm')).toBeUndefined();
    expect(open({ limits: {} }).chargeTurn(undefined, 'm')).toBeUndefined();
    expect(open({ limits: {} }).chargeTurn({ ...dollar, estimated: true }, 'm')).toBeUndefined();
  });

  test('counts towards its limit even if it is a guess', () => {
    const budget = open({ limits: { cost_usd: 1 } });
    budget.chargeTurn({ ...dollar, estimated: true }, 'm');
    expect(budget.exceeded()).toMatchObject({ reason: 'cost' });
  });
});

describe('a notice', () => {
  /** How many turns a limit of turns is announced after. */
  const announcedAfter = (turns: number) => {
    const budget = open({ limits: { turns } });
    for (let taken = 1; taken <= turns; taken++) {
      budget.chargeTurn(undefined, 'm');
      if (budget.notices().length > 0) return taken;
    }
    return undefined;
  };
  test.each([
    [1, undefined],
    [4, undefined],
    [5, 4],
    [6, 5],
    [35, 28],
    [100, 80],
  ])('of %i turns comes after %s', (turns, expected) => {
    expect(announcedAfter(turns)).toBe(expected);
  });

  test('is given once for each limit, when it is due', () => {
    let elapsed = 0;
    let denials = 0;
    const limits = { turns: 10, tool_calls: 2, tokens: 1000, cost_usd: 1, time_ms: 60_000, denials: 5 };
    const budget = open({ limits, elapsedMs: () => elapsed, denials: () => denials });
    const due = () => budget.notices().map(({ limit, used, value }) => [limit, used, value]);
    expect(due()).toEqual([]);
    budget.chargeTurn({ prompt: 0, output: 800 }, 'm');
    expect(due()).toEqual([['tokens', 800, 1000]]);
    elapsed = 48_000.4;
    denials = 4;
    expect(due()).toEqual([
      ['time', 48_000, 60_000],
      ['denials', 4, 5],
    ]);
    budget.admitCall();
    budget.admitCall();
    expect(due()).toEqual([['tool_calls', 2, 2]]);
    expect(due()).toEqual([]);
  });

  test('is not given where the run ends anyway', () => {
    const budget = open({ limits: { turns: 1, tokens: 100 } });
    budget.chargeTurn({ prompt: 50, output: 40 }, 'm');
    expect(budget.notices()).toEqual([]);
  });

  test('tells the model what is left and what to do', () => {
    const budget = open({ limits: { cost_usd: 1.25 } });
    budget.chargeTurn(dollar, 'm');
    expect(budget.notices()).toEqual([
      {
        type: 'limit_notice',
        limit: 'cost',
        used: 1,
        value: 1.25,
        message: expect.stringMatching(/^Notice: this run has used \$1\.00, and ends at \$1\.25\. Wrap up/),
      },
    ]);
  });
});
