import { describe, expect, test } from '@jest/globals';
import { compareSides, type Comparison } from '../../../src/evidence/compare/compare.js';
import { checkLimits, parseLimit, type Limit } from '../../../src/evidence/compare/gate.js';
import type { Figure, Sample } from '../../../src/evidence/compare/sample.js';

function sample(
  key: string,
  passed: boolean | undefined,
  figures: Partial<Record<Figure, number>> = {},
  more: Partial<Sample> = {},
): Sample {
  const runs = { passed: passed ? 1 : 0, failed: passed === false ? 1 : 0 };
  const status = passed === undefined ? 'pending' : passed ? 'completed' : 'unverified';
  return { key, name: key, status, passed, runs, figures, tools: {}, ...more };
}

function compared(a: readonly Sample[], b: readonly Sample[]): Comparison {
  return compareSides({ name: 'A', samples: a }, { name: 'B', samples: b });
}

/** `n` tasks, of which the first `failing` fail. */
function tasks(
  n: number,
  failing: number,
  figures: (i: number) => Partial<Record<Figure, number>> = () => ({}),
) {
  return Array.from({ length: n }, (_, i) => sample(`t${i}`, i >= failing, figures(i)));
}

describe('compareSides', () => {
  test('sorts out what cannot be compared', () => {
    const a = [
      sample('both', true),
      sample('gone', true),
      sample('open-a', undefined),
      sample('open-b', true),
    ];
    const b = [
      sample('both', true),
      sample('new', true),
      sample('open-a', true),
      sample('open-b', undefined),
    ];
    expect(compared(a, b)).toMatchObject({
      tasks: 1,
      only_a: ['gone'],
      only_b: ['new'],
      not_ended: { a: ['open-a'], b: ['open-b'] },
      pass_rate: { a: { passed: 1, runs: 1 }, b: { passed: 1, runs: 1 } },
    });
  });

  test('names what was gained and lost, and whether it may be a coincidence', () => {
    const few = compared(tasks(20, 3), tasks(20, 0));
    expect(few.gained.map(({ task }) => task)).toEqual(['t0', 't1', 't2']);
    expect(few.gained[0]).toEqual({ task: 't0', a: 'unverified', b: 'completed', flaky: false });
    expect([few.lost, few.pass_rate.noise]).toEqual([[], true]);
    expect(few.pass_rate.difference).toBeCloseTo(0.15);
    expect(compared(tasks(20, 0), tasks(20, 8)).pass_rate.noise).toBe(false);
  });

  test('counts the runs of a repeated task, and calls it flaky', () => {
    const flaky = sample('t', true, {}, { runs: { passed: 2, failed: 1 } });
    const broken = sample('t', false, {}, { runs: { passed: 0, failed: 3 } });
    const { pass_rate, lost } = compared([flaky], [broken]);
    expect([pass_rate.a.rate, pass_rate.b.rate]).toEqual([2 / 3, 0]);
    expect(lost).toEqual([{ task: 't', a: 'completed', b: 'unverified', flaky: true }]);
  });

  test('tells a real difference from noise, task by task', () => {
    // Tasks differ a hundredfold, but each is a tenth cheaper.
    const cost = (i: number) => 0.01 * 1.1 ** i;
    const a = tasks(50, 0, (i) => ({ cost_usd: cost(i), turns: 5 + (i % 7) }));
    const b = tasks(50, 0, (i) => ({ cost_usd: 0.9 * cost(i), turns: 5 + ((i + 3) % 7) }));
    const [cheaper, turns] = compared(a, b).figures;
    expect(cheaper).toMatchObject({ name: 'cost_usd', tasks: 50, noise: false });
    expect(cheaper?.change).toBeCloseTo(-0.1);
    expect(turns).toMatchObject({ name: 'turns', noise: true });
    const [one] = compared(a.slice(0, 1), b.slice(0, 1)).figures;
    expect(one).toMatchObject({ interval: null, noise: null });
  });

  test('uses only tasks whose figure is known on both sides, and shows no figure without any', () => {
    const a = [sample('x', true, { cost_usd: 1, tokens: 10 }), sample('y', true, { cost_usd: 5 })];
    const b = [sample('x', true, { cost_usd: 2 }), sample('y', true)];
    expect(compared(a, b).figures).toMatchObject([{ name: 'cost_usd', tasks: 1, a: 1, b: 2, change: 1 }]);
  });

  test('lists tools by how much their use differs', () => {
    const a = [sample('x', true, {}, { tools: { read_file: 4, glob: 1 } })];
    const b = [sample('x', true, {}, { tools: { read_file: 3, run_shell_command: 2, glob: 1 } })];
    expect(compared(a, b).tools.map(({ name }) => name)).toEqual(['run_shell_command', 'read_file', 'glob']);
  });
});

describe('a limit', () => {
  test.each([
    ['cost_usd', '+10%', { amount: 10, relative: true }],
    ['cost_usd', 0.5, { amount: 0.5, relative: false }],
    ['pass_rate', -0, { text: '-0', amount: 0 }],
    ['pass_rate', -2.5, { amount: 2.5, relative: false }],
    ['pass_rate', '-5%', { amount: 5, relative: true }],
    ['lost', 3, { amount: 3 }],
    ['duration_ms', '0%', { amount: 0, relative: true }],
  ])('%s: %s', (name, value, expected) => {
    expect(parseLimit(name, value)).toMatchObject(expected);
  });

  test.each([
    ['cost', '+10%', /cannot be limited/],
    ['constructor', '+10%', /cannot be limited/],
    ['cost_usd', '-10%', /limits what is better.*write \+10%/],
    ['pass_rate', 5, /limits what is better.*write -5/],
    ['pass_rate', '+5%', /limits what is better.*write -5%/],
    ['lost', '+5%', /number of tasks/],
    ['cost_usd', 'ten', /is not a limit; write it like \+10% or \+0/],
    ['cost_usd', null, /is not a limit/],
    ['cost_usd', ['+10%'], /is not a limit/],
    ['cost_usd', Infinity, /is not a limit/],
  ])('not %s: %s', (name, value, fault) => {
    expect(parseLimit(name, value)).toEqual({ fault: expect.stringMatching(fault) });
  });

  const limit = (name: string, value: unknown) => parseLimit(name, value) as Limit;
  const verdicts = (comparison: Comparison, ...limits: Limit[]) =>
    Object.fromEntries(checkLimits(comparison, limits).map(({ name, ok }) => [name, ok]));

  test('holds up to its value, and not beyond', () => {
    const at = (factor: number) =>
      compared(
        tasks(10, 1, () => ({ cost_usd: 0.1, tokens: 100 })),
        tasks(10, 1, () => ({ cost_usd: 0.1 * factor, tokens: 100 })),
      );
    const limits = [limit('cost_usd', '+10%'), limit('tokens', 0), limit('pass_rate', -0)];
    expect(verdicts(at(1.1), ...limits)).toEqual({
      cost_usd: true,
      tokens: true,
      pass_rate: true,
      missing: true,
    });
    expect(verdicts(at(1.11), ...limits)).toMatchObject({ cost_usd: false, tokens: true });
    const worse = compared(tasks(10, 1), tasks(10, 2));
    expect(verdicts(worse, limit('pass_rate', -10), limit('lost', 1))).toMatchObject({
      pass_rate: true,
      lost: true,
    });
    expect(verdicts(worse, limit('pass_rate', -9.9), limit('lost', 0))).toMatchObject({
      pass_rate: false,
      lost: false,
    });
    expect(verdicts(worse, limit('pass_rate', '-11%'))).toMatchObject({ pass_rate: false });
    expect(verdicts(worse, limit('pass_rate', '-12%'))).toMatchObject({ pass_rate: true });
  });

  test('is broken if what it limits is not known, or tasks are missing', () => {
    const a = tasks(10, 0);
    expect(verdicts(compared(a, a), limit('cost_usd', '+10%'))).toEqual({ cost_usd: false, missing: true });
    const short = compared(a, a.slice(0, 8));
    expect(verdicts(short, limit('pass_rate', -0))).toEqual({ pass_rate: true, missing: false });
    expect(verdicts(short, limit('missing', 2))).toEqual({ missing: true });
  });
});
