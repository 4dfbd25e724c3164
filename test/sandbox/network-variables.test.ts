import { expect, test } from '@jest/globals';
import { proxyVariables, withVariables } from '../../src/sandbox/network/variables.js';

const own = proxyVariables(8080);

test('programs of every kind are told where the proxy is', () => {
  expect(own).toMatchObject({ HTTPS_PROXY: 'http://127.0.0.1:8080', https_proxy: 'http://127.0.0.1:8080' });
  expect(own['MAVEN_OPTS']).toContain('-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=8080');
  expect(own['GRADLE_OPTS']).toContain('-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=8080');
});

test('no option has a sign in it that means something to a shell', () => {
  expect(`${own['MAVEN_OPTS']} ${own['GRADLE_OPTS']}`).toMatch(/^[\w.=: -]+$/);
});

test('options that the policy sets stay, and what else it sets about proxies does not', () => {
  const given = { MAVEN_OPTS: '-Xmx1g', HTTP_PROXY: 'http://evil.example', PATH: '/bin' };
  const all = withVariables(given, own);
  expect(all['MAVEN_OPTS']).toBe(`-Xmx1g ${own['MAVEN_OPTS']}`);
  expect(all).toMatchObject({ HTTP_PROXY: 'http://127.0.0.1:8080', PATH: '/bin' });
});
