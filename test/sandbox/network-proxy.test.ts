import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { after, allOf, proxy, tunnelTo } from '../helpers/network-proxy.js';
import { startRawServer } from '../helpers/raw-server.js';
import { startWebServer } from '../helpers/web-server.js';

const get = (url: string, more = '') =>
  `GET ${url} HTTP/1.1\r\nHost: whatever.example\r\n${more}Connection: close\r\n\r\n`;

/** A server that answers every request with what it got, and closes the connection. */
async function mirror() {
  return after(
    await startRawServer(({ socket, requests }) => {
      const body = requests.at(-1) ?? '';
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    }),
  );
}

describe('plain requests', () => {
  test('are sent on to the judged host, without what was for the proxy', async () => {
    const { port } = await mirror();
    const { exchange, decisions } = await proxy([`a.test:${port}`]);
    const more =
      'Proxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\nTE: gzip\r\n' +
      'Upgrade: h2c\r\nX-Kept: 1\r\nX-Kept: 2\r\n';
    const answer = await exchange(
      `GET http://A.test:${port}/p?q HTTP/1.1\r\nHost: other.test\r\n${more}X-Hop: 3\r\nConnection: close, x-hop\r\n\r\n`,
    );
    const [, request] = answer.split('\r\n\r\n');
    expect(request?.split('\r\n')).toEqual([
      'GET /p?q HTTP/1.1',
      'X-Kept: 1',
      'X-Kept: 2',
      `Host: a.test:${port}`,
      'Connection: close',
    ]);
    expect(decisions).toEqual([
      {
        host: 'a.test',
        port,
        scheme: 'http',
        decision: 'allow',
        reason: 'covered by network.allow',
        address: '127.0.0.1',
        count: 1,
      },
    ]);
  });

  test('to a host that is not allowed get 403 and the entry that is missing', async () => {
    const { exchange, decisions } = await proxy(['a.test']);
    const answer = await exchange(get('http://b.test:81/'));
    expect(answer).toMatch(/^HTTP\/1.1 403 Forbidden\r\n/);
    expect(answer).toContain('it would need the entry b.test:81');
    expect(decisions).toMatchObject([{ host: 'b.test', port: 81, decision: 'deny', count: 1 }]);
  });

  test.each(['/', 'https://a.test/', 'ftp://a.test/', 'http://u@a.test/', 'http://a.test\\@b.test/'])(
    'for %s get 400',
    async (url) => {
      const { exchange, decisions } = await proxy(['*']);
      expect(await exchange(get(url))).toMatch(/^HTTP\/1.1 400 /);
      expect(decisions).toEqual([]);
    },
  );

  test('of one connection are judged one by one', async () => {
    const web = after(await startWebServer({ '/x': { body: 'here' } }));
    const { open, decisions } = await proxy([`a.test:${web.port}`]);
    const socket = open();
    const all = allOf(socket);
    const ask = (url: string) => `GET ${url} HTTP/1.1\r\nHost: a.test\r\n\r\n`;
    socket.write(ask(`http://a.test:${web.port}/x`));
    await new Promise((resolve) => socket.once('data', resolve));
    socket.write(ask(`http://b.test:${web.port}/x`));
    const text = await all;
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 403']);
    expect(decisions.map(({ host, decision }) => [host, decision])).toEqual([
      ['a.test', 'allow'],
      ['b.test', 'deny'],
    ]);
    expect(web.visits).toHaveLength(1);
  });

  test('that are sent without waiting are answered in their order, but not any number of them', async () => {
    const web = after(await startWebServer({ '/1': { body: 'one' }, '/2': { body: 'two' } }));
    const { exchange } = await proxy([`a.test:${web.port}`], { limits: { pipelined: 3 } });
    const ask = (path: string) => `GET http://a.test:${web.port}${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`;
    const text = await exchange(ask('/1') + get(`http://a.test:${web.port}/2`));
    expect(text.indexOf('one')).toBeGreaterThan(0);
    expect(text.indexOf('two')).toBeGreaterThan(text.indexOf('one'));
    expect(await exchange(ask('/1').repeat(4))).toBe('');
  });

  test('keep their body, whether its length is told or not', async () => {
    const { port } = await mirror();
    const { exchange } = await proxy([`a.test:${port}`]);
    const post = (framing: string, body: string) =>
      exchange(
        `POST http://a.test:${port}/ HTTP/1.1\r\nHost: a.test\r\n${framing}Connection: close\r\n\r\n${body}`,
      );
    expect(await post('Content-Length: 5\r\n', 'hello')).toContain('Content-Length: 5\r\n');
    expect(await post('Content-Length: 5\r\nConnection: content-length\r\n', 'hello')).toContain(
      'Content-Length: 5\r\n',
    );
    const chunked = await post('Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n');
    expect(chunked).toContain('Transfer-Encoding: chunked\r\n');
  });

  test('with a body keep its framing even where Node would add none', async () => {
    const seen: string[] = [];
    const server = createServer((socket) => {
      socket.on('data', (chunk: Buffer) => {
        seen.push(chunk.toString());
        if (seen.join('').endsWith('0\r\n\r\n')) socket.end('HTTP/1.1 204 No Content\r\n\r\n');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = after(server).address() as AddressInfo;
    const { exchange } = await proxy([`a.test:${port}`]);
    const smuggled = `GET http://evil.test/ HTTP/1.1\r\n\r\n`;
    await exchange(
      `GET http://a.test:${port}/ HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n` +
        `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
    );
    expect(seen.join('')).toMatch(/\r\nTransfer-Encoding: chunked\r\n[^]*\r\n\r\n22\r\nGET http:\/\/evil/);
  });

  test.each([
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 6\r\n', 400],
    ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', 400],
    ['a length that is none', 'Content-Length: +5\r\n', 400],
    ['an encoding that hides chunks', 'Transfer-Encoding: xchunked\r\n', 501],
    ['an encoding we do not know', 'Transfer-Encoding: gzip, chunked\r\n', 501],
    ['a header with a space in its name', 'X Y: 1\r\n', 400],
    ['a folded header', 'X: 1\r\n\t2\r\nContent-Length : 3\r\n', 400],
  ])('with %s are refused', async (_what, headers, status) => {
    const { port, connections } = await mirror();
    const { exchange } = await proxy([`a.test:${port}`]);
    const request = `POST http://a.test:${port}/ HTTP/1.1\r\nHost: a.test\r\n${headers}Connection: close\r\n\r\n5\r\nhello\r\n0\r\n\r\n`;
    expect(await exchange(request)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(connections).toHaveLength(0);
  });

  test('that nobody answers get 502', async () => {
    const closed = await startRawServer(() => {});
    await closed.close();
    const silent = after(await startRawServer(({ socket }) => socket.destroy()));
    const { exchange } = await proxy([`a.test:${closed.port}`, `a.test:${silent.port}`]);
    const refused = await exchange(get(`http://a.test:${closed.port}/`));
    expect(refused).toMatch(/^HTTP\/1.1 502 [^]*ECONNREFUSED.*not through a proxy of this machine/);
    expect(await exchange(get(`http://a.test:${silent.port}/`))).toMatch(/^HTTP\/1.1 502 /);
  });

  test('come back cut off where the answer was', async () => {
    const { port } = after(
      await startRawServer(({ socket }) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')),
    );
    const { exchange } = await proxy([`a.test:${port}`]);
    const answer = await exchange(get(`http://a.test:${port}/`));
    expect(answer).toMatch(/Content-Length: 100\r\n[^]*half$/);
  });
});

describe('tunnels', () => {
  test('carry bytes both ways, those sent too early too, and each side closes by itself', async () => {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.once('end', () => socket.end(`got ${text}`));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = after(server).address() as AddressInfo;
    const { open, decisions } = await proxy([`a.test:${port}`]);
    const socket = open();
    const all = allOf(socket);
    socket.end(`CONNECT a.test:${port} HTTP/1.1\r\nHost: a.test\r\n\r\nearly`);
    expect(await all).toBe('HTTP/1.1 200 Connection established\r\n\r\ngot early');
    expect(decisions).toMatchObject([{ host: 'a.test', port, scheme: 'https', decision: 'allow' }]);
  });

  test('to elsewhere get 403, 400 or 502', async () => {
    const { exchange } = await proxy(['a.test:1']);
    const ask = (authority: string) => exchange(`CONNECT ${authority} HTTP/1.1\r\n\r\n`);
    expect(await ask('b.test:443')).toMatch(/^HTTP\/1.1 403 Forbidden\r\n[^]*would need the entry b.test\n$/);
    expect(await ask('b.test')).toMatch(/^HTTP\/1.1 400 /);
    expect(await ask('a.test:1')).toMatch(/^HTTP\/1.1 502 /);
  });

  test('end with the server, and with the program', async () => {
    const arrived: Socket[] = [];
    const server = createServer((socket) => arrived.push(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = after(server).address() as AddressInfo;
    const { open } = await proxy([`a.test:${port}`]);
    const first = await tunnelTo(open(), `a.test:${port}`);
    const gone = allOf(first);
    arrived[0]?.resetAndDestroy();
    await gone;
    const second = await tunnelTo(open(), `a.test:${port}`);
    const left = new Promise((resolve) => arrived[1]?.once('close', resolve).on('error', () => {}));
    second.resetAndDestroy();
    await left;
  });
});

describe('decisions', () => {
  test('are told once at once, and their repeats at the end', async () => {
    const { exchange, decisions, close } = await proxy(['a.test']);
    for (let i = 0; i < 4; i++) await exchange(get('http://b.test/'));
    await exchange(get('http://b.test:443/'));
    expect(decisions.map(({ port, count }) => [port, count])).toEqual([
      [80, 1],
      [443, 1],
    ]);
    close();
    expect(decisions.slice(2)).toEqual([{ ...decisions[0], count: 3 }]);
  });

  test('are not made without end: too many places are refused together', async () => {
    const { port } = await mirror();
    const { exchange, decisions, close } = await proxy(['*', `a.test:${port}`]);
    const asked = Array.from(
      { length: 1001 },
      (_, i) => `GET http://h${i}.example:81/ HTTP/1.1\r\nHost: x\r\n\r\n`,
    );
    for (const request of asked) await exchange(request);
    expect(decisions).toHaveLength(1001);
    expect(decisions.at(-1)).toMatchObject({ host: '*', port: 0, decision: 'deny' });
    expect(await exchange(get(`http://a.test:${port}/`))).toMatch(
      /^HTTP\/1.1 403 [^]*more than 1000 different destinations/,
    );
    close();
    expect(decisions.slice(1001)).toMatchObject([{ host: '*', count: 1 }]);
  });
});
