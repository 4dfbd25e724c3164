import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { specialRange } from './ip-address.js';

export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

export const systemResolve: Resolve = (host) => lookup(host, { all: true });

/** A refusal of ours, as opposed to a failure of the network. */
export function refusal(message: string): Error {
  return Object.assign(new Error(message), { code: 'EREFUSED' });
}

/** Why an address must not be connected to, or undefined. `host` is the name that led to it. */
export function addressFault(host: string, address: string, allowsPrivate: boolean): string | undefined {
  const use = specialRange(address);
  if (use === undefined) return undefined;
  const leads = isIP(host) > 0 ? `${host} is` : `${host} leads to ${address},`;
  if (!allowsPrivate) return `${leads} a ${use} address, which the policy does not allow`;
  // Where credentials are handed out to whoever asks, a name is not enough: it may change its mind.
  const isTouchy = use === 'cloud metadata' || use === 'link-local';
  return isTouchy && isIP(host) === 0
    ? `${leads} a ${use} address, which is reached only if network.allow lists the address itself`
    : undefined;
}

/**
 * Looks a name up for a connection. What is checked is what is connected to: nobody asks a second time. One bad
 * address spoils the name, since a name that is half public is either a mistake or an attempt.
 */
export function checkedLookup(resolve: Resolve, allowsPrivate: boolean): LookupFunction {
  return (host, options, callback) => {
    const find = async () => {
      const addresses = await resolve(host);
      const fault = addressesFault(host, addresses, allowsPrivate);
      if (fault) throw refusal(fault);
      return addresses;
    };
    find().then(
      (addresses) => fixedLookup(addresses)(host, options, callback),
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}

/** The same of all that a name leads to; a name that leads nowhere is a fault too. */
export function addressesFault(
  host: string,
  addresses: readonly LookupAddress[],
  allowsPrivate: boolean,
): string | undefined {
  if (addresses.length === 0) return `${host} has no address`;
  return addresses
    .map(({ address }) => addressFault(host, address, allowsPrivate))
    .find((fault) => fault !== undefined);
}

/** Leads to addresses that are known already. */
export function fixedLookup(addresses: readonly LookupAddress[]): LookupFunction {
  const [first = { address: '', family: 0 }] = addresses;
  return (_host, options, callback) =>
    options.all ? callback(null, [...addresses]) : callback(null, first.address, first.family);
}
