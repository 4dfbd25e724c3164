import { describe, expect, test } from '@jest/globals';
import { specialRange } from '../../src/lib/ip-address.js';
import { Random } from '../helpers/random.js';

describe('an address that is not public says what it is for', () => {
  test.each([
    ['0.0.0.0', 'unspecified'],
    ['0.255.255.255', 'unspecified'],
    ['10.0.0.1', 'private'],
    ['10.255.255.255', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['169.254.0.1', 'link-local'],
    ['169.254.169.254', 'cloud metadata'],
    ['169.254.170.2', 'cloud metadata'],
    ['100.100.100.200', 'cloud metadata'],
    ['192.0.0.192', 'cloud metadata'],
    ['168.63.129.16', 'cloud metadata'],
    ['100.64.0.1', 'shared (carrier-grade NAT)'],
    ['100.127.255.255', 'shared (carrier-grade NAT)'],
    ['192.0.0.8', 'reserved'],
    ['192.0.2.1', 'documentation'],
    ['198.51.100.7', 'documentation'],
    ['203.0.113.9', 'documentation'],
    ['192.88.99.1', 'reserved'],
    ['198.18.0.1', 'benchmarking'],
    ['198.19.255.255', 'benchmarking'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'reserved'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['0:0:0:0:0:0:0:1', 'loopback'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['febf::1', 'link-local'],
    ['fec0::1', 'private'],
    ['fc00::1', 'private'],
    ['fdff:ffff::1', 'private'],
    ['fd00:ec2::254', 'cloud metadata'],
    ['fd20:ce::254', 'cloud metadata'],
    ['ff02::1', 'multicast'],
    ['2001:db8::1', 'documentation'],
    ['3fff::1', 'documentation'],
    ['100::1', 'reserved'],
    ['2001:2::1', 'reserved'],
    ['4000::1', 'reserved'],
    ['64:ff9b:1::8.8.8.8', 'private'],
    ['not an address', 'reserved'],
    ['', 'reserved'],
    ['1.2.3', 'reserved'],
  ])('%s: %s', (address, use) => {
    expect(specialRange(address)).toBe(use);
  });
});

describe('an IPv4 address inside an IPv6 one counts', () => {
  test.each([
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:7f00:1', 'loopback'],
    ['::FFFF:A00:1', 'private'],
    ['::ffff:169.254.169.254', 'cloud metadata'],
    ['::ffff:0:127.0.0.1', 'loopback'],
    ['::127.0.0.1', 'reserved'],
    ['::8.8.8.8', 'reserved'],
    ['64:ff9b::10.0.0.1', 'private'],
    ['64:ff9b::a9fe:a9fe', 'cloud metadata'],
    ['2002:7f00:1::', 'loopback'],
    ['2002:c0a8:101::1', 'private'],
    // Teredo: the server, and the client with its bits turned.
    ['2001:0:7f00:1::f7f7:f7f7', 'loopback'],
    ['2001:0:808:808::80ff:fffe', 'loopback'],
    ['::ffff:8.8.8.8', undefined],
    ['64:ff9b::8.8.8.8', undefined],
    ['2002:808:808::1', undefined],
  ])('%s: %s', (address, use) => {
    expect(specialRange(address)).toBe(use);
  });
});

test.each([
  '8.8.8.8',
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '223.255.255.255',
  '2606:4700::1111',
  '2001:4860:4860::8888',
  '2a00:1450::1',
])('%s is public', (address) => {
  expect(specialRange(address)).toBeUndefined();
});

test('however an address is written, it is the same address', () => {
  const random = new Random(7);
  for (let i = 0; i < 500; i++) {
    const bytes = random.list(4, () => random.below(256));
    const v4 = bytes.join('.');
    const hex = Buffer.from(bytes).toString('hex');
    const words = `${hex.slice(0, 4)}:${hex.slice(4)}`;
    const use = specialRange(v4);
    for (const other of [
      `::ffff:${v4}`,
      `::ffff:${words}`,
      `0:0:0:0:0:FFFF:${words.toUpperCase()}`,
      `64:ff9b::${v4}`,
      `2002:${words}::`,
    ]) {
      expect([other, specialRange(other)]).toEqual([other, use]);
    }
  }
});
