import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { addressesFault, type Resolve } from '../../lib/addresses.js';
import { errorMessage } from '../../lib/errors.js';
import { specialRange } from '../../lib/ip-address.js';
import type { NetworkGuard } from '../../protocol/decision.js';
import type { NetworkDecision } from '../../protocol/event.js';
import type { Target } from './target.js';

type Decided = Omit<NetworkDecision, 'count'>;

export interface Judgement {
  readonly decision: Decided;
  /** The only addresses that may be connected to; empty if the name leads nowhere. */
  readonly addresses: readonly LookupAddress[];
  /** Why an allowed name leads nowhere. */
  readonly failure?: string;
}

/** Asks the policy about a name, then looks up its addresses. A name that is not allowed is not looked up. */
export async function judgeTarget(target: Target, guard: NetworkGuard, resolve: Resolve): Promise<Judgement> {
  const { urls, host, port } = target;
  const url = urls.find((one) => guard.fault(one) === undefined);
  const scheme = (url ?? urls[0]).protocol === 'https:' ? 'https' : 'http';
  const about = { host, port, scheme } as const;
  const deny = (reason: string): Judgement => ({
    decision: { ...about, decision: 'deny', reason },
    addresses: [],
  });
  if (!url) return deny(withEntry(guard.fault(urls[0]) ?? '', target));
  const allow = { ...about, decision: 'allow', reason: 'covered by network.allow' } as const;
  try {
    const family = isIP(host);
    const addresses = family > 0 ? [{ address: host, family }] : await resolve(host);
    const [first] = addresses;
    if (!first) return { decision: allow, addresses, failure: `${host} has no address` };
    const fault = addressesFault(host, addresses, guard.allowsPrivate(url));
    if (fault) return deny(fault);
    return { decision: { ...allow, address: first.address }, addresses };
  } catch (error) {
    return {
      decision: allow,
      addresses: [],
      failure: `the address of ${host} is not known: ${errorMessage(error)}`,
    };
  }
}

/** Names the missing entry, unless the error says that an entry alone would not help. */
function withEntry(fault: string, { host, port }: Target): string {
  if (fault.includes('network.private')) return fault;
  const name = isIP(host) === 6 ? `[${host}]` : host;
  const entry = port === 80 || port === 443 ? name : `${name}:${port}`;
  const isSpecial = isIP(host) > 0 && specialRange(host) !== undefined;
  return `${fault}; it would need the entry ${entry}${isSpecial ? ' and network.private: allow' : ''}`;
}
