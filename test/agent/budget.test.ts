import { expect, test } from '@jest/globals';
import { Budget } from '../../src/agent/budget.js';

test('exactly the turns of the limit are allowed', () => {
  const budget = new Budget({ turns: 2, tool_calls: 9 });
  expect(budget.exceeded()).toBeUndefined();
  budget.chargeTurn(undefined);
  expect(budget.exceeded()).toBeUndefined();
  budget.chargeTurn(undefined);
  expect(budget.exceeded()).toMatchObject({ status: 'limit', reason: 'turns' });
});

test('the last allowed call is not over the limit, the next one is', () => {
  const budget = new Budget({ turns: 9, tool_calls: 2 });
  expect([budget.admitCall(), budget.admitCall()]).toEqual([undefined, undefined]);
  expect(budget.exceeded()).toBeUndefined();
  expect(budget.admitCall()).toMatchObject({ type: 'cancelled' });
  expect(budget.exceeded()).toMatchObject({ status: 'limit', reason: 'tool_calls' });
});

test('tokens of answers that were thrown away count', () => {
  const budget = new Budget({ turns: 9, tool_calls: 9, tokens: 100 });
  budget.chargeTokens({ total: 60 });
  expect(budget.exceeded()).toBeUndefined();
  budget.chargeTurn({ total: 60 });
  expect(budget.exceeded()).toMatchObject({ reason: 'tokens' });
});
