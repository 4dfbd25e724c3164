import { describe, expect, test } from '@jest/globals';
import { proxyAuthorization, proxyFor } from '../../src/providers/http/proxy.js';
import { asFailure, asReply, providers, send } from '../helpers/provider.js';
import { startProxy } from '../helpers/proxy.js';
import { text } from '../helpers/gemini-server.mjs';

const { use, open, serve } = providers();
const API = 'https://generativelanguage.googleapis.com/v1beta';
const hrefFor = (url: string, variables: Record<string, string>) => proxyFor(new URL(url), variables)?.href;

describe('the proxy for a URL', () => {
  test.each<[string, string, Record<string, string>, string | undefined]>([
    ['none if none is named', API, {}, undefined],
    ['HTTPS_PROXY for https', API, { HTTPS_PROXY: 'http://p:3128' }, 'http://p:3128/'],
    ['https_proxy too', API, { https_proxy: 'http://p:3128' }, 'http://p:3128/'],
    ['the lower-case name first', API, { https_proxy: 'http://a', HTTPS_PROXY: 'http://b' }, 'http://a/'],
    ['not HTTP_PROXY for https', API, { HTTP_PROXY: 'http://p' }, undefined],
    ['not HTTPS_PROXY for http', 'http://h/', { HTTPS_PROXY: 'http://p' }, undefined],
    ['HTTP_PROXY for http', 'http://h/', { HTTP_PROXY: 'http://p' }, 'http://p/'],
    ['ALL_PROXY for either', API, { ALL_PROXY: 'http://p' }, 'http://p/'],
    [
      'the special one before ALL_PROXY',
      API,
      { ALL_PROXY: 'http://a', HTTPS_PROXY: 'http://b' },
      'http://b/',
    ],
    [
      'ALL_PROXY where the special one is empty',
      API,
      { ALL_PROXY: 'http://a', HTTPS_PROXY: '' },
      'http://a/',
    ],
    ['a name without a scheme', API, { HTTPS_PROXY: 'p.local:8080' }, 'http://p.local:8080/'],
    ['none if the variable is empty', API, { HTTPS_PROXY: '' }, undefined],
    ['with its credentials', API, { HTTPS_PROXY: 'http://u:p%40@h:1' }, 'http://u:p%40@h:1/'],
  ])('is %s', (_, url, variables, expected) => {
    expect(hrefFor(url, variables)).toBe(expected);
  });
});

describe('NO_PROXY', () => {
  test.each<[noProxy: string, url: string, direct: boolean]>([
    ['*', API, true],
    ['googleapis.com', API, true],
    ['.googleapis.com', API, true],
    ['*.googleapis.com', API, true],
    ['generativelanguage.googleapis.com', API, true],
    ['GoogleAPIs.COM', API, true],
    ['other.org, googleapis.com', API, true],
    ['other.org,googleapis.com', API, true],
    ['other.org googleapis.com', API, true],
    [' , googleapis.com ,', API, true],
    ['googleapis.com:443', API, true],
    ['googleapis.com:8443', API, false],
    ['localhost:8080', 'http://localhost:8080/', true],
    ['localhost:8080', 'http://localhost:8081/', false],
    ['h:80', 'http://h/', true],
    ['apis.com', API, false],
    ['googleapis.com.evil.org', API, false],
    ['other.org', API, false],
    ['', API, false],
    [',', API, false],
    ['127.0.0.1', 'http://127.0.0.1:9/', true],
    ['127.0.0.1', 'http://127.0.0.10/', false],
    ['127.0.0.1,::1', 'http://[::1]:9/', true],
    ['[::1]', 'http://[::1]:9/', true],
    ['[::1]:9', 'http://[::1]:9/', true],
    ['[::1]:8', 'http://[::1]:9/', false],
    ['::2', 'http://[::1]:9/', false],
  ])('%j leads to %s directly: %s', (noProxy, url, direct) => {
    for (const name of ['NO_PROXY', 'no_proxy']) {
      const proxy = hrefFor(url, { ALL_PROXY: 'http://p', [name]: noProxy });
      expect(proxy).toBe(direct ? undefined : 'http://p/');
    }
  });
});

describe('the credentials of a proxy', () => {
  test.each([
    ['http://p', undefined],
    ['http://user@p', 'user:'],
    ['http://user:pass@p', 'user:pass'],
    ['http://us%40er:p%3Ass%20w%C3%B6rd@p', 'us@er:p:ss wörd'],
  ])('in %s are sent as %s', (url, expected) => {
    const header = proxyAuthorization(new URL(url))['proxy-authorization'];
    const decoded = header && Buffer.from(header.replace(/^Basic /, ''), 'base64').toString('utf8');
    expect(decoded).toBe(expected);
  });
});

describe('a plain HTTP request through a proxy', () => {
  test('names the whole URL, and the name is not looked up here', async () => {
    const server = await serve([{ parts: [text('via proxy')] }, { parts: [text('again')] }]);
    const proxy = use(await startProxy());
    const HTTP_PROXY = `http://user:secret@${proxy.host}`;
    const provider = open({ url: `http://api.invalid:${server.port}` }, { proxyVariables: { HTTP_PROXY } });
    expect(asReply(await send(provider)).content.parts).toEqual([{ text: 'via proxy' }]);
    asReply(await send(provider));
    const path = '/v1beta/models/gemini-test:streamGenerateContent?alt=sse';
    expect(proxy.requests[0]).toMatchObject({
      method: 'POST',
      target: `http://api.invalid:${server.port}${path}`,
      headers: {
        host: `api.invalid:${server.port}`,
        'proxy-authorization': `Basic ${Buffer.from('user:secret').toString('base64')}`,
      },
    });
    expect(server.requests.map(({ url }) => url)).toEqual([path, path]);
  });

  test('goes past the proxy where NO_PROXY says so', async () => {
    const server = await serve([{ parts: [text('direct')] }]);
    const proxy = use(await startProxy());
    asReply(await send(open(server, { proxyVariables: { HTTP_PROXY: proxy.url, NO_PROXY: '127.0.0.1' } })));
    expect(proxy.requests).toEqual([]);
  });

  test('that the proxy refuses is the network, not the request', async () => {
    const proxy = use(await startProxy({ refuse: 407 }));
    const settings = { proxyVariables: { HTTP_PROXY: `http://user:secret@${proxy.host}` } };
    const failure = asFailure(await send(open({ url: 'http://api.invalid' }, settings)));
    expect(failure.class).toBe('unavailable');
    expect(failure.message).toMatch(/407/);
    expect(failure.message).not.toContain('secret');
  });
});

describe('a tunnel', () => {
  const through = (proxyUrl: string, url = 'https://api.invalid:8443') =>
    send(open({ url }, { proxyVariables: { HTTPS_PROXY: proxyUrl } }));

  test.each([403, 407, 502])(
    'that the proxy refuses with %i is unavailable, and says so in one line',
    async (refuse) => {
      const proxy = use(await startProxy({ refuse }));
      const failure = asFailure(await through(`http://user:secret@${proxy.host}`));
      expect(failure).toMatchObject({ class: 'unavailable' });
      expect(failure.message).toBe(
        `no answer from the API: the proxy ${proxy.host} refused to connect to api.invalid:8443: HTTP ${refuse}`,
      );
      expect(proxy.requests[0]?.headers['proxy-authorization']).toMatch(/^Basic /);
    },
  );

  test('to an IPv6 address names it in brackets', async () => {
    const proxy = use(await startProxy({ refuse: 403 }));
    await through(proxy.url, 'https://[::1]:8443');
    expect(proxy.requests.map(({ method, target }) => `${method} ${target}`)).toEqual(['CONNECT [::1]:8443']);
  });

  test('through a proxy that is not there says which one', async () => {
    const proxy = await startProxy();
    await proxy.close();
    const failure = asFailure(await through(proxy.url));
    expect(failure).toMatchObject({ class: 'unavailable', retryable: true });
    expect(failure.message).toContain(`the proxy ${proxy.host} failed: connect ECONNREFUSED`);
  });

  test.each(['http://', 'http://%%%', 'socks5://127.0.0.1:1', 'http://u%:p@127.0.0.1:1'])(
    'through %s is a failure that names the proxy, not an exception',
    async (proxyUrl) => {
      const failure = asFailure(await through(proxyUrl));
      expect(failure.message).toMatch(/^[^\n]*proxy[^\n]*$/i);
    },
  );
});
