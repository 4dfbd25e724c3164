import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { LoopDetector, type LoopSettings } from '../../src/agent/loop-detector.js';
import type { CallResult } from '../../src/protocol/call.js';
import type { LoopNoticeEvent, RunEvent } from '../../src/protocol/event.js';
import { rounds } from '../helpers/counts.js';
import { Random } from '../helpers/random.js';

const USUAL: LoopSettings = { repeats: 5, cycle: 4, cycle_repeats: 4, more: 3 };

let calls = 0;
function result(name: string, output: string, more: Partial<CallResult> = {}): CallResult {
  const id = `call_${++calls}`;
  const call = { id, wireId: id, name, args: { path: name }, turn: 0 };
  return { call, kind: 'read', status: 'success', output, duration_ms: calls, ...more };
}

/** Turns of results, until one of them ends the run: where notices were given, and whether it ended. */
function watch(turns: readonly (readonly CallResult[])[], settings: LoopSettings | 'off' = USUAL) {
  const events: RunEvent[] = [];
  const detector = new LoopDetector(settings, (event) => events.push(event));
  const noticed: number[] = [];
  let step = 0;
  for (const [turn, results] of turns.entries()) {
    for (const [i, answer] of detector.observe(results).entries()) {
      step++;
      if (answer !== results[i]) noticed.push(step);
    }
    const end = detector.outcome();
    if (end) return { noticed, events: events as LoopNoticeEvent[], end, endedAt: turn + 1 };
  }
  return { noticed, events: events as LoopNoticeEvent[], end: undefined, endedAt: undefined };
}

/** A letter is a call with its result; a space begins a new turn, and without spaces each letter is a turn. */
function turnsOf(letters: string): CallResult[][] {
  const turns = letters.includes(' ') ? letters.split(' ') : [...letters];
  return turns.map((turn) => [...turn].map((letter) => result(letter, `result ${letter}`)));
}

describe('a circle of calls', () => {
  const cases: [what: string, steps: string, noticed: number[], endedAt: number | undefined][] = [
    ['the same call four times', 'AAAA', [], undefined],
    ['the same call five times', 'AAAAA', [5], undefined],
    ['the same call seven times', 'AAAAAAA', [5], undefined],
    ['the same call eight times', 'AAAAAAAA', [5], 8],
    ['four times, another, four times', 'AAAABAAAA', [], undefined],
    ['five times, another, five times', 'AAAAABAAAAA', [5, 11], undefined],
    ['two calls, not quite four times', 'ABABABA', [], undefined],
    ['two calls, four times', 'ABABABAB', [8], undefined],
    ['two calls, not quite seven times', 'ABABABABABABA', [8], undefined],
    ['two calls, seven times', 'ABABABABABABAB', [8], 14],
    ['three calls, four times', 'ABCABCABCABC', [12], undefined],
    ['three calls, seven times', 'ABC'.repeat(7), [12], 21],
    ['four calls, four times', 'ABCDABCDABCDABCD', [16], undefined],
    ['four calls, seven times', 'ABCD'.repeat(7), [16], 28],
    ['four calls of which two are the same', 'AABC'.repeat(7), [16], 28],
    ['five calls, over and over', 'ABCDE'.repeat(20), [], undefined],
    ['something else first', 'XYZABABABAB', [11], undefined],
    ['a circle that becomes another', 'ABABABABAAAAA', [8, 13], undefined],
    ['another way after the notice, and back', 'AAAAAXAAAAAAAA', [5, 11], 14],
    ['calls of one turn, in their order', 'AB AB AB AB', [8], undefined],
    ['the same call five times in one turn', 'AAAAA B', [5], undefined],
    ['eight times in one turn: nobody has read the notice yet', 'AAAAAAAA B', [5], undefined],
    ['eight times in one turn, and three more', 'AAAAAAAA A A A', [5], 4],
    ['two turns of the same two calls twice each', 'ABAB ABAB ABAB A', [8], undefined],
  ];
  test.each(cases)('%s', (_what, steps, noticed, endedAt) => {
    expect(watch(turnsOf(steps))).toMatchObject({ noticed, endedAt });
  });

  test('is the same whatever the order of the arguments and the time it took', () => {
    const args = [
      { a: 1, b: { c: [1, 2], d: null } },
      { b: { d: null, c: [1, 2] }, a: 1 },
    ];
    const turns = Array.from({ length: 5 }, (_, i) => {
      const made = result('A', 'same');
      return [{ ...made, call: { ...made.call, args: args[i % 2] } }];
    });
    expect(watch(turns).noticed).toEqual([5]);
  });

  const different: [string, (i: number) => CallResult][] = [
    ['results', (i) => result('A', `build ${i} %`)],
    ['errors', (i) => result('A', '', { error: { type: 'timeout', message: `after ${i} s` } })],
    ['media', (i) => result('A', 'x', { media: [{ inlineData: { mimeType: 'image/png', data: `${i}` } }] })],
    ['objects', (i) => result('A', '', { output: { done: i } })],
  ];
  test.each(different)('is none as long as its %s change', (_what, make) => {
    expect(watch(Array.from({ length: 500 }, (_, i) => [make(i)])).noticed).toEqual([]);
  });

  test('is one although each result went to a file of its own', () => {
    const cut = (i: number, type: 'output' | 'error') => {
      const path = `.bosun/runs/1/outputs/call_${i}.txt`;
      const text = `head\n[… about 5 bytes cut; full output: ${path} …]\ntail`;
      const more = type === 'error' ? { error: { type: 'timeout', message: text } as const } : {};
      return result('A', text, { full_output: path, ...more });
    };
    for (const type of ['output', 'error'] as const)
      expect(watch(Array.from({ length: 8 }, (_, i) => [cut(i, type)]))).toMatchObject({
        noticed: [5],
        endedAt: 8,
      });
  });

  test('is left to the limit of denials if it is made of refusals', () => {
    const refused = () => [result('A', '', { error: { type: 'policy_denied', message: 'no' } })];
    expect(watch(Array.from({ length: 50 }, refused)).noticed).toEqual([]);
  });

  test('is not looked for if that is off', () => {
    expect(watch(turnsOf('A'.repeat(100)), 'off')).toMatchObject({ noticed: [], endedAt: undefined });
  });

  test('is found by other numbers', () => {
    const strict = { repeats: 2, cycle: 6, cycle_repeats: 2, more: 1 };
    expect(watch(turnsOf('AAA'), strict)).toMatchObject({ noticed: [2], endedAt: 3 });
    expect(watch(turnsOf('ABCDEF'.repeat(3)), strict)).toMatchObject({ noticed: [12], endedAt: 18 });
    expect(watch(turnsOf('ABABABABAB'), { ...USUAL, cycle: 1 }).noticed).toEqual([]);
    // The same call eight times is not two calls four times.
    const lenient = { ...USUAL, repeats: 30 };
    expect(watch(turnsOf('A'.repeat(29)), lenient).noticed).toEqual([]);
    expect(watch(turnsOf('AB'.repeat(8)), { ...lenient, cycle_repeats: 20 }).noticed).toEqual([]);
    const patient = { ...USUAL, more: 20 };
    expect(watch(turnsOf('AB'.repeat(24)), patient)).toMatchObject({ noticed: [8], endedAt: 48 });
  });
});

test('the notice stands at the end of what the model reads, and is an event', () => {
  const notice = (make: () => CallResult) => {
    const events: RunEvent[] = [];
    const detector = new LoopDetector(USUAL, (event) => events.push(event));
    let last: readonly CallResult[] = [];
    for (let i = 0; i < 5; i++) last = detector.observe([make()]);
    return { answer: last[0] as CallResult, event: events[0] as LoopNoticeEvent, count: events.length };
  };
  const { answer, event, count } = notice(() => result('read', 'the text'));
  expect(event.message).toMatch(
    /read was called 5 times in a row with the same arguments and the same result/,
  );
  expect(answer.output).toBe(`the text\n\n${event.message}`);
  expect(event).toMatchObject({ tool_id: answer.call.id, repeats: 5, calls: [{ tool_name: 'read' }] });
  expect(count).toBe(1);
  const failed = notice(() =>
    result('read', '', { status: 'error', error: { type: 'unknown', message: 'no' } }),
  );
  expect(failed.answer.error).toEqual({ type: 'unknown', message: `no\n\n${failed.event.message}` });
  const object = notice(() => result('read', '', { output: { a: 1 } }));
  expect(object.answer.output).toEqual({ a: 1, notice: object.event.message });
});

test('the end says what went round, and how often', () => {
  expect(watch(turnsOf('A'.repeat(8))).end).toMatchObject({ status: 'loop_detected', reason: 'same_call' });
  const { end, events } = watch(turnsOf('AB'.repeat(7)));
  expect(end).toMatchObject({ status: 'loop_detected', reason: 'cycle' });
  expect(end?.error?.message).toBe(
    'the same 2 calls (A, B) were repeated 7 times in a row with the same results',
  );
  expect(events[0]?.calls.map(({ tool_name }) => tool_name)).toEqual(['A', 'B']);
});

test('whatever is called, in whatever turns, results that are all new are no circle', () => {
  const random = new Random(7);
  for (let run = 0; run < rounds(200); run++) {
    let step = 0;
    const turns = random.list(1 + random.below(60), () =>
      random.list(1 + random.below(6), () => result(random.pick(['A', 'B', 'C']), `new ${++step}`)),
    );
    expect(watch(turns).noticed).toEqual([]);
  }
});

test('a circle is found wherever it begins, and never before it is one', () => {
  const random = new Random(11);
  for (let run = 0; run < rounds(300); run++) {
    const length = 1 + random.below(4);
    const cycle = 'ABCD'.slice(0, length);
    const before = Array.from({ length: random.below(30) }, (_, i) => String.fromCharCode(0x4e00 + i)).join(
      '',
    );
    const first = before.length + (length === 1 ? 5 : 4 * length);
    const { noticed, endedAt } = watch(turnsOf(before + cycle.repeat(12)));
    expect([noticed, endedAt]).toEqual([[first], first + 3 * length]);
  }
});

test('only the latest calls are remembered', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const detector = new LoopDetector(USUAL, () => {});
  const seen = Array.from({ length: 3000 }, (_, i) => {
    const made = result('A', `result ${i}`);
    detector.observe([made]);
    return new WeakRef(made);
  });
  // What a WeakRef has shown stays alive until the task is over.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  expect(seen.filter((made) => made.deref()).length).toBeLessThan(10);
  expect(detector.outcome()).toBeUndefined();
});
