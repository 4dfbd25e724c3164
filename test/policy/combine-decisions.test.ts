import { expect, test } from '@jest/globals';
import { combineDecisions } from '../../src/policy/combine-decisions.js';
import { askedRoots } from '../../src/protocol/approval.js';
import type { Decision, OnAsk, DecisionWord } from '../../src/protocol/decision.js';

const approver = { command: ['x'], timeoutMs: 1, pass: [], set: {} };
const command = (decision: DecisionWord, roots?: string[]) => ({
  words: ['w'],
  decision,
  rule: null,
  reason: decision,
  ...(roots && { roots }),
});
const asking = (onAsk: OnAsk, commands = [command('ask', ['w'])]): Decision => ({
  decision: 'ask',
  rule: null,
  reason: 'r',
  onAsk,
  commands,
});
const allowing: Decision = { decision: 'allow', rule: null, reason: 'r', commands: [command('allow')] };

test.each<[OnAsk, OnAsk, OnAsk]>([
  ['defer', approver, 'defer'],
  [approver, 'deny', 'deny'],
  ['deny', 'fail', 'fail'],
  ['defer', 'fail', 'fail'],
])('of two that ask (%p, %p) the stricter way counts: %p', (a, b, onAsk) => {
  expect(combineDecisions([asking(a), asking(b)]).onAsk).toEqual(onAsk);
});

test('who does not ask has no say in how it is asked', () => {
  expect(combineDecisions([allowing, asking('defer')]).onAsk).toBe('defer');
});

test('a deny is a deny', () => {
  expect(combineDecisions([asking('defer'), { decision: 'deny', rule: null, reason: 'no' }]).decision).toBe(
    'deny',
  );
});

test('an «always» covers a line only if every policy that asks says for what', () => {
  const two = (first: DecisionWord, second: DecisionWord, roots = true) => [
    command(first, first === 'ask' ? ['git'] : undefined),
    command(second, second === 'ask' && roots ? ['npm'] : undefined),
  ];
  // One asks about git, the other about npm: both are asked about.
  expect(
    askedRoots(
      combineDecisions([asking('defer', two('ask', 'allow')), asking('defer', two('allow', 'ask'))]),
    ),
  ).toEqual(['git', 'npm']);
  expect(
    askedRoots(
      combineDecisions([asking('defer', two('ask', 'ask')), asking('defer', two('ask', 'ask', false))]),
    ),
  ).toBeUndefined();
  expect(
    askedRoots(combineDecisions([asking('defer', two('ask', 'ask')), { ...asking('defer'), commands: [] }])),
  ).toBeUndefined();
});
