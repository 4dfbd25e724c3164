import { describe, expect, test } from '@jest/globals';
import type { Attempt } from '../../src/batch/history.js';
import type { TaskEndEvent } from '../../src/batch/journal/event.js';
import { planTask, type PlanSettings } from '../../src/batch/plan.js';
import { taskResult } from '../../src/batch/results.js';
import { ONCE } from '../../src/batch/spec.js';
import { exitCodeOf, type Status } from '../../src/protocol/outcome.js';

const task = { id: 'a', key: 'k', parts: { prompt: '1' } };
const settings: PlanSettings = {
  attempts: 3,
  retryOn: ['provider_unavailable', 'tool_infra_error'],
  repeat: ONCE,
  retryFailed: false,
  isRedone: () => false,
  canResume: () => true,
  isAnswered: () => false,
};

const CUT: readonly Status[] = ['cancelled', 'quota_exhausted', 'config_error', 'auth'];

function ended(number: number, status: Status): TaskEndEvent {
  return {
    ...{ type: 'task_end', id: 'a', key: 'k', attempt: number, ended: !CUT.includes(status), status },
    ...{ exit_code: exitCodeOf({ status }), reason: null, response: 'r', patch: null, transcript: 't' },
    ...{ cost_usd: 1, tokens: 10, turns: 1, duration_ms: 5, waited_ms: 2, requests: 1 },
  };
}

function attempt(number: number, status?: Status, more: Partial<Attempt> = {}): Attempt {
  const end = status && ended(number, status);
  return {
    ...{ number, key: 'k', parts: { prompt: '1' }, transcript: `t${number}`, workspace: undefined },
    ...{ fresh: false, ends: end ? [end] : [], end },
    ...more,
  };
}

describe('what to do about a task', () => {
  test.each<[string, readonly Attempt[], Partial<PlanSettings>, object]>([
    ['that is new: start', [], {}, { type: 'start', number: 1, tries: 0 }],
    ['that is completed: skip', [attempt(1, 'completed')], {}, { type: 'skip' }],
    [
      'that was completed in an earlier attempt: skip',
      [attempt(1, 'completed'), attempt(2, 'unverified')],
      {},
      { type: 'skip' },
    ],
    ['that was killed: resume', [attempt(1)], {}, { type: 'resume', tries: 0 }],
    [
      'that was killed, without its workspace: start from scratch',
      [attempt(1)],
      { canResume: () => false },
      { type: 'start', number: 2, tries: 0 },
    ],
    [
      'that was killed under this key, and then under another: resume, and never use a number twice',
      [attempt(1), attempt(2, undefined, { key: 'other' })],
      {},
      { type: 'resume', attempt: { number: 1 }, next: 3 },
    ],
    ['cut by a quota: resume', [attempt(1, 'quota_exhausted')], {}, { type: 'resume' }],
    ['cut by a signal: resume', [attempt(1, 'cancelled')], {}, { type: 'resume' }],
    ['with a refused key: resume', [attempt(1, 'auth')], {}, { type: 'resume' }],
    ['that failed: keep', [attempt(1, 'unverified')], {}, { type: 'keep', status: 'unverified' }],
    [
      'that failed, with --retry-failed: start',
      [attempt(1, 'unverified')],
      { retryFailed: true },
      { type: 'start', number: 2, fresh: true },
    ],
    [
      'that could not reach its provider: start',
      [attempt(1, 'provider_unavailable')],
      {},
      { type: 'start', number: 2, tries: 1 },
    ],
    [
      'that could not three times: keep',
      [1, 2, 3].map((number) => attempt(number, 'provider_unavailable')),
      {},
      { type: 'keep' },
    ],
    ['that waits for an approval: wait', [attempt(1, 'approval_required')], {}, { type: 'wait' }],
    [
      'that was approved: resume',
      [attempt(1, 'approval_required')],
      { isAnswered: () => true },
      { type: 'resume' },
    ],
    [
      'that is completed, with --redo: start',
      [attempt(1, 'completed')],
      { isRedone: () => true },
      { type: 'start', number: 2, fresh: true },
    ],
    [
      'that was done again and killed: resume that',
      [attempt(1, 'completed'), attempt(2, undefined, { fresh: true })],
      {},
      { type: 'resume' },
    ],
    [
      'with another key: start, and say why',
      [attempt(1, 'completed', { key: 'old', parts: { prompt: '0' } })],
      {},
      { type: 'start', number: 2, why: 'the prompt changed' },
    ],
    [
      'whose old key comes back: skip',
      [attempt(1, 'completed'), attempt(2, 'completed', { key: 'old' })],
      {},
      { type: 'skip' },
    ],
  ])('%s', (_what, attempts, more, step) => {
    expect(planTask(task, attempts, { ...settings, ...more })).toMatchObject(step);
  });
});

describe('the result of a task', () => {
  const recorded = { index: 0, id: 'a', key: 'k', values: { x: 'y' } };

  test('is that of the completed attempt, with the costs of all', () => {
    const attempts = [attempt(1, 'provider_unavailable'), attempt(2, 'completed')];
    expect(taskResult(recorded, attempts, ONCE)).toMatchObject({
      ...{ status: 'completed', exit_code: 0, transcript: 't2', attempts: 2, response: 'r' },
      ...{ cost_usd: 2, tokens: 20, waited_ms: 4, values: { x: 'y' } },
    });
  });

  test('is pending without one, and every name is there', () => {
    const result = taskResult(recorded, [], ONCE);
    expect(result).toMatchObject({ status: 'pending', exit_code: null, attempts: 0, cost_usd: null });
    expect(Object.values(result).every((value) => value !== undefined)).toBe(true);
  });

  test('is pending when it was cut short, or is of another key', () => {
    expect(taskResult(recorded, [attempt(1, 'quota_exhausted')], ONCE)).toMatchObject({ status: 'pending' });
    expect(taskResult({ ...recorded, key: 'new' }, [attempt(1, 'completed')], ONCE)).toMatchObject({
      status: 'pending',
      exit_code: null,
    });
  });
});

describe('a task that is repeated', () => {
  const recorded = { index: 0, id: 'a', key: 'k', values: {} };
  const repeat = { times: 5, minPasses: 3 };
  /** One run for each letter: passed, failed, or open. */
  const runs = (letters: string) =>
    [...letters].map((letter, i) => {
      const status = ({ p: 'completed', f: 'unverified' } as const)[letter];
      return attempt(i + 1, status, { run: i + 1 });
    });

  test.each([
    ['p', 'start', 'pending', null],
    ['pp', 'start', 'pending', null],
    ['ppp', 'skip', 'completed', 'stable_pass'],
    ['pfpp', 'skip', 'completed', 'flaky'],
    ['ff', 'start', 'pending', null],
    ['fff', 'keep', 'unverified', 'stable_fail'],
    ['pfff', 'keep', 'unverified', 'flaky'],
    ['ppffo', 'resume', 'pending', null],
  ])('%s: %s, %s, %s', (letters, type, status, stability) => {
    expect(planTask(task, runs(letters), { ...settings, repeat }).type).toBe(type);
    expect(taskResult(recorded, runs(letters), repeat)).toMatchObject({ status, stability });
  });

  test('goes on with the next run, and begins again when it is to be tried again', () => {
    expect(planTask(task, runs('pf'), { ...settings, repeat })).toMatchObject({
      number: 3,
      run: 3,
      tries: 0,
    });
    expect(planTask(task, runs('fff'), { ...settings, repeat, retryFailed: true })).toMatchObject({
      ...{ number: 4, run: 1, fresh: true },
    });
  });

  test('has the answer and the patch of the first run that passed, and the costs of all', () => {
    const result = taskResult(recorded, runs('fppp'), repeat);
    expect(result).toMatchObject({ transcript: 't2', cost_usd: 4, runs: { passed: 3, failed: 1 } });
  });

  test('is tried again within a run, and that run counts once', () => {
    const retried = [attempt(1, 'provider_unavailable'), attempt(2, 'completed')];
    const twice = { times: 2, minPasses: 2 };
    expect(planTask(task, retried.slice(0, 1), { ...settings, repeat: twice })).toMatchObject({
      ...{ number: 2, run: 1, tries: 1 },
    });
    expect(planTask(task, retried, { ...settings, repeat: twice })).toMatchObject({ number: 3, run: 2 });
    expect(taskResult(recorded, retried, twice).runs).toEqual({ passed: 1, failed: 0 });
  });

  test('whose patch does not fit has failed, however often it passed', () => {
    const [first, ...others] = runs('ppp') as [Attempt, ...Attempt[]];
    const end = { ...ended(1, 'unverified'), reason: 'conflict' };
    const attempts = [{ ...first, end }, ...others];
    expect(taskResult(recorded, attempts, repeat)).toMatchObject({
      status: 'unverified',
      reason: 'conflict',
    });
    expect(planTask(task, attempts, { ...settings, repeat })).toMatchObject({
      ...{ type: 'keep', status: 'unverified' },
    });
  });
});
