import { appendFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { seeFile, seeLongFile } from '../../src/lib/fingerprints.js';

const MEGABYTE = Buffer.alloc(1 << 20, 'x');

test('a file that grows while it is read is read to where it ended at first', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'bosun-test-')), 'server.log');
  writeFileSync(path, MEGABYTE);
  const { state } = seeFile(path, false);
  // One more piece for each that was read, as a busy log would get them.
  let appended = 0;
  const stop = new AbortController();
  const grow = () => {
    if (++appended > 50) stop.abort();
    if (stop.signal.aborted) return;
    appendFileSync(path, MEGABYTE);
    setImmediate(grow);
  };
  setImmediate(grow);
  const seen = await seeLongFile(path, stop.signal).finally(() => stop.abort());
  expect(seen.state).toBe(state);
});

test('an empty file has a state of its own, and an empty content', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'bosun-test-')), 'empty');
  writeFileSync(path, '');
  const { state, content } = seeFile(path, false, 10);
  expect(state).toMatch(/^file - [0-9a-f]{40}$/);
  expect(content).toEqual(Buffer.alloc(0));
});
