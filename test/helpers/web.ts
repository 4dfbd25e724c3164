import { networkGuard, readHostPattern } from '../../src/policy/network.js';
import type { NetworkGuard } from '../../src/protocol/decision.js';
import { FETCH_LIMITS, type FetchLimits, type WebSettings } from '../../src/tools/web/settings.js';

/** What a policy with these entries says of URLs. */
export function guard(allow: readonly string[], isPrivate: 'allow' | 'deny' = 'allow'): NetworkGuard {
  const patterns = allow.map((entry) => {
    const pattern = readHostPattern(entry);
    if (typeof pattern === 'string') throw new Error(pattern);
    return pattern;
  });
  return networkGuard({ allow: patterns, private: isPrivate });
}

/** Settings of the web tools under a policy that lists these hosts, private ones included. */
export function web(
  allow: readonly string[],
  { limits, ...more }: Partial<Omit<WebSettings, 'limits'>> & { limits?: Partial<FetchLimits> } = {},
): WebSettings {
  return {
    network: guard(allow),
    ground: undefined,
    userAgent: 'bosun/test',
    outputCap: 40_000,
    limits: { ...FETCH_LIMITS, ...limits },
    ...more,
  };
}

/** Names lead where the test says; any other has no address. */
export function names(table: Readonly<Record<string, string | readonly string[]>>) {
  const asked: string[] = [];
  const resolve = async (host: string) => {
    asked.push(host);
    return [table[host] ?? []].flat().map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  return { asked, resolve };
}
