import { parseUrl } from '../../lib/parse-url.js';
import { withoutBrackets } from '../../lib/ip-address.js';

/** Where a program wants to connect. */
export interface Target {
  /** What the policy is asked about, the likeliest first. One of them must be allowed. */
  readonly urls: readonly [URL, ...URL[]];
  /** In its one spelling: lower case, plain addresses, no brackets, no dot at the end. */
  readonly host: string;
  readonly port: number;
}

const AUTHORITY = /^(\[[\d:a-f.]+\]|[\w.-]+)(?::(\d{1,5}))?$/i;
const ABSOLUTE = /^http:\/\/([^/?#]*)([/?][^#]*)?$/i;
/** The longest possible name, and a dot. */
const MAX_NAME = 254;

/**
 * The target of `CONNECT`. What a tunnel carries cannot be known: if only plain http is allowed it may be used for
 * that, as some programs do.
 */
export function tunnelTarget(authority: string): Target | undefined {
  return /:\d+$/.test(authority) ? parsedTarget(authority, ['https', 'http']) : undefined;
}

export interface PlainTarget {
  readonly target: Target;
  /** What the server is asked for, byte for byte. */
  readonly path: string;
}

/** The target of a plain request through a proxy: its whole URL. */
export function plainTarget(requested: string): PlainTarget | undefined {
  const [, authority = '', rest = '/'] = ABSOLUTE.exec(requested) ?? [];
  const target = parsedTarget(authority, ['http']);
  return target && { target, path: rest.startsWith('/') ? rest : `/${rest}` };
}

/** Only what has one spelling gets through; a URL then detects odd addresses (`0x7f.1`, `2130706433`). */
function parsedTarget(authority: string, schemes: readonly string[]): Target | undefined {
  const [, name = '', given] = AUTHORITY.exec(authority) ?? [];
  const port = Number(given ?? 80);
  if (name === '' || name.length > MAX_NAME || port < 1 || port > 65_535) return undefined;
  const [first, ...others] = schemes.flatMap((scheme) => parseUrl(`${scheme}://${name}:${port}`) ?? []);
  if (!first) return undefined;
  const host = withoutBrackets(first.hostname).replace(/\.$/, '');
  return { urls: [first, ...others], host, port };
}
