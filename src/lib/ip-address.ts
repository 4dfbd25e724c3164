import { isIPv4, isIPv6 } from 'node:net';

/** What an address that is not on the public internet is for. */
export type SpecialRange =
  | 'unspecified'
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'shared (carrier-grade NAT)'
  | 'cloud metadata'
  | 'documentation'
  | 'benchmarking'
  | 'multicast'
  | 'reserved';

/** The host of a URL, where IPv6 addresses are in brackets. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}

type Range = readonly [cidr: string, use: SpecialRange];

/** If ranges overlap, the first one counts. */
const IPV4: readonly Range[] = [
  ['169.254.169.254/32', 'cloud metadata'],
  ['169.254.170.2/32', 'cloud metadata'],
  ['100.100.100.200/32', 'cloud metadata'],
  ['192.0.0.192/32', 'cloud metadata'],
  ['168.63.129.16/32', 'cloud metadata'],
  ['0.0.0.0/8', 'unspecified'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'shared (carrier-grade NAT)'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'documentation'],
  ['192.88.99.0/24', 'reserved'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
];

const IPV6: readonly Range[] = [
  ['fd00:ec2::254/128', 'cloud metadata'],
  ['fd20:ce::254/128', 'cloud metadata'],
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['64:ff9b:1::/48', 'private'],
  ['2001:db8::/32', 'documentation'],
  ['2001::/23', 'reserved'],
  ['3fff::/20', 'documentation'],
  ['fc00::/7', 'private'],
  ['fec0::/10', 'private'],
  ['fe80::/10', 'link-local'],
  ['ff00::/8', 'multicast'],
];

/** Ranges of IPv6 that lead to an IPv4 address, and where it is in them (its lowest bit). */
const EMBEDDING: readonly {
  readonly cidr: string;
  readonly at: readonly bigint[];
  readonly flip?: bigint;
}[] = [
  { cidr: '::ffff:0:0/96', at: [0n] },
  { cidr: '::ffff:0:0:0/96', at: [0n] },
  { cidr: '64:ff9b::/96', at: [0n] },
  { cidr: '2002::/16', at: [80n] },
  // Teredo: the server in the middle, the client at the end with its bits turned.
  { cidr: '2001::/32', at: [64n, 0n], flip: 0xffff_ffffn },
];

/**
 * What an address is for if it is not public; undefined if it is. Looks through every way to write an IPv4
 * address as an IPv6 one. Anything that is not an address is `reserved`.
 */
export function specialRange(address: string): SpecialRange | undefined {
  const plain = address.replace(/%.*$/, '');
  const tables = (read ??= readTables());
  if (isIPv4(plain)) return useOf(fromIPv4(plain), tables.v4);
  if (!isIPv6(plain)) return 'reserved';
  const value = fromIPv6(plain);
  const embedding = tables.embedding.find(({ range }) => isIn(value, range));
  if (!embedding) return useOf(value, tables.v6) ?? (value >> 125n === 1n ? undefined : 'reserved');
  const inner = embedding.at.map((bit) => {
    const word = (value >> bit) & 0xffff_ffffn;
    return useOf(bit === 0n && embedding.flip !== undefined ? word ^ embedding.flip : word, tables.v4);
  });
  return inner.find((use) => use !== undefined);
}

interface Parsed {
  readonly first: bigint;
  /** How many bits below the prefix are free. */
  readonly free: bigint;
}

function parseCidr(cidr: string): Parsed {
  const [address = '', bits] = cidr.split('/');
  const v4 = isIPv4(address);
  return {
    first: v4 ? fromIPv4(address) : fromIPv6(address),
    free: BigInt((v4 ? 32 : 128) - Number(bits)),
  };
}

function isIn(value: bigint, { first, free }: Parsed): boolean {
  return value >> free === first >> free;
}

type Table = readonly { readonly range: Parsed; readonly use: SpecialRange }[];

function useOf(value: bigint, table: Table): SpecialRange | undefined {
  return table.find(({ range }) => isIn(value, range))?.use;
}

function fromIPv4(address: string): bigint {
  return address.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n);
}

function fromIPv6(address: string): bigint {
  const dotted = /[\d.]+$/.exec(address)?.[0] ?? '';
  const hex = dotted.includes('.') ? address.slice(0, -dotted.length) + words(fromIPv4(dotted)) : address;
  const [head = '', tail] = hex.split('::');
  const before = head.split(':').filter(Boolean);
  const after = (tail ?? '').split(':').filter(Boolean);
  const middle = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...middle, ...after].reduce((value, word) => value * 65_536n + BigInt(`0x${word}`), 0n);
}

function words(v4: bigint): string {
  return `${(v4 >> 16n).toString(16)}:${(v4 & 0xffffn).toString(16)}`;
}

function tableOf(ranges: readonly Range[]): Table {
  return ranges.map(([cidr, use]) => ({ range: parseCidr(cidr), use }));
}

/** Built when the first address is looked at: few runs have any. */
let read: ReturnType<typeof readTables> | undefined;

function readTables() {
  const embedding = EMBEDDING.map(({ cidr, ...rest }) => ({ range: parseCidr(cidr), ...rest }));
  return { v4: tableOf(IPV4), v6: tableOf(IPV6), embedding };
}
