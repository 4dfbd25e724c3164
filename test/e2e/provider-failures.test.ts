import { describe, expect, test } from '@jest/globals';
import { sampled } from '../helpers/counts.js';
import { startGeminiServer, text, type Reply } from '../helpers/gemini-server.mjs';
import { closing } from '../helpers/provider.js';
import { startRawServer } from '../helpers/raw-server.js';
import { IMPATIENT, ofType, eventsOf, resultOf, runAgainst, scratch } from '../helpers/run-cli.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const use = closing();

async function runWith(reply: Reply, ...flags: string[]) {
  const place = scratch();
  use({ close: place.remove });
  const server = use(await startGeminiServer(() => reply));
  const result = await runAgainst(server, place, ['-p', 'Go.', ...flags]);
  return { ...result, place, sent: server.requests.length };
}

function body(code: number, status: string, message: string, details: object[] = []) {
  return { error: { code, message, status, details } };
}

const INVALID_KEY = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }];

describe('an error of the API that no retry mends', () => {
  sampled.each([
    [400, body(400, 'INVALID_ARGUMENT', 'bad\nrequest'), 7, 'invalid_request'],
    [400, body(400, 'INVALID_ARGUMENT', 'API key not valid.', INVALID_KEY), 9, 'refused'],
    [401, body(401, 'UNAUTHENTICATED', 'no'), 9, 'refused'],
    [403, body(403, 'PERMISSION_DENIED', 'no'), 9, 'refused'],
    [404, body(404, 'NOT_FOUND', 'models/gemini-test is not found'), 2, 'model_not_found'],
  ])('%i %j is exit %i, told in one line and asked once', async (status, said, exit, reason) => {
    const { code, stdout, stderr, place, sent } = await runWith({ status, body: said });
    expect({ code, stdout, sent }).toEqual({ code: exit, stdout: '', sent: 1 });
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).toContain(`HTTP ${status} ${said.error.status}: `);
    expect(resultOf(place)).toMatchObject({
      exit_code: exit,
      reason,
      error: { http_status: status, retryable: false },
    });
  });
});

describe('an answer that cannot be read', () => {
  test.each<[string, Reply, string]>([
    ['invalid JSON in an event', { raw: 'data: {"candidates":[{]}\r\n\r\n' }, 'not_the_protocol'],
    [
      'a cut string in an event',
      { raw: 'data: {"candidates":[{"content":{"parts":[{"text":"ab\r\n\r\n' },
      'not_the_protocol',
    ],
    [
      'a login page',
      { raw: '<html>Log in</html>', headers: { 'content-type': 'text/html' } },
      'not_the_protocol',
    ],
  ])('%s is exit 11, and nothing of it is kept', async (_, reply, reason) => {
    const { code, stdout, stderr, place } = await runWith(reply, ...IMPATIENT);
    expect({ code, stdout }).toEqual({ code: 11, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(resultOf(place)).toMatchObject({
      status: 'provider_unavailable',
      reason,
      error: { retryable: true },
    });
    expect(ofType(eventsOf(place), 'turn')).toEqual([]);
  });

  test('a stream that was cut after a call runs no call', async () => {
    const call = { functionCall: { name: 'write_file', args: { file_path: 'x', content: 'x' } } };
    const { code, place } = await runWith({ chunks: [[call], [text('…')]], cutAfterChunks: 1 }, ...IMPATIENT);
    expect(code).toBe(11);
    expect(ofType(eventsOf(place), 'tool_use')).toEqual([]);
  });

  test('an error event after half of an answer is that error, and not a bug of ours', async () => {
    const half = { candidates: [{ content: { parts: [text('half')] } }] };
    const pieces = [half, body(503, 'UNAVAILABLE', 'overloaded')].map(
      (e) => `data: ${JSON.stringify(e)}\r\n\r\n`,
    );
    const { code, stdout, place } = await runWith({ pieces }, ...IMPATIENT);
    expect({ code, stdout }).toEqual({ code: 11, stdout: '' });
    expect(resultOf(place).error).toMatchObject({
      message: 'HTTP 503 UNAVAILABLE: overloaded',
      http_status: 503,
    });
  });
});

test('a server that is not there is exit 11, told in one line that says where', async () => {
  const place = scratch();
  use({ close: place.remove });
  const server = await startGeminiServer([]);
  await server.close();
  const { code, stderr } = await runAgainst(server, place, ['-p', 'Go.', ...IMPATIENT]);
  expect(code).toBe(11);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect(stderr).toContain(`ECONNREFUSED 127.0.0.1:${server.port}`);
});

test('the time limit ends the wait for an answer, and the server sees the connection go', async () => {
  const place = scratch();
  use({ close: place.remove });
  const server = use(await startRawServer(() => {}));
  const { code } = await runAgainst(server, place, ['-p', 'Go.', '--timeout', '1s']);
  expect(code).toBe(6);
  expect(server.connections.map(({ requests }) => requests.length)).toEqual([1]);
  await server.connections[0]?.closed;
});
