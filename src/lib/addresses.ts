import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { specialRange } from './ip-address.js';

export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

export const systemResolve: Resolve = (host) => lookup(host, { all: true });

/** Our own denial, as opposed to a network error. */
export function refusedAddress(message: string): Error {
  return Object.assign(new Error(message), { code: 'EREFUSED' });
}

/** Why an address may not be connected to, or undefined. `host` is the name that led to it. */
export function addressFault(host: string, address: string, allowsPrivate: boolean): string | undefined {
  const use = specialRange(address);
  if (use === undefined) return undefined;
  const leads = isIP(host) > 0 ? `${host} is` : `${host} leads to ${address},`;
  if (!allowsPrivate) return `${leads} a ${use} address, which the policy does not allow`;
  // These hand out credentials to anyone, so a name is not enough: it may resolve differently later.
  const isTouchy = use === 'cloud metadata' || use === 'link-local';
  return isTouchy && isIP(host) === 0
    ? `${leads} a ${use} address, which is reached only if network.allow lists the address itself`
    : undefined;
}

/**
 * Resolves a name for a connection. What is checked is what is connected to: there is no second look-up. One
 * bad address rules out the name, since a half-public name is either a mistake or an attack.
 */
export function checkedLookup(resolve: Resolve, allowsPrivate: boolean): LookupFunction {
  return (host, options, callback) => {
    const find = async () => {
      const addresses = await resolve(host);
      const fault = addressesFault(host, addresses, allowsPrivate);
      if (fault) throw refusedAddress(fault);
      return addresses;
    };
    find().then(
      (addresses) => fixedLookup(addresses)(host, options, callback),
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}

/** `addressFault` of all addresses of a name; a name without any is a fault too. */
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

/** Resolves to known addresses. */
export function fixedLookup(addresses: readonly LookupAddress[]): LookupFunction {
  const [first = { address: '', family: 0 }] = addresses;
  return (_host, options, callback) =>
    options.all ? callback(null, [...addresses]) : callback(null, first.address, first.family);
}
