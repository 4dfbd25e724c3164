import { expect, test } from '@jest/globals';
import type { RunEvent } from '../../src/protocol/event.js';
import { failure, type Outcome } from '../../src/protocol/outcome.js';
import { wrapUp } from '../../src/runs/wrap-up.js';

const completed: Outcome = { status: 'completed', response: 'Done.' };
const limit = failure('limit', 'turns', 'no turns left');
const fine = { close: async () => {}, conclude: async (outcome: Outcome) => ({ outcome }) };
const breaks = async () => {
  throw new Error('broken pipe');
};

async function wrapped(parts: Partial<typeof fine>, outcome: Outcome) {
  const events: RunEvent[] = [];
  const end = await wrapUp({ ...fine, ...parts }, outcome, { emit: (event) => void events.push(event) });
  return { outcome: end.outcome, warnings: events.map((event) => 'message' in event && event.message) };
}

test('what cannot be closed is a warning, and the work is looked at all the same', async () => {
  const rejected = failure('unverified', 'patch', 'too much');
  const conclude = async () => ({ outcome: rejected });
  expect(await wrapped({ close: breaks, conclude }, completed)).toEqual({
    outcome: rejected,
    warnings: [expect.stringContaining('broken pipe')],
  });
});

test('work that could not be looked at is no success', async () => {
  const { outcome } = await wrapped({ conclude: breaks }, completed);
  expect(outcome).toMatchObject({ status: 'internal_error', error: { message: expect.any(String) } });
});

test('a run that had failed stays what it was', async () => {
  expect(await wrapped({ close: breaks, conclude: breaks }, limit)).toEqual({
    outcome: limit,
    warnings: [expect.stringContaining('broken pipe'), expect.stringContaining('broken pipe')],
  });
});
