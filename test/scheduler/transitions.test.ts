import { describe, expect, test } from '@jest/globals';
import { CALL_STATES, type CallState } from '../../src/protocol/call.js';
import { CallLifecycle, isLegalMove } from '../../src/scheduler/transitions.js';

const LEGAL = new Set([
  'validating>awaiting_approval',
  'validating>scheduled',
  'validating>error',
  'validating>cancelled',
  'awaiting_approval>scheduled',
  'awaiting_approval>error',
  'awaiting_approval>cancelled',
  'scheduled>executing',
  'scheduled>cancelled',
  'executing>success',
  'executing>error',
  'executing>cancelled',
]);
const PAIRS = CALL_STATES.flatMap((from) => CALL_STATES.map((to): [CallState, CallState] => [from, to]));

describe('a call moves from', () => {
  test.each(PAIRS)('%s to %s only if that is legal', (from, to) => {
    expect(isLegalMove(from, to)).toBe(LEGAL.has(`${from}>${to}`));
  });
});

test('an illegal move throws and names both states', () => {
  const states: CallState[] = [];
  const life = new CallLifecycle('c1', (state) => states.push(state));
  life.move('scheduled');
  expect(() => life.move('success')).toThrow('call c1 cannot go from scheduled to success');
  expect(states).toEqual(['validating', 'scheduled']);
});
