import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSocket } from 'node:dgram';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { lazySandboxNetwork, openSandboxNetwork } from '../../src/sandbox/network/sandbox-network.js';
import { makeCertificates } from '../helpers/certificates.js';
import { buildProgram } from '../helpers/child-program.js';
import {
  BWRAP,
  describeSandboxed,
  sandboxNetwork,
  networkOf,
  processesIn,
} from '../helpers/sandbox-network.js';
import { after } from '../helpers/network-proxy.js';
import { until } from '../helpers/until.js';
import { startWebServer } from '../helpers/web-server.js';
import { guard } from '../helpers/web.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bosun-network-'));
  chmodSync(folder, 0o755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NODE = process.execPath;

describeSandboxed('programs in the network of a sandbox', () => {
  test('reach allowed hosts by plain http', async () => {
    const web = after(await startWebServer({ '/x?y': { body: 'here' } }));
    const { run, decisions } = await sandboxNetwork([`a.test:${web.port}`]);
    expect(await run(`curl -sS 'http://a.test:${web.port}/x?y'`)).toEqual({ code: 0, output: 'here' });
    expect(decisions).toMatchObject([{ host: 'a.test', decision: 'allow', address: '127.0.0.1' }]);
  });

  test('reach allowed hosts by TLS, which is theirs from end to end', async () => {
    const certificates = after(makeCertificates('a.test'));
    const server = createHttpsServer(certificates, (_, response) => response.end('secret'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    after({ close: () => void server.close().closeAllConnections() });
    const { port } = server.address() as AddressInfo;
    const { run, decisions } = await sandboxNetwork([`https://a.test:${port}`]);
    const shown = readFileSync(certificates.authority, 'utf8');
    const curl = `printf %s '${shown}' > /tmp/ca.pem; curl -sS --cacert /tmp/ca.pem`;
    expect(await run(`${curl} https://a.test:${port}/`)).toEqual({ code: 0, output: 'secret' });
    const refused = await run(`${curl} https://b.test:${port}/`);
    expect(refused.output).toMatch(/403/);
    expect(decisions.map(({ host, scheme, decision }) => [host, scheme, decision])).toEqual([
      ['a.test', 'https', 'allow'],
      ['b.test', 'https', 'deny'],
    ]);
  });

  test('clone a repository over http', async () => {
    const origin = join(folder, 'origin.git');
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' });
    git('init', '-q', 'work');
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
    git('-C', 'work', ...identity, 'commit', '-q', '--allow-empty', '-m', 'one');
    git('clone', '-q', '--bare', 'work', origin);
    git('-C', origin, 'update-server-info');
    const head = String(git('-C', origin, 'rev-parse', 'HEAD')).trim();
    const server = createServer((request, response) => {
      const file = join(folder, decodeURI(request.url ?? '').replace(/\?.*/, ''));
      const body = existsSync(file) && statSync(file).isFile() ? readFileSync(file) : undefined;
      response.writeHead(body ? 200 : 404).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    after({ close: () => void server.close().closeAllConnections() });
    const { port } = server.address() as AddressInfo;
    const { run } = await sandboxNetwork([`git.test:${port}`]);
    const listed = await run(`git ls-remote http://git.test:${port}/origin.git HEAD`);
    expect(listed).toEqual({ code: 0, output: `${head}\tHEAD\n` });
    const refused = await run(`git ls-remote http://other.test:${port}/origin.git HEAD`);
    expect(refused.code).not.toBe(0);
    expect(refused.output).toContain('403');
  });

  test('get no further by themselves: no route, no names, no datagrams, no services of this machine', async () => {
    const web = after(await startWebServer({ '/': { body: 'reached' } }, '0.0.0.0'));
    const udp = createSocket('udp4');
    let datagrams = 0;
    udp.on('message', () => datagrams++);
    await new Promise<void>((resolve) => udp.bind(0, '0.0.0.0', resolve));
    after(udp);
    const { run } = await sandboxNetwork(['*', `a.test:${web.port}`]);
    const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    const addresses = own.filter(({ family }) => family === 'IPv4').map(({ address }) => address);
    for (const address of new Set([...addresses, '127.0.0.1', '169.254.169.254', '1.1.1.1'])) {
      const direct = await run(`curl -sS -m 3 --noproxy '*' http://${address}:${web.port}/`);
      expect(direct.code).toBe(7);
      await run(`echo hi > /dev/udp/${address}/${udp.address().port}`);
    }
    const script =
      `require('net').connect(${web.port}, '127.0.0.1').on('error', (e) => console.log(e.code));` +
      "require('dns').resolve4('example.org', (e) => console.log(e.code));" +
      "require('dns').lookup('example.org', (e) => console.log(e.code))";
    const { output } = await run(`${NODE} -e "${script}"`);
    expect(output.trim().split('\n').sort()).toEqual(['EAI_AGAIN', 'ECONNREFUSED', 'ECONNREFUSED']);
    expect((await run('cat /proc/net/dev')).output.match(/\w+:/g)).toEqual(['lo:']);
    expect(web.visits).toHaveLength(0);
    expect(datagrams).toBe(0);
  });

  test('cannot give themselves a network', async () => {
    const { run } = await sandboxNetwork(['*']);
    const { output } = await run(
      'ip link add d0 type dummy && echo made; ip link set lo down && echo down; ' +
        'nsenter --net=/proc/1/ns/net ip link; true',
    );
    expect(output).not.toMatch(/made|down$/m);
    expect(output).not.toMatch(/eth|ens|enp|wl/);
  });

  test('do not get at metadata by the proxy either, however it is spelt', async () => {
    const { run, decisions } = await sandboxNetwork(['*']);
    const spelt = [
      '169.254.169.254',
      '2852039166',
      '0xa9.0xfe.0xa9.0xfe',
      '[::ffff:a9fe:a9fe]',
      'rebound.test',
    ];
    for (const host of spelt) {
      const { output } = await run(`curl -sS -g -m 5 http://${host}/latest/meta-data/`);
      expect(output).toContain('the policy does not let commands reach');
    }
    expect(decisions.map(({ host, decision }) => [host, decision])).toEqual([
      ['169.254.169.254', 'deny'],
      ['::ffff:a9fe:a9fe', 'deny'],
      ['rebound.test', 'deny'],
    ]);
  });

  test('reach each other on the loopback of the network', async () => {
    const { run } = await sandboxNetwork(['*']);
    const serve = `require('http').createServer((q, r) => { r.end('inside'); setTimeout(() => process.exit(), 50) }).listen(8123, '127.0.0.1')`;
    const server = run(`${NODE} -e "${serve}"`);
    const client = await run(
      'for i in $(seq 200); do curl -sS http://localhost:8123/ 2>/dev/null && exit; sleep 0.02; done; exit 1',
    );
    expect(client).toEqual({ code: 0, output: 'inside' });
    await server;
  });

  test('may do much at the same time', async () => {
    const web = after(await startWebServer({ '/': { body: 'x'.repeat(10_000) } }));
    const { run, decisions } = await sandboxNetwork([`a.test:${web.port}`]);
    const { code, output } = await run(
      `seq 100 | xargs -P 100 -I N curl -sS -p -o /dev/null -w '%{size_download}\\n' http://a.test:${web.port}/`,
    );
    expect(code).toBe(0);
    expect(output.trim().split('\n')).toEqual(Array(100).fill('10000'));
    expect(web.visits).toHaveLength(100);
    expect(decisions).toHaveLength(1);
  });

  test('may fetch much, and we keep none of it', async () => {
    const size = 100 * 1024 * 1024;
    const block = Buffer.alloc(1024 * 1024, 'bosun');
    const hash = createHash('sha256');
    for (let i = 0; i < 100; i++) hash.update(block);
    const web = after(
      await startWebServer({
        '/big': (_, response) => {
          response.writeHead(200, { 'content-length': size });
          let left = 100;
          const more = () => {
            while (left > 0 && response.write(block)) left--;
            if (left-- > 0) response.once('drain', more);
            else response.end();
          };
          more();
        },
      }),
    );
    const { run } = await sandboxNetwork([`a.test:${web.port}`]);
    let most = 0;
    const before = process.memoryUsage().arrayBuffers;
    const look = setInterval(() => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }, 5);
    for (const tunnelled of ['', '-p']) {
      const { output } = await run(`curl -sS ${tunnelled} http://a.test:${web.port}/big | sha256sum`);
      expect(output).toBe(`${hash.copy().digest('hex')}  -\n`);
    }
    clearInterval(look);
    // What was read and is not needed any more may wait for the collector.
    expect(most).toBeLessThan(80 * 1024 * 1024);
  });
});

describeSandboxed('the network of a sandbox', () => {
  test('has nobody in it when it is opened who could take our connections', async () => {
    const { enter } = await sandboxNetwork([]);
    const held = enter.find((word) => word.startsWith('--net='))?.replace('--net=', '') ?? '';
    expect(processesIn(readlinkSync(held))).toEqual([]);
  });

  test('needs no process to be there, and is gone with us, however we go', async () => {
    const program = await boxProgram();
    const child = spawn(NODE, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { network, inside } = JSON.parse(String(line));
    expect(network).not.toBe(networkOf('self'));
    // The command that waits inside, and nothing else.
    expect(processesIn(network)).toEqual(expect.arrayContaining([inside]));
    child.kill('SIGKILL');
    await until(() => processesIn(network).length === 0, 'nobody is left in the network');
  });

  test('is there for ordinary users', async () => {
    const program = await boxProgram();
    const web = after(await startWebServer({ '/': { body: 'here' } }));
    const who = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
    const child = spawn(NODE, [program, String(web.port)], { stdio: ['ignore', 'pipe', 'pipe'], ...who });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += String(chunk)));
    child.stderr.on('data', (chunk: Buffer) => (text += String(chunk)));
    await once(child, 'close');
    expect(text.split('\n')).toEqual([
      'here',
      'direct 7',
      expect.stringContaining('CapEff:\t0000000000000000'),
      '',
    ]);
  });

  test('says in a line why it cannot be had', async () => {
    const bad = (bwrap: string) => openSandboxNetwork({ bwrap, guard: guard([]), onDecision: () => {} });
    const script = join(folder, 'bwrap');
    writeFileSync(
      script,
      '#!/bin/sh\necho one >&2\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n',
    );
    chmodSync(script, 0o755);
    await expect(bad(script)).rejects.toThrow(
      /^the sandbox cannot create a network: bwrap: setting up uid map: Permission denied$/,
    );
    await expect(bad('/bin/false')).rejects.toThrow('bwrap ended with 1');
    await expect(bad('/nowhere/bwrap')).rejects.toThrow(/cannot create a network: .*ENOENT/);
  });

  test('is opened once for all who ask, and closed without waiting', async () => {
    const options = { bwrap: BWRAP, guard: guard(['*']), onDecision: () => {} };
    const lazy = lazySandboxNetwork(options);
    const networks = await Promise.all([lazy.open(), lazy.open(), lazy.open()]);
    expect(new Set(networks).size).toBe(1);
    lazy.close();
    await expect(lazy.open()).rejects.toThrow('the run is over');
    lazySandboxNetwork(options).close();
  });

  test('that is given up while it is opened leaves nothing behind, at whatever moment', async () => {
    const options = { bwrap: BWRAP, guard: guard(['*']), onDecision: () => {} };
    const before = openers();
    for (let ms = 0; ms < 40; ms += 2) {
      const hasty = lazySandboxNetwork(options);
      const opening = hasty.open();
      setTimeout(() => hasty.close(), ms);
      await opening.catch(() => {});
    }
    await until(() => openers() === before, 'every opener is gone');
  });

  test('that is closed leaves no listener and no file behind', async () => {
    const open = () =>
      execFileSync('ls', [`/proc/${process.pid}/fd`], { encoding: 'utf8' }).split('\n').length;
    const warm = await sandboxNetwork([]);
    warm.close();
    const before = open();
    for (let i = 0; i < 5; i++) (await sandboxNetwork([])).close();
    await until(() => open() <= before, 'all files are closed');
  });
});

/** How many processes there are that would open a port, in bwrap or out of it. */
function openers(): number {
  const commandLine = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    } catch {
      return '';
    }
  };
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return all.filter((pid) => commandLine(pid).includes('process.send({ pid: process.pid, port')).length;
}

async function boxProgram(): Promise<string> {
  const path = join(folder, 'program.mjs');
  await buildProgram(
    `import { spawn } from 'node:child_process';
     import { readlinkSync } from 'node:fs';
     import { openSandboxNetwork } from './src/sandbox/network/sandbox-network.js';
     import { networkGuard, readHostPattern } from './src/policy/network.js';
     const port = process.argv[2];
     const allow = [readHostPattern('a.test:' + (port ?? 1))];
     const network = await openSandboxNetwork({
       bwrap: ${JSON.stringify(BWRAP)},
       guard: networkGuard({ allow, private: 'allow' }),
       resolve: async () => [{ address: '127.0.0.1', family: 4 }],
       onDecision: () => {},
     });
     const sandbox = [${JSON.stringify(BWRAP)}, '--unshare-user', '--unshare-pid', '--die-with-parent',
       '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];
     const start = (command, stdout) => {
       const [file, ...args] = [...network.enter, ...sandbox, 'sh', '-c', command];
       return spawn(file, args, { env: { PATH: process.env.PATH, ...network.environment }, stdio: ['ignore', stdout, 'inherit'] });
     };
     if (port) {
       const script = 'curl -sS http://a.test:' + port + '/; echo; curl -s --noproxy "*" http://127.0.0.1:' + port +
         '/; echo direct $?; grep CapEff /proc/self/status';
       start(script, 'inherit').once('close', () => network.close());
     } else {
       const child = start('echo; exec sleep 60', 'pipe');
       child.stdout.once('data', () =>
         console.log(JSON.stringify({ network: readlinkSync('/proc/' + child.pid + '/ns/net'), inside: child.pid })));
     }`,
    path,
  );
  return path;
}
