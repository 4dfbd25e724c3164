import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { buildTask, run, type RunRequest } from '../../src/index.js';
import { readTranscript } from '../../src/transcript/reader.js';
import { text, type Script } from '../helpers/gemini-server.mjs';
import { ofType, type Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';

const done = { parts: [text('Done.')] };
const slow = { chunks: [[text('a')], [text('b')], [text('c')]], chunkDelayMs: 250 };

async function runWith(
  script: Script,
  patience: RunRequest['patience'] & object,
  more: Partial<RunRequest> = {},
) {
  const where: Scratch = place();
  const server = await serve(script);
  const result = await run({
    cwd: where.workspace,
    model: 'gemini-test',
    readTask: async () => buildTask('Go.', []),
    variables: { GEMINI_API_KEY: 'k', GOOGLE_GEMINI_BASE_URL: server.url },
    transcript: join(where.root, 'transcript.jsonl'),
    patience: { firstWaitMs: 1, ...patience },
    ...more,
  });
  const retries = ofType([...readTranscript(join(where.root, 'transcript.jsonl')).lines], 'retry');
  return { result, server, retries };
}

describe('a limit on time that a request runs into', () => {
  test.each([
    [
      'a first byte that does not come',
      { hang: true },
      { firstByteMs: 300 },
      /no first byte within 0\.3 s \(first byte timeout\)/,
    ],
    [
      'a stream that falls silent',
      { ...slow, chunkDelayMs: 1500 },
      { idleMs: 300 },
      /nothing received within 0\.3 s \(stream idle timeout\)/,
    ],
    [
      'an answer without an end',
      slow,
      { totalMs: 400 },
      /no complete answer within 0\.4 s \(total timeout\)/,
    ],
  ])(
    '%s: it is named, the connection is closed, and the request is sent again',
    async (_, reply, patience, named) => {
      const { result, server, retries } = await runWith([reply, done], patience);
      expect(result).toMatchObject({ status: 'completed', response: 'Done.' });
      expect(retries).toMatchObject([
        { attempt: 1, class: 'unavailable', message: expect.stringMatching(named) },
      ]);
      expect(server.requests[0]?.aborted).toBe(true);
    },
  );

  test('over and over is exit 11, by the name of the limit', async () => {
    const limits = { retry_time_ms: 500 };
    const { result, server } = await runWith(() => ({ hang: true }), { firstByteMs: 200 }, { limits });
    expect(result).toMatchObject({ status: 'provider_unavailable', exit_code: 11 });
    expect(result.error?.message).toMatch(/first byte timeout.*asked \d times/);
    expect(server.requests.length).toBeGreaterThanOrEqual(2);
  });

  test('is not one for an answer that takes its time but comes in pieces', async () => {
    const { result, retries } = await runWith([slow], { firstByteMs: 10_000, idleMs: 10_000 });
    expect([result.response, retries]).toEqual(['abc', []]);
  });
});

test('the time limit of the run comes before the end of the retries, and is 6', async () => {
  const { result } = await runWith(
    () => ({ status: 503, body: 'busy' }),
    { firstWaitMs: 50 },
    { limits: { time_ms: 600 } },
  );
  expect(result).toMatchObject({ status: 'limit', reason: 'time', exit_code: 6 });
});
