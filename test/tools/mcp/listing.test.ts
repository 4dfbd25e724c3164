import { expect, test } from '@jest/globals';
import { createListing } from '../../../src/tools/mcp/listing.js';

const NEVER = new AbortController().signal;

test('a thousand changes during a listing are one more listing, and that has to wait', async () => {
  let listings = 0;
  let finish = () => {};
  const { changed, settled, stop } = createListing({
    list: () => new Promise((resolve) => (listings++, (finish = resolve))),
    onTooMany: () => {},
  });
  for (let i = 0; i < 1000; i++) changed();
  expect(listings).toBe(1);
  const waiting = settled(NEVER);
  finish();
  await waiting;
  await settled(NEVER);
  expect(listings).toBe(1);
  stop();
});

test('nobody waits for long for a listing that does not end, and nobody twice', async () => {
  const { changed, settled, stop } = createListing({
    list: () => new Promise(() => {}),
    onTooMany: () => {},
  });
  changed();
  const cancelled = new AbortController();
  const waiting = settled(cancelled.signal);
  cancelled.abort();
  await waiting;
  await settled(NEVER);
  stop();
});
