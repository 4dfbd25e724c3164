import { describe, expect, test } from '@jest/globals';
import { Adaptive } from '../../src/batch/gate/adaptive.js';
import { Pace, TokenWindow } from '../../src/batch/gate/declared.js';
import { Lane } from '../../src/batch/gate/lane.js';
import { Ledger } from '../../src/batch/ledger.js';

const REJECTED = (retryAfterMs?: number) => ({
  failure: {
    ...({ type: 'failure', class: 'quota', message: 'no', retryable: true } as const),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  },
});
const never = new AbortController().signal;

describe('a declared rate', () => {
  test('lets no window of five seconds or more hold more than its share', () => {
    const pace = new Pace(120);
    const sent: number[] = [];
    for (let now = 0; now < 120_000; now = pace.earliest(now)) {
      pace.sent(now);
      sent.push(now);
      // Whoever asks is not always there at once.
      now += (sent.length * 37) % 90;
    }
    for (const [i, start] of sent.entries()) {
      const inWindow = (ms: number) => sent.slice(i).filter((at) => at < start + ms).length;
      for (const ms of [5000, 10_000, 60_000]) expect(inWindow(ms)).toBeLessThanOrEqual((120 * ms) / 60_000);
    }
  });

  test('takes hardly longer than it must', () => {
    const pace = new Pace(120);
    let now = 0;
    for (let i = 0; i < 120; i++) {
      now = pace.earliest(now);
      pace.sent(now);
    }
    expect(now / 60_000).toBeLessThan(1.03);
  });

  test('of tokens lets nothing start while the last minute is at the rate', () => {
    const window = new TokenWindow(1000);
    window.settled({ usage: { total: 600 } }, 1000);
    expect(window.earliest(2000)).toBe(2000);
    window.settled({ usage: { total: 500 } }, 3000);
    expect(window.earliest(4000)).toBe(61_000);
    expect(window.earliest(61_000)).toBe(61_000);
  });
});

describe('a gate that finds out', () => {
  test('grows until the first rejection, and shrinks once for all that comes back with it', () => {
    const gate = new Adaptive(64);
    for (let i = 0; i < 200; i++) {
      gate.sent(i);
      gate.settled({}, i);
    }
    expect(gate.earliest(200, 63)).toBe(200);
    const news = gate.settled(REJECTED(5000), 300);
    expect(news).toMatchObject({ kind: 'rejected', waitMs: 5000, concurrency: 51 });
    for (let i = 0; i < 10; i++) expect(gate.settled(REJECTED(4000), 310)).toBeUndefined();
    expect(gate.earliest(310, 0)).toBeGreaterThanOrEqual(5300);
  });

  test('takes a little less than was accepted until the wait was over for its pace', () => {
    const gate = new Adaptive(64);
    for (let i = 0; i < 12; i++) gate.sent(0);
    // The rejection comes back before the answers do.
    gate.settled(REJECTED(4990), 10);
    gate.settled(REJECTED(4990), 10);
    for (let i = 0; i < 10; i++) gate.settled({}, 100);
    expect(gate.earliest(4000, 0)).toBe(5000);
    expect(gate.earliest(5000, 0)).toBe(5000);
    gate.sent(5000);
    // One tries out whether the wait was long enough.
    expect(gate.earliest(5001, 1)).toBe(Infinity);
    expect(gate.settled({}, 5100)).toMatchObject({ kind: 'reopened', requestsPerMinute: 111.1 });
    expect(gate.earliest(5100, 0)).toBe(5540);
  });

  test('takes waits that were too short for one episode', () => {
    const gate = new Adaptive(10);
    for (let i = 0; i < 10; i++) gate.sent(0);
    for (let i = 0; i < 9; i++) gate.settled({}, 50);
    expect(gate.settled(REJECTED(), 100)).toMatchObject({ waitMs: 1000, concurrency: 8 });
    expect(gate.earliest(1100, 0)).toBe(1100);
    gate.sent(1100);
    expect(gate.settled(REJECTED(), 1110)).toMatchObject({ waitMs: 2000, concurrency: 8 });
    expect(gate.earliest(3110, 0)).toBe(3110);
    gate.sent(3110);
    // A little less than nine in 3.11 seconds.
    expect(gate.settled({}, 3200)).toMatchObject({ requestsPerMinute: 160.8 });
  });

  test('does not shrink because a server has errors', () => {
    const gate = new Adaptive(8);
    const failure = { type: 'failure', class: 'unavailable', message: 'x', retryable: true } as const;
    expect(gate.settled({ failure }, 0)).toBeUndefined();
    expect(gate.earliest(0, 7)).toBe(0);
  });
});

describe('a lane', () => {
  const lane = (regimes = [new Adaptive(1)], onExhausted = (_ms: number | undefined) => {}) =>
    new Lane(regimes, { retryTimeMs: 1000, onNews: () => {}, onExhausted });

  test('lets those that have begun go first', async () => {
    const one = lane();
    await one.enter(false, never);
    const order: string[] = [];
    const enter = async (name: string, hasBegun: boolean) => {
      await one.enter(hasBegun, never);
      order.push(name);
      one.leave({});
    };
    const all = [enter('new', false), enter('newer', false), enter('begun', true)];
    one.leave({});
    await Promise.all(all);
    expect(order).toEqual(['begun', 'new', 'newer']);
  });

  test('lets go of whoever does not want to wait any more', async () => {
    const one = lane();
    await one.enter(false, never);
    const stop = new AbortController();
    const waiting = one.enter(false, stop.signal);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  test('tells all that wait when it closes', async () => {
    const one = lane();
    await one.enter(false, never);
    const waiting = one.enter(false, never);
    one.close();
    expect(await waiting).toBe(false);
    expect(await one.enter(false, never)).toBe(false);
  });

  test('is exhausted when a quota is gone, or asks for more than there is', () => {
    const told: (number | undefined)[] = [];
    const one = lane(undefined, (ms) => told.push(ms));
    one.leave(REJECTED(500));
    expect(told).toEqual([]);
    one.leave(REJECTED(2000));
    expect(told).toEqual([2000]);
  });
});

describe('the ledger', () => {
  const ledger = (limit: number, each?: number) =>
    new Ledger({
      limits: { costUsd: limit },
      taskLimits: each === undefined ? {} : { costUsd: each },
      spent: { costUsd: 0, tokens: 0 },
    });
  const spend = (own: Ledger, id: string, costUsd: number) => own.charge(id, { costUsd, tokens: 0 });

  test('is empty once all is spent, by whichever task', () => {
    const own = ledger(1);
    own.begin('a');
    own.begin('b');
    spend(own, 'a', 0.6);
    expect(own.emptyOf).toBeUndefined();
    spend(own, 'b', 0.4);
    expect(own.emptyOf).toBe('cost');
    expect(own.mayBegin()).toBe(false);
  });

  test('keeps what running tasks may still need', () => {
    const own = ledger(3, 1);
    own.begin('a');
    own.begin('b');
    expect(own.mayBegin()).toBe(true);
    own.begin('c');
    expect(own.mayBegin()).toBe(false);
    spend(own, 'a', 0.2);
    own.end('a', true);
    expect(own.mayBegin()).toBe(false);
    spend(own, 'b', 0.1);
    own.end('b', true);
    expect(own.mayBegin()).toBe(true);
  });

  test('knows better what a task needs once five have ended', () => {
    const own = ledger(3, 1);
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      own.begin(id);
      spend(own, id, 0.1);
      own.end(id, true);
    }
    for (let i = 0; i < 20; i++) own.begin(`x${i}`);
    expect(own.mayBegin()).toBe(true);
  });

  test('lets one task run while anything is left', () => {
    expect(ledger(0.01, 5).mayBegin()).toBe(true);
    expect(ledger(0, 5).mayBegin()).toBe(false);
  });
});
