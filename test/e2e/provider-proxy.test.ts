import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from '@jest/globals';
import { makeCertificates } from '../helpers/certificates.js';
import { call, startGeminiServer, text } from '../helpers/gemini-server.mjs';
import { closing } from '../helpers/provider.js';
import { startProxy } from '../helpers/proxy.js';
import { resultOf, runAgainst, scratch } from '../helpers/run-cli.js';
import { startTlsFront } from '../helpers/tls-front.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const use = closing();
const certificates = makeCertificates();
afterAll(certificates.close);
const TRUST = { NODE_EXTRA_CA_CERTS: certificates.authority };
const CREDENTIALS = 'user:p%40ss-secret';
const TWO_TURNS = [{ parts: [call('list_directory', { path: '.' })] }, { parts: [text('Done.')] }];

async function secureServer() {
  const server = use(await startGeminiServer(TWO_TURNS));
  const front = use(await startTlsFront(server.port, certificates));
  const place = scratch();
  use({ close: place.remove });
  const run = (env: Record<string, string>, ...flags: string[]) =>
    runAgainst(front, place, ['-p', 'Go.', ...flags], { env });
  return { server, front, place, run };
}

describe('over TLS', () => {
  test('a server whose authority is trusted is talked to', async () => {
    const { server, run } = await secureServer();
    expect(await run(TRUST)).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(server.requests).toHaveLength(2);
  });

  test('a server whose authority is not trusted gets nothing, and one line says why', async () => {
    const { server, run } = await secureServer();
    const { code, stderr } = await run({});
    expect(code).toBe(11);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).toMatch(/certificate/i);
    expect(server.requests).toEqual([]);
  });
});

describe('through the tunnel of a proxy', () => {
  test('a run takes one CONNECT, and the proxy alone gets its credentials', async () => {
    const { server, front, run } = await secureServer();
    const proxy = use(await startProxy());
    const result = await run({ ...TRUST, HTTPS_PROXY: `http://${CREDENTIALS}@${proxy.host}` });
    expect(result).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(proxy.requests).toHaveLength(1);
    expect(proxy.requests[0]).toMatchObject({
      method: 'CONNECT',
      target: `localhost:${front.port}`,
      headers: { 'proxy-authorization': `Basic ${Buffer.from('user:p@ss-secret').toString('base64')}` },
    });
    expect(proxy.requests[0]?.headers).not.toHaveProperty('x-goog-api-key');
    expect(server.requests).toHaveLength(2);
    for (const { headers } of server.requests) {
      expect(headers).toMatchObject({
        'x-goog-api-key': 'test-key-0123456789',
        host: `localhost:${front.port}`,
      });
      expect(headers).not.toHaveProperty('proxy-authorization');
    }
  });

  test('the certificate is still that of the server', async () => {
    const { server, run } = await secureServer();
    const proxy = use(await startProxy());
    const { code, stderr } = await run({ HTTPS_PROXY: proxy.url });
    expect(code).toBe(11);
    expect(stderr).toMatch(/certificate/i);
    expect(server.requests).toEqual([]);
  });

  test('NO_PROXY leads past it', async () => {
    const { run } = await secureServer();
    const proxy = use(await startProxy());
    const result = await run({ ...TRUST, HTTPS_PROXY: proxy.url, NO_PROXY: 'example.org,localhost' });
    expect(result.code).toBe(0);
    expect(proxy.requests).toEqual([]);
  });

  test('407 is exit 11 in one line that names the proxy and no password', async () => {
    const { front, place, run } = await secureServer();
    const proxy = use(await startProxy({ refuse: 407 }));
    const { code, stdout, stderr } = await run({
      ...TRUST,
      HTTPS_PROXY: `http://${CREDENTIALS}@${proxy.host}`,
    });
    expect({ code, stdout }).toEqual({ code: 11, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).toContain(
      `the proxy ${proxy.host} refused to connect to localhost:${front.port}: HTTP 407`,
    );
    expect(resultOf(place)).toMatchObject({ status: 'provider_unavailable', exit_code: 11 });
    expect(`${stderr}${readFileSync(place.transcript, 'utf8')}`).not.toMatch(/ss-secret/);
  });

  test('the time limit ends the wait for a proxy that says nothing', async () => {
    const { run } = await secureServer();
    const proxy = use(await startProxy({ stall: true }));
    // A run without an end of its own ends when the test gives up and closes the proxy.
    let gaveUp = false;
    const giveUp = setTimeout(() => {
      gaveUp = true;
      void proxy.close();
    }, 4000);
    const { code } = await run({ HTTPS_PROXY: proxy.url }, '--timeout', '1s');
    clearTimeout(giveUp);
    expect({ code, gaveUp, asked: proxy.requests.length }).toEqual({ code: 6, gaveUp: false, asked: 1 });
  });
});

describe('through a plain proxy', () => {
  async function runThrough(options: Parameters<typeof startProxy>[0]) {
    const server = use(await startGeminiServer(TWO_TURNS));
    const proxy = use(await startProxy(options));
    const place = scratch();
    use({ close: place.remove });
    const url = `http://api.invalid:${server.port}`;
    const env = { HTTP_PROXY: `http://${CREDENTIALS}@${proxy.host}` };
    return { ...(await runAgainst({ url }, place, ['-p', 'Go.'], { env })), server, proxy };
  }

  test('a run against a plain base URL names whole URLs, and looks up no name itself', async () => {
    const { code, server, proxy } = await runThrough({});
    expect(code).toBe(0);
    const target = `http://api.invalid:${server.port}/v1beta/models/gemini-test:streamGenerateContent?alt=sse`;
    expect(proxy.requests.map((one) => `${one.method} ${one.target}`)).toEqual([
      `POST ${target}`,
      `POST ${target}`,
    ]);
    expect(server.requests).toHaveLength(2);
  });

  test('407 is exit 11 in one line without the password', async () => {
    const { code, stderr, server } = await runThrough({ refuse: 407 });
    expect(code).toBe(11);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).toMatch(/407/);
    expect(stderr).not.toMatch(/ss-secret/);
    expect(server.requests).toEqual([]);
  });
});
