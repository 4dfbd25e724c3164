import { describe, expect, test } from '@jest/globals';
import { append, historyFault, startHistory, type History } from '../../src/agent/history.js';
import type { Content } from '../../src/protocol/content.js';

const user = (text: string): Content => ({ role: 'user', parts: [{ text }] });
const model = (text: string): Content => ({ role: 'model', parts: [{ text }] });
const calls = (...names: string[]): Content => ({
  role: 'model',
  parts: names.map((name) => ({ functionCall: { id: `id-${name}`, name, args: {} } })),
});
const answers = (...names: string[]): Content => ({
  role: 'user',
  parts: names.map((name) => ({ functionResponse: { id: `id-${name}`, name, response: { output: '' } } })),
});

describe('a history that the API would refuse is found before it is sent', () => {
  const faults: [string, History, RegExp][] = [
    ['empty', [], /does not begin with the user/],
    ['a leading model turn', [model('hi'), user('x')], /does not begin/],
    ['a trailing model turn', [user('x'), model('hi')], /does not end/],
    ['a content without parts', [user('x'), { role: 'model', parts: [] }, user('y')], /content 1 is empty/],
    [
      'a content of empty parts',
      [user('x'), { role: 'model', parts: [{}] }, user('y')],
      /content 1 is empty/,
    ],
    ['a call without a response', [user('x'), calls('a'), user('y')], /1 calls have 0 responses/],
    ['too few responses', [user('x'), calls('a', 'b'), answers('a')], /2 calls have 1 responses/],
    ['too many responses', [user('x'), calls('a'), answers('a', 'a')], /1 calls have 2 responses/],
    ['a response without a call', [user('x'), model('hi'), answers('a')], /0 calls have 1 responses/],
    [
      'responses in another order',
      [user('x'), calls('a', 'b'), answers('b', 'a')],
      /call a is answered by b/,
    ],
    [
      'a model turn where responses belong',
      [user('x'), calls('a'), model('b'), user('y')],
      /have no responses/,
    ],
    [
      'a model that answers a call',
      [user('x'), { ...answers('a'), role: 'model' }, user('y')],
      /answers a call/,
    ],
  ];
  test.each(faults)('%s', (_what, history, fault) => {
    expect(historyFault(history)).toMatch(fault);
  });

  test.each([[[]], ['text'], [null], [undefined], [7]])(
    'a response that is %j and not an object',
    (response) => {
      const wrong = { role: 'user', parts: [{ functionResponse: { id: 'id-a', name: 'a', response } }] };
      expect(historyFault([user('x'), calls('a'), wrong as unknown as Content])).toMatch(
        /a is not an object/,
      );
    },
  );

  test('an id that does not match', () => {
    const wrong: Content = {
      role: 'user',
      parts: [{ functionResponse: { id: 'other', name: 'a', response: { output: '' } } }],
    };
    expect(historyFault([user('x'), calls('a'), wrong])).toMatch(/id-a is answered by other/);
  });
});

test('a history that grows turn by turn stays legal, and the older one is left as it was', () => {
  let history = startHistory([{ text: 'task' }]);
  for (let turn = 0; turn < 50; turn++) {
    const names = Array.from({ length: turn % 4 || 1 }, (_, i) => `t${i}`);
    const before = history;
    const length = before.length;
    history = append(append(history, calls(...names)), answers(...names));
    expect(historyFault(history)).toBeUndefined();
    expect(before).toHaveLength(length);
  }
});
