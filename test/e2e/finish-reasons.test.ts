import { describe, expect, test } from '@jest/globals';
import { sampled } from '../helpers/counts.js';
import { call, text, type Reply } from '../helpers/gemini-server.mjs';
import { runHere } from '../helpers/in-process.js';
import { eventsOf, fileIn, ofType, resultOf } from '../helpers/run-cli.js';
import { bosunRun } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const write = call('write_file', { file_path: 'x', content: 'x' });
const UNKNOWN = 'unknown_finish_reason';

/** Every reason that the API documents, and one that it does not: what a run makes of it, and how often it asks. */
const REASONS: readonly [finishReason: string, reason: string, requests: number][] = [
  ['MAX_TOKENS', 'truncated', 1],
  ['SAFETY', 'blocked', 1],
  ['RECITATION', 'blocked', 1],
  ['LANGUAGE', 'blocked', 1],
  ['BLOCKLIST', 'blocked', 1],
  ['PROHIBITED_CONTENT', 'blocked', 1],
  ['SPII', 'blocked', 1],
  ['IMAGE_SAFETY', 'blocked', 1],
  ['IMAGE_PROHIBITED_CONTENT', 'blocked', 1],
  ['IMAGE_RECITATION', 'blocked', 1],
  ['MALFORMED_FUNCTION_CALL', 'malformed_function_call', 3],
  ['UNEXPECTED_TOOL_CALL', 'unexpected_tool_call', 3],
  ['OTHER', UNKNOWN, 1],
  ['IMAGE_OTHER', UNKNOWN, 1],
  ['NO_IMAGE', UNKNOWN, 1],
  ['TOO_MANY_TOOL_CALLS', UNKNOWN, 1],
  ['MISSING_THOUGHT_SIGNATURE', UNKNOWN, 1],
  ['MALFORMED_RESPONSE', UNKNOWN, 1],
  ['CONTINUATION', UNKNOWN, 1],
  ['FINISH_REASON_UNSPECIFIED', UNKNOWN, 1],
  ['A_REASON_OF_TOMORROW', UNKNOWN, 1],
];

describe('an answer that ends with', () => {
  sampled.each(REASONS)(
    '%s is exit 7, %s, after %i requests; its calls are not run',
    async (finishReason, reason, requests) => {
      const reply: Reply = { parts: [text('So far.'), write], finishReason, finishMessage: 'and why' };
      const { code, stdout, server, place } = await bosunRun(() => reply, ['--mode', 'yolo']);
      expect({ code, stdout, asked: server.requests.length }).toEqual({
        code: 7,
        stdout: '',
        asked: requests,
      });
      expect(fileIn(place, 'x')).toBeUndefined();
      const events = eventsOf(place);
      expect(ofType(events, 'tool_use')).toEqual([]);
      expect(ofType(events, 'retry').map(({ class: kind }) => kind)).toEqual(
        Array(requests - 1).fill(reason),
      );
      expect(resultOf(place)).toMatchObject({
        status: 'model_error',
        reason,
        response: '',
        stats: { total_tokens: requests * 110 },
        error: { message: expect.stringContaining(`(${finishReason}: and why)`) },
      });
      if (reason !== UNKNOWN) expect(resultOf(place).error?.hint).toMatch(/\.$/);
    },
  );

  test('STOP is an answer', async () => {
    const { code, stdout } = await bosunRun([{ parts: [text('Done.')], finishReason: 'STOP' }], []);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Done.\n' });
  });

  test('STOP and nothing else, first of all, is asked for once more', async () => {
    const { code, server, place } = await runHere(() => ({ parts: [] }));
    expect([code, resultOf(place).reason, server.requests.length]).toEqual([7, 'empty_response', 2]);
  });

  test('STOP and nothing else, after something was done, is the end', async () => {
    const { code, stdout, server } = await bosunRun([{ parts: [write] }, { parts: [] }], ['--mode', 'yolo']);
    expect({ code, stdout, asked: server.requests.length }).toEqual({ code: 0, stdout: '', asked: 2 });
  });
});

describe('a prompt that is blocked for', () => {
  sampled.each([
    'SAFETY',
    'OTHER',
    'BLOCKLIST',
    'PROHIBITED_CONTENT',
    'IMAGE_SAFETY',
    'MODEL_ARMOR',
    'JAILBREAK',
    'BLOCKED_REASON_UNSPECIFIED',
    'A_REASON_OF_TOMORROW',
  ])('%s is exit 7, blocked, and not asked again', async (blockReason) => {
    const { code, server, place } = await runHere(() => ({ promptFeedback: { blockReason } }));
    const { reason, error } = resultOf(place);
    expect([code, reason, server.requests.length]).toEqual([7, 'blocked', 1]);
    expect(error?.message).toContain(blockReason);
  });
});

test('a malformed call that comes right the third time is a success', async () => {
  const bad: Reply = { parts: [text('tail of a call'), write], finishReason: 'MALFORMED_FUNCTION_CALL' };
  const { code, stdout, place } = await bosunRun(
    [bad, bad, { parts: [write] }, { parts: [text('Done.')] }],
    ['--mode', 'yolo'],
  );
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Done.\n' });
  expect(ofType(eventsOf(place), 'tool_use')).toHaveLength(1);
});
