import { describe, expect, test } from '@jest/globals';
import { call, text } from '../helpers/gemini-server.mjs';
import { eventsOf, ofType } from '../helpers/run-cli.js';
import { vertexRuns } from '../helpers/run-vertex.js';

const { run } = vertexRuns();
const DONE = { parts: [text('Done.')] };

describe('a vertex/… model', () => {
  test('is asked in the project, everywhere, with an access token', async () => {
    const script = [{ parts: [call('list_directory', { path: '.' })] }, DONE];
    const { code, stdout, place, requests, tokenRequests } = await run({ script });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Done.\n' });
    expect(requests).toHaveLength(2);
    for (const { url, headers } of requests) {
      expect(url).toMatch(
        /^\/v1(beta1)?\/projects\/my-project\/locations\/global\/publishers\/google\/models\/gemini-x:streamGenerateContent\?alt=sse$/,
      );
      expect(headers.authorization).toBe('Bearer ya29.scripted');
      expect(headers).not.toHaveProperty('x-goog-api-key');
    }
    // One token serves the whole run.
    expect(tokenRequests).toHaveLength(1);
    expect(tokenRequests[0]).toMatchObject({
      subject_token: 'the-token-of-the-ci',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
    });
    expect(ofType(eventsOf(place), 'init')).toMatchObject([
      { provider: 'vertex', auth: 'adc', model: 'gemini-x' },
    ]);
  });

  test('gets back what it said byte for byte', async () => {
    const parts =
      '{"thoughtSignature":"eA==","functionCall":{"args":{"path":"."},"name":"list_directory","novel":1}},{"text":"b","novelty":{"x":null}}';
    const raw = `data: {"candidates":[{"content":{"parts":[${parts}]},"finishReason":"STOP"}]}\n\n`;
    const { code, requests } = await run({ script: [{ raw }, DONE] });
    expect(code).toBe(0);
    expect(requests[1]?.raw).toContain(`{"role":"model","parts":[${parts}]}`);
  });

  test('is asked in the location that was chosen', async () => {
    const { requests } = await run({ env: { GOOGLE_CLOUD_LOCATION: 'europe-west4' } });
    expect(requests[0]?.url).toContain(
      '/projects/my-project/locations/europe-west4/publishers/google/models/',
    );
  });

  test.each<[string, Record<string, string>]>([
    ['one API key', { GEMINI_API_KEY: 'lying-around' }],
    ['two API keys', { GEMINI_API_KEY: 'lying-around', GOOGLE_API_KEY: 'lying-around' }],
  ])('is not asked with %s from the environment, and the output stays clean', async (_, env) => {
    const { code, stdout, stderr, requests } = await run({ env, flags: ['-o', 'json', '--quiet'] });
    expect(code).toBe(0);
    expect(requests[0]?.headers).not.toHaveProperty('x-goog-api-key');
    expect(requests[0]?.headers.authorization).toBe('Bearer ya29.scripted');
    const [line = '', ...more] = stdout.trimEnd().split('\n');
    expect({ more, stderr }).toEqual({ more: [], stderr: '' });
    expect(JSON.parse(line)).toMatchObject({ status: 'completed', response: 'Done.' });
  });

  test.each([
    [401, 'UNAUTHENTICATED'],
    [403, 'PERMISSION_DENIED'],
  ])('that refuses the account with %i is exit 9', async (status, name) => {
    const body = { error: { code: status, message: 'Not for you', status: name } };
    const { code, stderr } = await run({ script: [{ status, body }] });
    expect(code).toBe(9);
    expect(stderr).toContain(`HTTP ${status} ${name}: Not for you`);
  });

  test('says why its answer could not be used', async () => {
    const script = () => ({ finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'Malformed call: f(' });
    const { code, stderr } = await run({ script });
    expect(code).toBe(7);
    expect(stderr).toContain('Malformed call: f(');
  });
});
