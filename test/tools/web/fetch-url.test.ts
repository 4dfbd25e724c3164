import { describe, expect, test } from '@jest/globals';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { fetchUrl, type Fetched } from '../../../src/tools/web/fetch-url.js';
import type { WebSettings } from '../../../src/tools/web/settings.js';
import { sized } from '../../helpers/counts.js';
import { closing, within } from '../../helpers/provider.js';
import { startRawServer } from '../../helpers/raw-server.js';
import { guard, names, web } from '../../helpers/web.js';
import { startWebServer, type Route } from '../../helpers/web-server.js';

const use = closing();
const serve = async (routes: Readonly<Record<string, Route>>) => use(await startWebServer(routes));
const never = new AbortController().signal;

function fetched(result: Fetched) {
  if (!result.ok) throw new Error(result.fault);
  return result;
}

function fault(result: Fetched): string {
  return result.ok ? '' : result.fault;
}

const visit = (url: string, settings: WebSettings) => fetchUrl(new URL(url), settings, never);

describe('a page', () => {
  test('comes with its status, type and bytes, and nothing of us goes there but our name', async () => {
    const server = await serve({ '/a?b=c': { type: 'text/html; charset=utf-8', body: '<p>Hi' } });
    const page = fetched(await visit(`${server.url}/a?b=c#part`, web([server.url])));
    expect(page).toMatchObject({ status: 200, contentType: 'text/html; charset=utf-8' });
    expect(page.body.toString()).toBe('<p>Hi');
    const { headers } = server.visits[0] ?? {};
    expect(Object.keys(headers ?? {}).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ]);
    expect(headers).toMatchObject({
      'user-agent': 'bosun/test',
      host: `127.0.0.1:${server.port}`,
      connection: 'close',
    });
    await within(5000, server.visits[0]?.closed ?? Promise.reject());
  });

  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['identity', (body: Buffer) => body],
  ])('that is packed (%s) is unpacked', async (encoding, pack) => {
    const body = pack(Buffer.from('packed text'));
    const server = await serve({ '/': { headers: { 'content-encoding': encoding }, body } });
    expect(fetched(await visit(server.url, web([server.url]))).body.toString()).toBe('packed text');
  });

  test('that is an error is one, with the words of its page', async () => {
    const server = await serve({
      '/gone': { status: 410, body: 'Gone for good.' },
      '/broken': {
        status: 500,
        headers: { 'content-encoding': 'gzip' },
        body: gzipSync(Buffer.from('Oops.')),
      },
      '/nowhere': { status: 302 },
      '/odd': { status: 304 },
    });
    const at = (path: string) => visit(server.url + path, web([server.url]));
    expect(await at('/gone')).toMatchObject({
      fault: 'HTTP 410 Gone',
      excerpt: { body: Buffer.from('Gone for good.') },
    });
    expect(await at('/broken')).toMatchObject({
      fault: 'HTTP 500 Internal Server Error',
      excerpt: { body: Buffer.from('Oops.') },
    });
    expect(fault(await at('/missing'))).toBe('HTTP 404 Not Found');
    expect(fault(await at('/nowhere'))).toBe('HTTP 302 Found');
    expect(fault(await at('/odd'))).toBe('HTTP 304 Not Modified');
  });

  test('of a type that cannot be shown is refused before it is loaded', async () => {
    const server = await serve({
      '/zip': { type: 'application/zip', body: Buffer.alloc(100) },
      '/video': (_request, response) => {
        response.writeHead(200, { 'content-type': 'video/mp4' });
        response.write('endless');
      },
    });
    const at = (path: string) => visit(server.url + path, web([server.url]));
    expect(fault(await at('/zip'))).toBe('it is application/zip of unknown size, which cannot be shown');
    expect(fault(await at('/video'))).toBe('it is video/mp4 of unknown size, which cannot be shown');
    await within(5000, server.visits[1]?.closed ?? Promise.reject());
  });
});

describe('redirects', () => {
  test('are followed, wherever they are relative to', async () => {
    const server = await serve({
      '/a/b': { status: 301, headers: { location: '../c?d' } },
      '/c?d': { status: 307, headers: { location: '/end' } },
      '/end': { body: 'Here.' },
    });
    const page = fetched(await visit(`${server.url}/a/b`, web([server.url])));
    expect(page.url.href).toBe(`${server.url}/end`);
    expect(page.body.toString()).toBe('Here.');
  });

  test('in circles end', async () => {
    const server = await serve({ '/': { status: 302, headers: { location: '/' } } });
    expect(fault(await visit(server.url, web([server.url])))).toBe('more than 10 redirects');
    expect(server.visits).toHaveLength(11);
  });

  test('are judged like the URL itself, each of them', async () => {
    const inner = await serve({ '/': { body: 'secret' } });
    const to = (location: string): Route => ({ status: 302, headers: { location } });
    const server = await serve({
      '/host': to('https://evil.example/x'),
      '/port': to(inner.url),
      '/scheme': to('file:///etc/passwd'),
      '/data': to('data:text/plain,hi'),
      '/user': to('http://user:word@127.0.0.1/'),
      '/metadata': to('http://169.254.169.254/latest/meta-data/'),
      '/mapped': to(`http://[::ffff:127.0.0.1]:${inner.port}/`),
      '/decimal': to(`http://2130706433:${inner.port}/`),
      '/twice': to('/port'),
      '/garbage': to('http://['),
    });
    const at = async (path: string) => fault(await visit(server.url + path, web([server.url])));
    expect(await at('/host')).toMatch(/^it redirects to https:\/\/evil\.example\/x, and .* not covered/);
    expect(await at('/port')).toMatch(/not covered by network\.allow/);
    expect(await at('/scheme')).toMatch(/only http and https/);
    expect(await at('/data')).toMatch(/only http and https/);
    expect(await at('/user')).toMatch(/user name or password/);
    expect(await at('/metadata')).toMatch(/not covered/);
    expect(await at('/mapped')).toMatch(/not covered/);
    expect(await at('/decimal')).toMatch(/not covered/);
    expect(await at('/twice')).toMatch(/not covered/);
    expect(await at('/garbage')).toBe('it redirects to something that is not a URL');
    expect(inner.visits).toHaveLength(0);
  });

  test('to a literal private address are refused where any host is allowed', async () => {
    const inner = await serve({ '/': { body: 'secret' } });
    const server = await serve({ '/': { status: 302, headers: { location: inner.url } } });
    const settings = web([server.url, '*', `*:${inner.port}`]);
    expect(fault(await visit(server.url, settings))).toMatch(/127\.0\.0\.1 is a loopback address/);
    expect(inner.visits).toHaveLength(0);
  });
});

describe('a name is reached at the addresses that were checked, and nowhere else', () => {
  test('it is looked up once for a connection, and connected to where that said', async () => {
    const server = await serve({ '/': { body: 'inside' } });
    const { resolve, asked } = names({ 'inside.example': '127.0.0.1' });
    const page = await visit(
      `http://inside.example:${server.port}/`,
      web([`inside.example:${server.port}`], { resolve }),
    );
    expect(fetched(page).body.toString()).toBe('inside');
    expect(asked).toEqual(['inside.example']);
    expect(server.visits[0]?.headers.host).toBe(`inside.example:${server.port}`);
  });

  test.each([
    ['127.0.0.1', 'loopback'],
    ['10.1.2.3', 'private'],
    ['169.254.169.254', 'cloud metadata'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['64:ff9b::7f00:1', 'loopback'],
    ['fd00::1', 'private'],
    ['0.0.0.0', 'unspecified'],
  ])('a public name that leads to %s is refused', async (address, use) => {
    const { resolve } = names({ 'public.example': address });
    const settings = web([], { resolve, network: guard(['public.example', '*'], 'deny') });
    expect(fault(await visit('http://public.example/', settings))).toBe(
      `public.example leads to ${address}, a ${use} address, which the policy does not allow`,
    );
  });

  test('one private address among public ones spoils the name', async () => {
    const { resolve } = names({ 'public.example': ['8.8.8.8', '127.0.0.1'] });
    const settings = web([], { resolve, network: guard(['*'], 'allow') });
    expect(fault(await visit('http://public.example/', settings))).toMatch(/leads to 127\.0\.0\.1/);
  });

  test('a name that changes its mind between two connections is checked at each', async () => {
    const server = await serve({ '/': { status: 302, headers: { location: '/secret' } } });
    const answers = [['127.0.0.1'], ['169.254.169.254']];
    const resolve = async () => (answers.shift() ?? ['127.0.0.1']).map((address) => ({ address, family: 4 }));
    const allow = [`inside.example:${server.port}`];
    const result = await visit(`http://inside.example:${server.port}/`, web(allow, { resolve }));
    expect(fault(result)).toMatch(/inside\.example leads to 169\.254\.169\.254, a cloud metadata address/);
    expect(server.visits).toHaveLength(1);
  });

  test('a redirect to a name that leads inside is refused', async () => {
    const server = await serve({});
    const start = await serve({
      '/': { status: 302, headers: { location: `http://public.example:${server.port}/` } },
    });
    const { resolve } = names({ 'public.example': '127.0.0.1' });
    const result = await visit(start.url, web([start.url, `*:${server.port}`], { resolve }));
    expect(fault(result)).toMatch(/public\.example leads to 127\.0\.0\.1, a loopback address/);
    expect(server.visits).toHaveLength(0);
  });

  test('the address of cloud metadata is reached by no name, even one that may be private', async () => {
    const { resolve } = names({ 'inside.example': '169.254.169.254', 'link.example': '169.254.1.1' });
    const settings = web(['inside.example', 'link.example'], { resolve });
    expect(fault(await visit('http://inside.example/', settings))).toMatch(/lists the address itself/);
    expect(fault(await visit('http://link.example/', settings))).toMatch(/lists the address itself/);
  });

  test('a name without an address is a plain failure', async () => {
    const { resolve } = names({});
    expect(fault(await visit('http://x.example/', web(['x.example'], { resolve })))).toBe(
      'x.example has no address',
    );
  });
});

describe('limits', () => {
  const small = { bodyBytes: 1024 * 1024 };

  test('a body that says that it is too long is not loaded', async () => {
    const server = await serve({
      '/': (_request, response) =>
        response.writeHead(200, { 'content-length': '99999999999' }).flushHeaders(),
    });
    expect(fault(await visit(server.url, web([server.url])))).toBe('it has more than 10 MiB');
    await within(5000, server.visits[0]?.closed ?? Promise.reject());
  });

  test('a body without end is given up on, and the connection closed', async () => {
    const server = await serve({
      '/': (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/plain' });
        const more = () => {
          while (response.write('x'.repeat(64 * 1024)));
        };
        response.on('drain', more);
        more();
      },
    });
    const result = await within(10_000, visit(server.url, web([server.url], { limits: small })));
    expect(fault(result)).toBe('it has more than 1 MiB');
    await within(5000, server.visits[0]?.closed ?? Promise.reject());
  });

  const huge = Buffer.alloc(sized(50 * 1024 * 1024));
  test.each([
    ['gzip', gzipSync(huge)],
    ['br', brotliCompressSync(huge)],
    ['deflate', deflateSync(huge)],
    ['gzip, gzip', gzipSync(gzipSync(huge))],
  ])('a small body that unpacks to a huge one (%s) is not unpacked', async (encoding, body) => {
    const server = await serve({ '/': { headers: { 'content-encoding': encoding }, body } });
    const result = await visit(server.url, web([server.url], { limits: small }));
    expect(fault(result)).toBe('it unpacks to more than 1 MiB');
  });

  test.each([
    ['gzip', /its gzip data are broken/],
    ['zstd', /in an unknown way: zstd/],
    ['gzip, gzip, gzip', /compressed 3 times over/],
  ])('what is packed as %s and cannot be unpacked is an error', async (encoding, message) => {
    const server = await serve({ '/': { headers: { 'content-encoding': encoding }, body: 'nonsense' } });
    expect(fault(await visit(server.url, web([server.url])))).toMatch(message);
  });

  test('half a packed body is no page', async () => {
    const whole = gzipSync(Buffer.from('x'.repeat(10_000)));
    const server = await serve({
      '/': { headers: { 'content-encoding': 'gzip' }, body: whole.subarray(0, whole.length - 10) },
    });
    expect(fault(await visit(server.url, web([server.url])))).toBe('its gzip data are broken');
  });

  test.each([
    ['a head that does not come', ''],
    [
      'a body that does not come',
      'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\nab',
    ],
  ])('%s is not waited for', async (_what, bytes) => {
    const server = use(await startRawServer(({ socket }) => void socket.write(bytes)));
    const result = await within(10_000, visit(server.url, web([server.url], { limits: { timeMs: 200 } })));
    expect(fault(result)).toBe('no complete answer within 200 ms');
    await within(5000, server.connections[0]?.closed ?? Promise.reject());
  });

  test('the time is for all redirects together', async () => {
    const server = await serve({
      '/': (_request, response) => {
        setTimeout(() => response.writeHead(302, { location: '/' }).end(), 60);
      },
    });
    const settings = web([server.url], { limits: { timeMs: 250, redirects: 1000 } });
    expect(fault(await within(10_000, visit(server.url, settings)))).toBe('no complete answer within 250 ms');
    expect(server.visits.length).toBeLessThan(6);
  });

  test('a name that is never resolved is not waited for', async () => {
    const settings = web(['slow.example'], { limits: { timeMs: 100 }, resolve: () => new Promise(() => {}) });
    const result = await within(10_000, visit('http://slow.example/', settings));
    expect(fault(result)).toBe('no complete answer within 100 ms');
  });
});

describe('a server that breaks off', () => {
  test.each([
    ['before it answers', ''],
    ['in its head', 'HTTP/1.1 200 OK\r\ncontent-ty'],
    ['in a body with a length', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc'],
    ['in a body in pieces', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n'],
    ['with something that is not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
    [
      'with another protocol',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    ],
    ['with a head that is too long', `HTTP/1.1 200 OK\r\n${'x-y: z\r\n'.repeat(10_000)}\r\n`],
  ])('%s is a failure, never half a page', async (_when, bytes) => {
    const server = use(await startRawServer(({ socket }) => void socket.end(bytes)));
    const result = await within(10_000, visit(server.url, web([server.url])));
    expect(result.ok).toBe(false);
  });

  test('is told apart from one that is not there', async () => {
    const server = await startWebServer({});
    await server.close();
    expect(fault(await visit(server.url, web([server.url])))).toMatch(/ECONNREFUSED/);
  });
});

test('abort closes the connection in the middle of a body', async () => {
  const server = await serve({
    '/': (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write('beginning');
      stop.abort();
    },
  });
  const stop = new AbortController();
  const result = await within(5000, fetchUrl(new URL(server.url), web([server.url]), stop.signal));
  expect(fault(result)).toBe('cancelled');
  await within(5000, server.visits[0]?.closed ?? Promise.reject());
});

test('what was aborted before it began goes nowhere', async () => {
  const server = await serve({});
  const result = await fetchUrl(new URL(server.url), web([server.url]), AbortSignal.abort());
  expect(fault(result)).toBe('cancelled');
  expect(server.visits).toHaveLength(0);
});
