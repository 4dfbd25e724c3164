import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { fewLookups } from '../../src/sandbox/network/lookups.js';
import { bound } from '../helpers/bounds.js';
import { after, allOf, proxy, tunnelTo } from '../helpers/network-proxy.js';
import { until } from '../helpers/until.js';
import { startWebServer } from '../helpers/web-server.js';

const QUICK = { headerMs: 150, checkMs: 20 };

/** A server that takes no connections: its process is stopped, and its queue is short. */
async function stoppedServer(): Promise<{ port: number; end: () => void }> {
  const script =
    "const s=require('net').createServer().listen({port:0,host:'127.0.0.1',backlog:1},()=>console.log(s.address().port))";
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  child.kill('SIGSTOP');
  return { port: Number(line), end: () => child.kill('SIGKILL') };
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (after(server).address() as AddressInfo).port;
}

describe('a program that takes its time', () => {
  test.each([
    ['says nothing', ''],
    ['never ends its head', 'GET http://a.test/ HTTP/1.1\r\nX: '],
    ['never ends its CONNECT', 'CONNECT a.test:443 HTTP/1.1\r\n'],
  ])('and %s is sent away', async (_what, bytes) => {
    const { open } = await proxy(['a.test'], { limits: { ...QUICK, idleMs: 300 } });
    const socket = open();
    const all = allOf(socket);
    socket.write(bytes);
    expect(await all).not.toContain(' 200 ');
  });

  test('byte by byte is sent away all the same', async () => {
    const { open } = await proxy(['a.test'], { limits: QUICK });
    const socket = open();
    const all = allOf(socket);
    socket.write('GET http://a.test/ HTTP/1.1\r\nX: ');
    const drip = setInterval(() => socket.write('X'), 10);
    expect(await all).toMatch(/^HTTP\/1.1 408 /);
    clearInterval(drip);
  });

  test('and leaves a tunnel idle loses it, on both sides', async () => {
    let far: Promise<unknown> | undefined;
    const port = await listening(
      createServer((socket) => {
        far = allOf(socket);
      }),
    );
    const { open } = await proxy([`a.test:${port}`], { limits: { idleMs: 100 } });
    await allOf(await tunnelTo(open(), `a.test:${port}`));
    await far;
  });
});

test('heads that are too long are refused', async () => {
  const { exchange } = await proxy(['a.test'], { limits: { headerBytes: 2000 } });
  expect(await exchange(`GET http://a.test/ HTTP/1.1\r\nX: ${'x'.repeat(3000)}\r\n\r\n`)).toMatch(
    /^HTTP\/1.1 431 /,
  );
});

test('a name that nobody answers for is given up', async () => {
  const { exchange } = await proxy(['slow.test'], {
    resolve: () => new Promise(() => {}),
    limits: { connectMs: 100 },
  });
  expect(await exchange('CONNECT slow.test:443 HTTP/1.1\r\n\r\n')).toMatch(
    /^HTTP\/1.1 502 [^]*the address of slow.test is not known: no answer within 100 ms/,
  );
});

test('a host that does not answer is given up', async () => {
  const { port, end } = await stoppedServer();
  const { open } = await proxy([`a.test:${port}`], { limits: { connectMs: 300 } });
  const ask = (line: string) => {
    const socket = open();
    socket.write(`${line} HTTP/1.1\r\nHost: a\r\n\r\n`);
    return allOf(socket);
  };
  // The first ones wait in the server's queue; then it is full, and further ones are not even refused.
  for (let i = 0; i < 4; i++) void ask(`CONNECT a.test:${port}`);
  const tunnel = await ask(`CONNECT a.test:${port}`);
  expect(tunnel).toMatch(/^HTTP\/1.1 504 [^]*no connection in time/);
  expect(await ask(`GET http://a.test:${port}/`)).toMatch(/^HTTP\/1.1 504 [^]*no connection in time/);
  end();
});

test('more connections than allowed are closed, and the others go on', async () => {
  const web = after(await startWebServer({ '/': { body: 'here' } }));
  const { open, exchange } = await proxy([`a.test:${web.port}`], { limits: { connections: 5 } });
  const held = await Promise.all(Array.from({ length: 5 }, () => tunnelTo(open(), `a.test:${web.port}`)));
  expect(await exchange(`GET http://a.test:${web.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`)).toBe('');
  const all = allOf(held[0] as Socket);
  held[0]?.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  expect(await all).toContain('here');
});

test('a reader that does not read stops the sender', async () => {
  let sent = 0;
  let stalled = false;
  const block = Buffer.alloc(64 * 1024);
  const port = await listening(
    createServer((socket) => {
      socket.on('error', () => {});
      const more = () => {
        while (socket.write(block)) sent += block.length;
        stalled = true;
        socket.once('drain', () => {
          stalled = false;
          more();
        });
      };
      more();
    }),
  );
  const { open } = await proxy([`a.test:${port}`]);
  const socket = open();
  socket.pause();
  socket.write(`CONNECT a.test:${port} HTTP/1.1\r\n\r\n`);
  let before = -1;
  // Two looks with nothing sent in between: whatever is buffered on the way is full.
  await until(() => {
    const still = stalled && sent > 0 && sent === before;
    before = sent;
    return still;
  }, 'the sender stalls');
  expect(sent).toBeLessThan(64 * 1024 * 1024);
});

test('the end of a run ends every connection at once', async () => {
  const far: Promise<unknown>[] = [];
  const port = await listening(createServer((socket) => void far.push(allOf(socket))));
  const { open, close } = await proxy([`a.test:${port}`]);
  const near = await Promise.all(Array.from({ length: 20 }, () => tunnelTo(open(), `a.test:${port}`)));
  const ends = near.map((socket) => allOf(socket));
  const half = open();
  ends.push(allOf(half));
  half.write(`GET http://a.test:${port}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
  await until(() => far.length === 21, 'all have arrived');
  const started = performance.now();
  close();
  await Promise.all([...ends, ...far]);
  bound(performance.now() - started, 1000);
});

test('names are looked up two at a time, and once for all who ask together', async () => {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const lookUp = fewLookups((host) => {
    asked.push(host);
    return new Promise((resolve, reject) => {
      const answer = () => resolve([{ address: host, family: 4 }]);
      answers.push(host === 'b' ? () => reject(new Error('no such name')) : answer);
    });
  }, 10_000);
  const all = Promise.allSettled(['a', 'b', 'c', 'a', 'd', 'b'].map((host) => lookUp(host)));
  expect(asked).toEqual(['a', 'b']);
  answers[1]?.();
  await until(() => asked.length === 3, 'the next one is looked up');
  expect(asked).toEqual(['a', 'b', 'c']);
  answers[0]?.();
  answers[2]?.();
  await until(() => asked.length === 4, 'the last one is looked up');
  answers[3]?.();
  const found = (await all).map((end) => (end.status === 'fulfilled' ? end.value[0]?.address : 'failed'));
  expect(found).toEqual(['a', 'failed', 'c', 'a', 'd', 'failed']);
});
