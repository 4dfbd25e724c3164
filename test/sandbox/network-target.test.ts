import { describe, expect, test } from '@jest/globals';
import { judgeTarget } from '../../src/sandbox/network/judge.js';
import { plainTarget, tunnelTarget } from '../../src/sandbox/network/target.js';
import { guard, names } from '../helpers/web.js';

const NOWHERE = names({});

/** What becomes of `CONNECT authority` under a policy with these entries. */
async function tunnelled(
  authority: string,
  allow: readonly string[],
  isPrivate: 'allow' | 'deny' = 'deny',
  { resolve } = NOWHERE,
) {
  const target = tunnelTarget(authority);
  return target && judgeTarget(target, guard(allow, isPrivate), resolve);
}

describe('what a program may ask for', () => {
  test.each([
    ['example.org:443', 'example.org', 443],
    ['EXAMPLE.org:8443', 'example.org', 8443],
    ['example.org.:443', 'example.org', 443],
    ['127.0.0.1:80', '127.0.0.1', 80],
    ['[::1]:443', '::1', 443],
    ['a_b.example.org:1', 'a_b.example.org', 1],
    ['0x7f.1:443', '127.0.0.1', 443],
    ['2130706433:443', '127.0.0.1', 443],
    ['0177.0.0.1:443', '127.0.0.1', 443],
    ['127.1.:443', '127.0.0.1', 443],
    ['[::FFFF:127.0.0.1]:443', '::ffff:7f00:1', 443],
  ])('CONNECT %s', (authority, host, port) => {
    expect(tunnelTarget(authority)).toMatchObject({ host, port });
  });

  test.each([
    '',
    'example.org',
    ':443',
    'example.org:',
    'example.org:0',
    'example.org:65536',
    'example.org:443:443',
    'user@example.org:443',
    'user:password@example.org:443',
    'example.org/x:443',
    'example.org\\x:443',
    'example.org#:443',
    'example.org?:443',
    'example%2eorg:443',
    'exämple.org:443',
    'example.org :443',
    'https://example.org:443',
    '[::1:443',
    '[fe80::1%25eth0]:443',
    '::1:443',
    '1.2.3.4.5:443',
    '0x1ffffffff:443',
    `${'a'.repeat(63)}.`.repeat(4) + 'org:443',
    '/etc/passwd:443',
    '*:443',
  ])('not CONNECT %s', (authority) => {
    expect(tunnelTarget(authority)).toBeUndefined();
  });

  test.each([
    ['http://example.org', 'example.org', 80, '/'],
    ['HTTP://Example.org/a/../b?c=d', 'example.org', 80, '/a/../b?c=d'],
    ['http://example.org:8080?x', 'example.org', 8080, '/?x'],
    ['http://[::1]/', '::1', 80, '/'],
    ['http://017700000001/%2e%2e', '127.0.0.1', 80, '/%2e%2e'],
  ])('GET %s', (url, host, port, path) => {
    expect(plainTarget(url)).toMatchObject({ target: { host, port }, path });
  });

  test.each([
    '/',
    '*',
    'example.org',
    'https://example.org/',
    'ftp://example.org/',
    'http:///x',
    'http:/example.org/',
    'http://user@example.org/',
    'http://example.org\\@evil.example/',
    'http://example.org#@evil.example/',
    'http://example.org/#part',
    'http://example.org:99999/',
    'http://exa mple.org/',
  ])('not GET %s', (url) => {
    expect(plainTarget(url)).toBeUndefined();
  });
});

describe('a name', () => {
  const there = names({ 'example.org': '93.184.215.14' });

  test('that is allowed is looked up, and its address is told', async () => {
    expect(await tunnelled('Example.ORG.:443', ['example.org'], 'deny', there)).toMatchObject({
      decision: {
        host: 'example.org',
        port: 443,
        scheme: 'https',
        decision: 'allow',
        address: '93.184.215.14',
      },
      addresses: [{ address: '93.184.215.14' }],
    });
  });

  test('that is not allowed is not looked up', async () => {
    const { asked, resolve } = names({ 'evil.example': '93.184.215.14' });
    const judged = await tunnelled('secret.evil.example:443', ['example.org'], 'deny', { asked, resolve });
    expect(judged?.decision).toMatchObject({ decision: 'deny' });
    expect(judged?.decision.reason).toBe(
      'https://secret.evil.example is not covered by network.allow (example.org); it would need the entry secret.evil.example',
    );
    expect(asked).toEqual([]);
  });

  test.each([
    ['example.org:80', ['http://example.org'], 'http', 'allow'],
    ['example.org:443', ['https://example.org'], 'https', 'allow'],
    ['example.org:443', ['https://example.org:8443'], 'https', 'deny'],
    ['example.org:8080', ['http://example.org:8080'], 'http', 'allow'],
    ['example.org:22', ['example.org'], 'https', 'deny'],
    ['example.org:22', ['example.org:22'], 'https', 'allow'],
    ['example.org:443', ['*.example.org'], 'https', 'deny'],
    ['example.org:443', ['*'], 'https', 'allow'],
  ])('tunnel to %s under %j', async (authority, allow, scheme, decision) => {
    const judged = await tunnelled(authority, allow, 'deny', there);
    expect(judged?.decision).toMatchObject({ scheme, decision });
  });

  test.each([
    ['127.0.0.1'],
    ['::1'],
    ['10.1.2.3'],
    ['169.254.169.254'],
    ['::ffff:169.254.169.254'],
    ['64:ff9b::a9fe:a9fe'],
    ['fd00:ec2::254'],
    ['100.100.100.200'],
    ['0.0.0.0'],
  ])('that leads to %s is refused, under * and when it is listed', async (address) => {
    const bad = names({ 'bad.example': address, 'half.example': ['93.184.215.14', address] });
    for (const host of ['bad.example', 'half.example']) {
      for (const allow of [['*'], [host]]) {
        const judged = await tunnelled(`${host}:443`, allow, 'deny', bad);
        expect(judged?.decision).toMatchObject({ decision: 'deny' });
        expect(judged?.decision.reason).toContain(`${host} leads to ${address}`);
        expect(judged?.addresses).toEqual([]);
      }
      expect((await tunnelled(`${host}:443`, ['*'], 'allow', bad))?.decision.decision).toBe('deny');
    }
  });

  test('that leads to a private address is admitted where it is listed with private: allow', async () => {
    const inside = names({ 'wiki.corp': '10.1.2.3', 'meta.corp': '169.254.169.254' });
    expect((await tunnelled('wiki.corp:443', ['wiki.corp'], 'allow', inside))?.decision.decision).toBe(
      'allow',
    );
    expect((await tunnelled('meta.corp:443', ['meta.corp'], 'allow', inside))?.decision.decision).toBe(
      'deny',
    );
  });

  test('that leads nowhere is a failure, not a refusal', async () => {
    const judged = await tunnelled('gone.example:443', ['*']);
    expect(judged).toMatchObject({ decision: { decision: 'allow' }, failure: 'gone.example has no address' });
  });
});

describe('an address', () => {
  test.each([
    '127.0.0.1:443',
    '0x7f.1:443',
    '2130706433:443',
    '[::1]:443',
    '[::ffff:127.0.0.1]:443',
    '[::ffff:a9fe:a9fe]:80',
    '169.254.169.254:80',
    '0:443',
    'localhost:443',
    'LOCALHOST.:443',
    'x.localhost:443',
    'localhost..:443',
    'a..b:443',
  ])('%s is refused under *', async (authority) => {
    for (const isPrivate of ['allow', 'deny'] as const) {
      expect((await tunnelled(authority, ['*'], isPrivate))?.decision.decision).toBe('deny');
    }
  });

  test('needs an entry that says just it, and private: allow', async () => {
    expect((await tunnelled('127.0.0.1:443', ['127.0.0.1'], 'deny'))?.decision.decision).toBe('deny');
    expect((await tunnelled('0x7f.1:443', ['127.0.0.1'], 'allow'))?.decision.decision).toBe('allow');
    expect((await tunnelled('169.254.169.254:80', ['169.254.169.254'], 'allow'))?.decision.decision).toBe(
      'allow',
    );
    const { reason } = (await tunnelled('10.0.0.1:9', ['example.org'], 'deny'))?.decision ?? {};
    expect(reason).toContain('it would need the entry 10.0.0.1:9 and network.private: allow');
  });
});
