import { verify } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { makeCertificates } from '../helpers/certificates.js';
import { sampled } from '../helpers/counts.js';
import { startProxy } from '../helpers/proxy.js';
import { IMPATIENT, resultOf } from '../helpers/run-cli.js';
import { serviceAccount, startTokenServer, vertexRuns, type VertexSetting } from '../helpers/run-vertex.js';
import { startTlsFront } from '../helpers/tls-front.js';

const { use, run } = vertexRuns();
const REFUSED = { error: 'invalid_grant', error_description: 'The token was\nrefused.' };

describe('a run without an access token', () => {
  sampled.each<[string, VertexSetting]>([
    ['it was refused with 400', { token: { status: 400, body: REFUSED } }],
    ['it was refused with 401', { token: { status: 401, body: REFUSED } }],
    ['it was refused with 403', { token: { status: 403, body: REFUSED } }],
    ['there is no file', { env: { GOOGLE_APPLICATION_CREDENTIALS: '/nonexistent/account.json' } }],
    ['there are no credentials at all', { env: { GOOGLE_APPLICATION_CREDENTIALS: '' } }],
    ['the file is not JSON', { credentials: '{"type": "service_acc' }],
    ['the file is empty', { credentials: '' }],
    ['the file is of another kind', { credentials: '{"type":"something","private_key":""}' }],
    ['its key is not a key', { credentials: JSON.stringify({ ...serviceAccount().json, private_key: 'x' }) }],
  ])('because %s is exit 9, in one line', async (_, setting) => {
    const { code, stdout, stderr, place, requests } = await run(setting);
    expect({ code, stdout, asked: requests.length }).toEqual({ code: 9, stdout: '', asked: 0 });
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).toMatch(/^bosun: error: auth /);
    expect(resultOf(place)).toMatchObject({ status: 'auth', exit_code: 9, error: { retryable: false } });
  });

  test('because the endpoint is not there is exit 11: that may pass', async () => {
    const gone = await startTokenServer();
    await gone.close();
    const credentials = JSON.stringify({
      type: 'external_account',
      audience: 'x',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `http://127.0.0.1:${gone.port}/v1/token`,
      // Any file will do for the token of the CI.
      credential_source: { file: import.meta.filename },
    });
    const { code, stderr, place } = await run({ credentials, flags: IMPATIENT });
    expect(code).toBe(11);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(resultOf(place).error).toMatchObject({ retryable: true });
  });

  test('because the endpoint says nothing still ends at its time limit', async () => {
    const { code, signal } = await run({ token: 'hang', flags: ['--timeout', '1s'] });
    expect({ code, signal }).toEqual({ code: 6, signal: null });
  });
});

test('behind a proxy a service account gets its token through it', async () => {
  const tokens = use(await startTokenServer());
  const certificates = use(makeCertificates('oauth2.googleapis.com'));
  const front = use(await startTlsFront(tokens.port, certificates));
  // No name leaves this machine: the proxy knows this one, and takes any other for a port here.
  const proxy = use(await startProxy({ routes: { 'oauth2.googleapis.com:443': front.port } }));
  const { json, publicKey } = serviceAccount();
  const { code, stderr, requests } = await run({
    credentials: JSON.stringify(json),
    env: { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: certificates.authority },
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('completed') });
  expect(proxy.requests.map(({ method, target }) => `${method} ${target}`)).toEqual([
    'CONNECT oauth2.googleapis.com:443',
  ]);
  expect(requests[0]?.headers.authorization).toBe('Bearer ya29.scripted');
  const [head = '', claims = '', signature = ''] = (tokens.requests[0]?.['assertion'] ?? '').split('.');
  const signed = Buffer.from(`${head}.${claims}`);
  expect(verify('sha256', signed, publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
});
