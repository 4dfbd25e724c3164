import { isIP } from 'node:net';
import { parseUrl } from '../lib/parse-url.js';
import { specialRange, withoutBrackets } from '../lib/ip-address.js';
import type { NetworkGuard } from '../protocol/decision.js';

/** An entry of `network.allow`. */
export interface HostPattern {
  /** As written in the policy. */
  readonly text: string;
  readonly scheme: string | undefined;
  /** `host` names one host, `subdomains` all below it but not itself, `any` every public one. */
  readonly covers: 'host' | 'subdomains' | 'any';
  readonly host: string;
  readonly port: string | undefined;
}

export interface NetworkSettings {
  readonly allow: readonly HostPattern[];
  /** Without it, `deny`. */
  readonly private?: 'allow' | 'deny' | undefined;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };
const PARTS = /^(?:([a-z][a-z\d+.-]*):\/\/)?(\[[^\]]*\]|[^:/?#@[\]\s]*)(?::(.*))?$/is;

/** Reads an entry of `network.allow`; a string says what is wrong with it. */
export function readHostPattern(text: string): HostPattern | string {
  if (isIP(text) === 6) return `write an IPv6 address in brackets: [${text}]`;
  if (text.includes('@')) return 'leave out the user name and password';
  const rest = text.replace(/^[a-z][a-z\d+.-]*:\/\//i, '');
  if (/[/?#\\]/.test(rest)) return 'only hosts are allowed or not, so leave out the path';
  const parts = PARTS.exec(text);
  if (!parts) return 'it is not the name of a host';
  const [, scheme, name = '', port] = parts;
  if (name === '' || name === '*.') return 'it names no host';
  if (name.startsWith('.')) return `write *${name} for the subdomains of a host`;
  if (scheme !== undefined && !/^https?$/i.test(scheme)) return `the scheme is http or https, not ${scheme}`;
  if (port !== undefined && !isPort(port)) return `\`${port}\` is not a port`;
  const host = readHost(name);
  if ('fault' in host) return host.fault;
  return { text, scheme: scheme && `${scheme.toLowerCase()}:`, ...host, port };
}

type Host = Pick<HostPattern, 'covers' | 'host'>;

function readHost(name: string): Host | { readonly fault: string } {
  if (name === '*') return { covers: 'any', host: '' };
  const covers = name.startsWith('*.') ? 'subdomains' : 'host';
  const base = covers === 'subdomains' ? name.slice(2) : name;
  if (base.includes('*')) return { fault: '`*` stands alone or in front, as in *.example.org' };
  const host = normalHost(base);
  if (host === undefined) return { fault: `\`${base}\` is not the name of a host` };
  if (covers === 'subdomains' && isAddress(host)) return { fault: 'an address cannot have subdomains' };
  if (isAddress(host) && host !== base.toLowerCase() && !base.startsWith('[')) {
    return { fault: `write the address plainly: ${host}` };
  }
  return { covers, host };
}

/** A host as in URLs: lower case, Punycode, addresses in their one form, no dot at the end. */
function normalHost(name: string): string | undefined {
  // Percent signs and the like would be decoded to something that was never written.
  if (!/^(\[[\d:a-f.]+\]|[\p{L}\p{M}\p{N}._\u3002\uff0e\uff61-]+)$/iu.test(name)) return undefined;
  const url = parseUrl(`http://${name}/`);
  const host = url && hostOf(url);
  return host === undefined || hasEmptyLabel(host) ? undefined : host;
}

function isPort(port: string): boolean {
  return /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535;
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/\.$/, '');
}

function hasEmptyLabel(host: string): boolean {
  return host === '' || host.split('.').includes('');
}

function isAddress(host: string): boolean {
  return isIP(withoutBrackets(host)) > 0;
}

/** Judges URLs by the `network` of one policy; without one, no host is allowed. */
export function networkGuard(settings: NetworkSettings | undefined): NetworkGuard {
  const allow = settings?.allow ?? [];
  const allowsPrivate = (url: URL) =>
    settings?.private === 'allow' &&
    allow.some((pattern) => pattern.covers === 'host' && matches(pattern, url));

  function urlFault(url: URL): string | undefined {
    if (!(url.protocol in DEFAULT_PORTS)) return `only http and https URLs are fetched, not ${url.protocol}`;
    if (url.username || url.password) return 'a URL with a user name or password in it is not fetched';
    const host = hostOf(url);
    if (hasEmptyLabel(host)) return `${url.hostname} is not the name of a host`;
    if (allow.length === 0) return 'the policy allows no host (network.allow)';
    if (!allow.some((pattern) => matches(pattern, url))) {
      return `${url.origin} is not covered by network.allow (${hostList(allow)})`;
    }
    const use = specialUse(host);
    if (use === undefined || allowsPrivate(url)) return undefined;
    return `${host} is a ${use} address, which needs network.private: allow and an entry of its own in network.allow`;
  }
  return { fault: urlFault, allowsPrivate };
}

/** What is known about a host without a look-up. */
function specialUse(host: string): string | undefined {
  if (isAddress(host)) return specialRange(withoutBrackets(host));
  return host === 'localhost' || host.endsWith('.localhost') ? 'loopback' : undefined;
}

function matches({ scheme, covers, host, port }: HostPattern, url: URL): boolean {
  if (scheme !== undefined && scheme !== url.protocol) return false;
  const asked = url.port || DEFAULT_PORTS[url.protocol];
  if (port === undefined ? asked !== '80' && asked !== '443' : asked !== port) return false;
  switch (covers) {
    case 'any':
      return true;
    case 'subdomains':
      return hostOf(url).endsWith(`.${host}`);
    case 'host':
      return hostOf(url) === host;
    default:
      return covers satisfies never;
  }
}

const MAX_SHOWN = 20;

/** The entries of a policy, for people and for the model. */
export function hostList(allow: readonly HostPattern[]): string {
  const shown = allow.slice(0, MAX_SHOWN).map(({ text }) => text);
  const more = allow.length - shown.length;
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Which hosts programs reach: every policy with network rules must allow one. */
export function guardsOf(
  networks: readonly NetworkSettings[],
): 'open' | 'none' | (() => readonly NetworkGuard[]) {
  if (networks.length === 0) return 'open';
  return networks.some(({ allow }) => allow.length === 0) ? 'none' : () => networks.map(networkGuard);
}
