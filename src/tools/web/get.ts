import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { addressFault, checkedLookup, refusedAddress, type Resolve } from '../../lib/addresses.js';
import { withoutBrackets } from '../../lib/ip-address.js';

export interface GetSettings {
  readonly resolve: Resolve;
  readonly allowsPrivate: boolean;
  readonly userAgent: string;
  readonly signal: AbortSignal;
}

const ACCEPT =
  'text/html,application/xhtml+xml,text/markdown,text/plain,application/json,application/xml;q=0.9,*/*;q=0.5';

/**
 * One GET over its own connection: no cookies, no credentials, no proxy (behind one, addresses could not be
 * checked), no redirects. `use` reads the response; then the connection is closed, whatever is left.
 */
export function httpGet<T>(
  url: URL,
  settings: GetSettings,
  use: (response: IncomingMessage) => Promise<T>,
): Promise<T> {
  const host = withoutBrackets(url.hostname);
  return new Promise((resolve, reject) => {
    // A literal address is connected to without a look-up.
    const fault = isIP(host) > 0 ? addressFault(host, host, settings.allowsPrivate) : undefined;
    if (fault) {
      reject(refusedAddress(fault));
      return;
    }
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(optionsFor(url, host, settings));
    let answered = false;
    // Stays: a connection that is closed early may report an error later.
    request.on('error', reject);
    request.once('close', () => {
      if (!answered) reject(new Error('the connection was closed without an answer'));
    });
    request.once('response', (response) => {
      answered = true;
      response.on('error', () => {});
      use(response)
        .then(resolve, reject)
        .finally(() => request.destroy());
    });
    request.end();
  });
}

function optionsFor(url: URL, host: string, settings: GetSettings): RequestOptions {
  return {
    host,
    port: url.port || (url.protocol === 'https:' ? 443 : 80),
    path: url.pathname + url.search,
    agent: false,
    lookup: checkedLookup(settings.resolve, settings.allowsPrivate),
    // Certificates have no dot at the end, and addresses no server name.
    ...(isIP(host) === 0 && { servername: host.replace(/\.$/, '') }),
    signal: settings.signal,
    headers: {
      host: url.host,
      'user-agent': settings.userAgent,
      accept: ACCEPT,
      'accept-encoding': 'gzip, deflate, br',
    },
  };
}
