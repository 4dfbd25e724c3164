import { expect, test } from '@jest/globals';
import type { GroundingRequest } from '../../../src/protocol/provider.js';
import { fetchUrls } from '../../../src/tools/web/fetch-urls.js';
import { closing } from '../../helpers/provider.js';
import { names, web } from '../../helpers/web.js';
import { startWebServer } from '../../helpers/web-server.js';

const use = closing();
const context = () => ({ signal: new AbortController().signal, onOutput: () => undefined }) as never;

function asked() {
  const requests: GroundingRequest[] = [];
  const ground = async (request: GroundingRequest) => {
    requests.push(request);
    return { type: 'failure', class: 'unavailable', retryable: false, message: 'not now' } as const;
  };
  return { requests, ground };
}

test.each([
  ['http://10.1.2.3/', {}],
  ['http://[fd00::5]/', {}],
  ['http://wiki/', {}],
  ['http://wiki.internal./', {}],
  ['http://docs.example/', { 'docs.example': ['203.0.113.9', '10.0.0.1'] }],
])('the provider is not asked about %s', async (url, table) => {
  const { requests, ground } = asked();
  const { resolve } = names(table);
  const report = await fetchUrls(
    url,
    [new URL(url)],
    web(['public.example'], { ground, resolve }),
    context(),
  );
  expect(requests).toHaveLength(0);
  expect(report.ok).toBe(false);
});

test.each([
  ['is public', async () => [{ address: '93.184.216.34', family: 4 }]],
  ['nobody here knows', () => Promise.reject(new Error('ENOTFOUND'))],
])('it is asked about a host that %s, and what it cannot read is fetched directly', async (_what, first) => {
  const site = use(await startWebServer({ '/': { body: 'plain' } }));
  const { requests, ground } = asked();
  const { resolve } = names({ 'docs.example': '127.0.0.1' });
  const lookups = [first];
  const url = `http://docs.example:${site.port}/`;
  const settings = web([`docs.example:${site.port}`], {
    ground,
    resolve: (host) => (lookups.shift() ?? resolve)(host),
  });
  const report = await fetchUrls(`Read ${url}`, [new URL(url)], settings, context());
  expect(requests).toHaveLength(1);
  expect(JSON.stringify(report)).toContain('plain');
  expect(JSON.stringify(report)).toContain('The provider could not read the URLs (not now).');
});
