import { getEventListeners } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import type { GroundedReply, ModelFailure, ModelReply, Provider } from '../../src/protocol/provider.js';
import { waitFor, withRetries, type RetrySettings } from '../../src/providers/retry.js';
import { asFailure, asReply, request, within } from '../helpers/provider.js';
import { Random } from '../helpers/random.js';

const busy: ModelFailure = { type: 'failure', class: 'unavailable', retryable: true, message: 'busy' };
const done: ModelReply = {
  type: 'reply',
  content: { role: 'model', parts: [{ text: 'Done.' }] },
  end: 'stop',
  finishReason: 'STOP',
  model: 'm',
};

describe('the wait after a failure', () => {
  test.each([
    [1, 0.5, 500],
    [2, 0.5, 1000],
    [3, 0.5, 2000],
    [6, 0.5, 16_000],
    [7, 0.5, 30_000],
    [50, 0.5, 30_000],
    [5000, 0.5, 30_000],
    [3, 0, 0],
  ])('attempt %i at %d of the dice is %i ms', (attempt, random, expected) => {
    expect(waitFor({}, attempt, random)).toBe(expected);
  });

  test.each([
    ['what the server asks for', 7000, 1, 0, 7000],
    ['and a little more, so that not all come at once', 7000, 1, 0.5, 7350],
    ['or our own, if that is longer by now', 7000, 6, 0.5, 16_000],
    ['our own, if the server asks for nothing', 0, 3, 0.5, 2000],
  ])('is %s', (_, retryAfterMs, attempt, random, expected) => {
    expect(waitFor({ retryAfterMs }, attempt, random)).toBe(expected);
  });

  test('is none, once, if an old connection was gone', () => {
    expect(waitFor({ atOnce: true }, 1, 0.9)).toBe(0);
    expect(waitFor({ atOnce: true }, 2, 0.5)).toBe(1000);
  });

  test('is never less than asked for, and never more than a minute or a tenth more than that', () => {
    const random = new Random(7);
    for (let i = 0; i < 2000; i++) {
      const retryAfterMs = random.pick([0, 1, 300, 60_000, 3_600_000]);
      const wait = waitFor({ retryAfterMs }, 1 + random.below(100), random.next());
      expect(wait).toBeGreaterThanOrEqual(retryAfterMs);
      expect(wait).toBeLessThanOrEqual(Math.max(60_000, retryAfterMs * 1.1));
    }
  });
});

/** A provider that says what it is told to, the last thing for ever. */
function scripted(outcomes: readonly (ModelFailure | ModelReply)[], settings: Partial<RetrySettings> = {}) {
  const retries: Parameters<RetrySettings['onRetry']>[0][] = [];
  let sent = 0;
  const inner: Provider = {
    name: 'scripted',
    model: 'm',
    auth: 'none',
    send: async () => outcomes[Math.min(sent++, outcomes.length - 1)] as ModelReply,
    close: () => {},
  };
  const onRetry: RetrySettings['onRetry'] = (retry) => retries.push(retry);
  const provider = withRetries(inner, {
    retryTimeMs: 5000,
    firstWaitMs: 1,
    charge: () => ({ affordable: true }),
    onRetry,
    ...settings,
  });
  const send = (signal = new AbortController().signal) => within(3000, provider.send(request(), signal));
  return { send, retries, provider, sent: () => sent };
}

describe('a request that fails', () => {
  test('is sent again until it is answered, and each time is told', async () => {
    const { send, retries, sent } = scripted([busy, { ...busy, class: 'quota', retryAfterMs: 5 }, done]);
    expect(asReply(await send())).toBe(done);
    expect(sent()).toBe(3);
    expect(retries.map(({ attempt, class: kind, model }) => [attempt, kind, model])).toEqual([
      [1, 'unavailable', 'm'],
      [2, 'quota', 'm'],
    ]);
    expect(retries[1]?.wait_ms).toBeGreaterThanOrEqual(5);
    expect(retries[1]?.message).toMatch(/^busy; trying again in \d+ ms$/);
  });

  test.each(['auth', 'quota', 'not_found', 'invalid_request', 'recording'] as const)(
    'of the class %s, and not to be mended, is sent once',
    async (kind) => {
      const failure = { ...busy, class: kind, retryable: false };
      const { send, retries, sent } = scripted([failure, done]);
      expect(await send()).toBe(failure);
      expect([sent(), retries]).toEqual([1, []]);
    },
  );

  test('for as long as it may says so, with how often and how long', async () => {
    const { send, retries, sent } = scripted([busy], { retryTimeMs: 60 });
    const failure = asFailure(await send());
    expect(failure.message).toMatch(/^busy \(asked \d+ times in \d+ ms\)$/);
    expect(failure.hint).toMatch(/limits\.retry_time/);
    expect(sent()).toBe(retries.length + 1);
    expect(retries.reduce((sum, { wait_ms }) => sum + wait_ms, 0)).toBeLessThanOrEqual(61);
  });

  test('and asks for more time than there is, is over at once', async () => {
    const { send, sent } = scripted([{ ...busy, class: 'quota', retryAfterMs: 3_600_000 }, done]);
    expect(asFailure(await send()).message).toBe(
      'busy (the server asks for 60m 00s, limits.retry_time leaves 5.0 s)',
    );
    expect(sent()).toBe(1);
  });

  test('and asks for just the time that there is, gets it: the dice do not end a run', async () => {
    const { send, retries } = scripted([{ ...busy, retryAfterMs: 100 }, done], { retryTimeMs: 101 });
    asReply(await send());
    expect(retries[0]?.wait_ms).toBeGreaterThanOrEqual(100);
    expect(retries[0]?.wait_ms).toBeLessThanOrEqual(101);
  });

  test('with no time to retry is as it came', async () => {
    const { send, retries } = scripted([busy, done], { retryTimeMs: 0 });
    expect(asFailure(await send()).message).toBe('busy');
    expect(retries).toEqual([]);
  });

  test('has its whole time again after an answer', async () => {
    const soon = { ...busy, retryAfterMs: 60 };
    const { send, retries } = scripted([soon, done, soon, done, soon, done], { retryTimeMs: 80 });
    for (let i = 0; i < 3; i++) asReply(await send());
    expect(retries.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  });

  test('is not waited for any longer once the run is stopped, and nothing is left behind', async () => {
    const stop = new AbortController();
    const { send, retries, sent } = scripted([{ ...busy, retryAfterMs: 4000 }, done]);
    const work = send(stop.signal);
    await new Promise(setImmediate);
    expect(retries).toHaveLength(1);
    stop.abort();
    expect(await within(500, work)).toMatchObject(busy);
    expect(sent()).toBe(1);
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });

  test('tells what the part of an answer cost that came', async () => {
    const { send, retries } = scripted([{ ...busy, usage: { total: 7 } }, done]);
    await send();
    expect(retries[0]?.usage).toEqual({ total: 7 });
  });
});

test('a request that nobody can pay for is not sent again', async () => {
  const charged: unknown[] = [];
  const charge: RetrySettings['charge'] = (...cost) => ({ affordable: charged.push(cost) < 2 });
  const { send, retries, sent } = scripted([{ ...busy, usage: { total: 7 } }], { charge });
  expect(asFailure(await send()).message).toBe('busy');
  expect(charged).toEqual([
    [{ total: 7 }, 'm'],
    [{ total: 7 }, 'm'],
  ]);
  expect([sent(), retries.length]).toEqual([2, 1]);
});

test('what a provider looks up is asked for again like everything else', async () => {
  const { provider } = scripted([done]);
  const grounded = { type: 'grounded', text: 'found' } as GroundedReply;
  const answers = [busy, grounded];
  const able = { ...provider, ground: async () => answers.shift() as GroundedReply };
  const patient = withRetries(able, {
    retryTimeMs: 5000,
    firstWaitMs: 1,
    charge: () => ({ affordable: true }),
    onRetry: () => {},
  });
  const request = { prompt: 'p', instruction: 'i', with: 'google_search' } as const;
  expect(await patient.ground?.(request, new AbortController().signal)).toBe(grounded);
});
