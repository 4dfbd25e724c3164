import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { allOf } from '../../src/policy/all-of.js';
import { lint } from '../../src/policy/lint.js';
import { networkGuard, readHostPattern, type HostPattern } from '../../src/policy/network.js';
import type { Decision, Policy } from '../../src/protocol/decision.js';
import { engine, load } from '../helpers/policy.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

function pattern(text: string): HostPattern {
  const read = readHostPattern(text);
  if (typeof read === 'string') throw new Error(`${text}: ${read}`);
  return read;
}

function guard(allow: readonly string[], isPrivate?: 'allow' | 'deny') {
  return networkGuard({ allow: allow.map(pattern), private: isPrivate });
}

describe('an entry of network.allow covers', () => {
  const cases: [entry: string, url: string, allowed: boolean][] = [
    ['example.org', 'https://example.org/a?b#c', true],
    ['example.org', 'http://example.org/', true],
    ['example.org', 'http://example.org:443/', true],
    ['example.org', 'https://example.org:8443/', false],
    ['example.org', 'https://EXAMPLE.org/', true],
    ['example.org', 'https://example.org./', true],
    ['example.org', 'https://example.org../', false],
    ['example.org', 'https://www.example.org/', false],
    ['example.org', 'https://badexample.org/', false],
    ['example.org', 'https://example.org.evil.example/', false],
    ['example.org', 'https://example.org@evil.example/', false],
    ['example.org', 'https://evil.example\\@example.org/', false],
    ['example.org', 'https://example。org/', true],
    ['example.org', 'ftp://example.org/', false],
    ['Example.ORG', 'https://example.org/', true],
    ['example.org.', 'https://example.org/', true],
    ['*.example.org', 'https://a.example.org/', true],
    ['*.example.org', 'https://a.b.example.org/', true],
    ['*.example.org', 'https://a.example.org./', true],
    ['*.example.org', 'https://example.org/', false],
    ['*.example.org', 'https://.example.org/', false],
    ['*.example.org', 'https://aexample.org/', false],
    ['*', 'https://anything.example/', true],
    ['*', 'https://anything.example:8443/', false],
    ['https://*', 'http://anything.example/', false],
    ['*:8443', 'https://anything.example:8443/', true],
    ['https://example.org', 'https://example.org/', true],
    ['https://example.org', 'http://example.org/', false],
    ['https://example.org:8443', 'https://example.org:8443/', true],
    ['https://example.org:8443', 'https://example.org/', false],
    ['example.org:8080', 'http://example.org:8080/', true],
    ['example.org:8080', 'https://example.org:8080/', true],
    ['HTTP://example.org', 'http://example.org/', true],
    ['bücher.example', 'https://xn--bcher-kva.example/', true],
    ['xn--bcher-kva.example', 'https://bücher.example/', true],
    ['bücher.example', 'https://bucher.example/', false],
    ['under_score.example', 'https://under_score.example/', true],
    ['8.8.8.8', 'https://8.8.8.8/', true],
    ['8.8.8.8', 'https://134744072/', true],
    ['[2606:4700::1111]', 'https://[2606:4700:0:0::1111]/', true],
    ['[2606:4700::1111]:8080', 'http://[2606:4700::1111]:8080/', true],
    ['[2606:4700::1111]', 'https://[2606:4700::1112]/', false],
  ];
  test.each(cases)('%s and %s: %s', (entry, url, allowed) => {
    expect(guard([entry]).fault(new URL(url)) === undefined).toBe(allowed);
  });
});

describe('an entry that means something else than its author thinks does not load', () => {
  test.each([
    ['example.org/api', /leave out the path/],
    ['https://example.org/', /leave out the path/],
    ['example.org?x', /leave out the path/],
    ['example.org#x', /leave out the path/],
    ['user@example.org', /user name/],
    ['https://user:word@example.org', /user name/],
    ['ftp://example.org', /http or https, not ftp/],
    ['*.', /names no host/],
    ['https://', /names no host/],
    [':8080', /names no host/],
    ['.example.org', /write \*\.example\.org/],
    ['**', /stands alone or in front/],
    ['*.*', /stands alone or in front/],
    ['*example.org', /stands alone or in front/],
    ['a.*.org', /stands alone or in front/],
    ['*.10.0.0.1', /an address cannot have subdomains|not the name of a host/],
    ['*.[::1]', /an address cannot have subdomains|not the name of a host/],
    ['::1', /in brackets: \[::1\]/],
    ['[::1', /names no host|not the name/],
    ['[fe80::1%eth0]', /not the name of a host/],
    ['127.1', /write the address plainly: 127\.0\.0\.1/],
    ['0x7f.0.0.1', /write the address plainly: 127\.0\.0\.1/],
    ['2130706433', /write the address plainly: 127\.0\.0\.1/],
    ['010.0.0.1', /write the address plainly: 8\.0\.0\.1/],
    ['256.1.1.1', /not the name of a host/],
    ['a..b', /not the name of a host/],
    ['ex%61mple.org', /not the name of a host/],
    ['exam ple.org', /names no host|not the name/],
    ['example.org:', /is not a port/],
    ['example.org:0', /is not a port/],
    ['example.org:65536', /is not a port/],
    ['example.org:http', /is not a port/],
    ['example.org:*', /is not a port/],
  ])('%s', (entry, message) => {
    expect(readHostPattern(entry)).toMatch(message);
  });

  test('with its place in the file', async () => {
    const text = 'version: 1\nnetwork:\n  allow:\n    - api.github.com\n    - example.org/docs\n';
    await expect(load(ws.path(), text)).rejects.toThrow(
      /policy\.yaml:5:7: `example\.org\/docs`: only hosts are allowed or not, so leave out the path/,
    );
  });

  test.each([
    ['an empty list', 'allow: []', /`network\.allow` must NOT have fewer/],
    ['nothing', 'allow: null', /`network\.allow` must be a list/],
    ['an empty entry', 'allow: [""]', /network\.allow\.0/],
    ['a blank entry', 'allow: [" "]', /network\.allow\.0/],
    ['a number', 'allow: [8080]', /network\.allow\.0/],
    ['a yes', 'private: true', /`network\.private` must be one of allow, deny/],
    ['an unknown key', 'allows: [x]', /did you mean `allow`/],
  ])('%s', async (_what, network, message) => {
    await expect(load(ws.path(), `version: 1\nnetwork: {${network}}\n`)).rejects.toThrow(message);
  });
});

describe('an address that is not public', () => {
  const cases: [allow: string[], isPrivate: 'allow' | 'deny' | undefined, url: string, allowed: boolean][] = [
    [['127.0.0.1'], undefined, 'http://127.0.0.1/', false],
    [['127.0.0.1'], 'deny', 'http://127.0.0.1/', false],
    [['127.0.0.1'], 'allow', 'http://127.0.0.1/', true],
    [['127.0.0.1'], 'allow', 'http://127.0.0.2/', false],
    [['http://127.0.0.1:8080'], 'allow', 'http://0x7f.1:8080/', true],
    [['http://127.0.0.1:8080'], 'allow', 'http://127.0.0.1/', false],
    [['[::1]'], 'allow', 'http://[::1]/', true],
    [['[::1]'], undefined, 'http://[0:0::1]/', false],
    [['*'], 'allow', 'http://10.0.0.1/', false],
    [['*'], 'allow', 'http://[::ffff:10.0.0.1]/', false],
    [['*'], 'allow', 'http://169.254.169.254/', false],
    [['*'], 'allow', 'http://localhost/', false],
    [['*'], 'allow', 'http://a.localhost./', false],
    [['*', 'localhost'], 'allow', 'http://localhost/', true],
    [['localhost'], undefined, 'http://localhost/', false],
    [['*.localhost'], 'allow', 'http://a.localhost/', false],
    // A name is not known to be private: that is for the connection to find out.
    [['intranet.example'], undefined, 'http://intranet.example/', true],
  ];
  test.each(cases)('%j, private %s: %s is allowed: %s', (allow, isPrivate, url, allowed) => {
    expect(guard(allow, isPrivate).fault(new URL(url)) === undefined).toBe(allowed);
  });

  test('is admitted only for a host that is listed literally, with its scheme and port', () => {
    const network = guard(['*', '*.corp.example', 'https://git.corp.example:8443'], 'allow');
    const admits = (url: string) => network.allowsPrivate(new URL(url));
    expect(admits('https://git.corp.example:8443/x')).toBe(true);
    expect(admits('https://git.corp.example/x')).toBe(false);
    expect(admits('http://git.corp.example:8443/x')).toBe(false);
    expect(admits('https://wiki.corp.example/x')).toBe(false);
  });
});

test.each(['https://user@example.org/', 'https://user:word@example.org/', 'https://:word@example.org/'])(
  'a URL with credentials in it is refused: %s',
  (url) => {
    expect(guard(['*']).fault(new URL(url))).toMatch(/user name or password/);
  },
);

function fetch(policy: Policy, prompt: string): Promise<Decision> {
  const request = { tool: 'web_fetch', kind: 'fetch', paths: [], params: { prompt } } as const;
  return policy.decide(request) as Promise<Decision>;
}

const tool = { name: 'web_fetch', kind: 'fetch' } as const;
const search = { name: 'google_web_search', kind: 'fetch' } as const;
const ALLOW_FETCH = 'rules: [{id: web, tool: web_fetch, decision: allow}]\n';

describe('the boundary of the network', () => {
  test('holds against every mode and rule', async () => {
    for (const mode of ['plan', 'manual', 'auto_edit', 'yolo']) {
      const policy = await engine(
        ws.path(),
        `version: 1\nmode: ${mode}\n${ALLOW_FETCH}network: {allow: [ok.example]}\n`,
      );
      expect(await fetch(policy, 'https://ok.example/')).toMatchObject({ decision: 'allow' });
      expect(await fetch(policy, 'https://ok.example/ https://evil.example/')).toEqual({
        decision: 'deny',
        rule: null,
        reason: 'https://evil.example is not covered by network.allow (ok.example)',
      });
    }
  });

  test('without the key no host is allowed, and the tool is not offered', async () => {
    const policy = await engine(ws.path(), `version: 1\nmode: yolo\n${ALLOW_FETCH}`);
    expect(await fetch(policy, 'https://ok.example/')).toMatchObject({ decision: 'deny' });
    expect(policy.mayOffer(tool)).toBe(false);
    expect(policy.describe('web_fetch')).toBeUndefined();
    const without = await engine(ws.path(), 'version: 1\nmode: yolo\nnetwork: {private: allow}\n');
    expect(without.mayOffer(tool)).toBe(false);
  });

  test('with it the tool is offered, and the model is told the hosts', async () => {
    const policy = await engine(ws.path(), 'version: 1\nnetwork: {allow: [a.example, "*.b.example"]}\n');
    expect(policy.mayOffer(tool)).toBe(true);
    expect(policy.describe('web_fetch')).toBe('Allowed hosts: a.example, *.b.example.');
  });

  test.each(['plan', 'manual', 'auto_edit'])('inside it, mode %s asks', async (mode) => {
    const policy = await engine(ws.path(), `version: 1\nmode: ${mode}\nnetwork: {allow: ["*"]}\n`);
    expect(await fetch(policy, 'https://x.example/')).toMatchObject({ decision: 'ask', default: mode });
  });

  test('a rule that denies counts inside it', async () => {
    const policy = await engine(
      ws.path(),
      'version: 1\nmode: yolo\nrules: [{id: no, tool: web_fetch, decision: deny}]\nnetwork: {allow: ["*"]}\n',
    );
    expect(await fetch(policy, 'https://x.example/')).toMatchObject({ decision: 'deny', rule: { id: 'no' } });
    expect(policy.mayOffer(tool)).toBe(false);
  });

  test('a URL that is hidden in a word is not let through', async () => {
    const policy = await engine(ws.path(), 'version: 1\nmode: yolo\nnetwork: {allow: [ok.example]}\n');
    const answer = await fetch(policy, 'https://ok.example/ (https://evil.example/)');
    expect(answer.decision).toBe('deny');
  });

  test('is no business of a search, which goes by rules and modes alone', async () => {
    const ask = (policy: Policy) =>
      policy.decide({ tool: 'google_web_search', kind: 'fetch', paths: [], params: { query: 'x' } });
    const plan = await engine(ws.path(), 'version: 1\n');
    expect(await ask(plan)).toMatchObject({ decision: 'ask' });
    expect(plan.mayOffer(search)).toBe(false);
    const yolo = await engine(ws.path(), 'version: 1\nmode: yolo\n');
    expect(await ask(yolo)).toMatchObject({ decision: 'allow' });
    expect(yolo.mayOffer(search)).toBe(true);
    const ruled = await engine(
      ws.path(),
      'version: 1\nrules: [{id: s, tool: google_web_search, decision: allow}]\n',
    );
    expect(await ask(ruled)).toMatchObject({ decision: 'allow', rule: { id: 's' } });
    expect(ruled.mayOffer(search)).toBe(true);
  });

  test('of several policies every one must allow', async () => {
    const both = allOf([
      await engine(
        ws.path(),
        'version: 1\nmode: yolo\nnetwork: {allow: [a.example, b.example], private: allow}\n',
      ),
      await engine(ws.path(), 'version: 1\nmode: yolo\nnetwork: {allow: [b.example, c.example]}\n'),
    ]);
    const verdict = async (url: string) => (await fetch(both, url)).decision;
    expect(await verdict('https://a.example/')).toBe('deny');
    expect(await verdict('https://b.example/')).toBe('allow');
    expect(await verdict('https://c.example/')).toBe('deny');
    expect(both.network.fault(new URL('https://a.example/'))).toMatch(/not covered/);
    expect(both.network.fault(new URL('https://b.example/'))).toBeUndefined();
    expect(both.network.allowsPrivate(new URL('https://b.example/'))).toBe(false);
    expect(both.describe('web_fetch')).toBe(
      'Allowed hosts: a.example, b.example. Allowed hosts: b.example, c.example.',
    );
  });
});

test('lint warns of a policy that allows every host', async () => {
  const messages = async (allow: string) =>
    lint(await load(ws.path(), `version: 1\nnetwork: {allow: [${allow}]}\n`)).map(({ message }) => message);
  expect(await messages('a.example, "*.b.example"')).toEqual([]);
  expect(await messages('a.example, "https://*"')).toEqual([
    expect.stringMatching(/network\.allow has `\*`/),
  ]);
});

describe('a policy that extends another', () => {
  const base = (text: string) => writeFileSync(join(ws.path(), 'base.yaml'), `version: 1\n${text}`);
  const over = (text: string) => load(ws.path(), `version: 1\nextends: [./base.yaml]\n${text}`);

  test('adds to its hosts, and overrides what it says about private ones', async () => {
    base('network: {allow: [a.example], private: allow}\n');
    const { network } = await over('network: {allow: [b.example], private: deny}\n');
    expect(network?.allow.map(({ text }) => text)).toEqual(['a.example', 'b.example']);
    expect(network?.private).toBe('deny');
  });

  test('keeps what it does not speak of', async () => {
    base('network: {allow: [a.example], private: allow}\n');
    expect((await over('')).network?.allow).toHaveLength(1);
    expect((await over('network: {allow: [b.example]}\n')).network?.private).toBe('allow');
  });

  test('has no network if neither has', async () => {
    base('mode: plan\n');
    expect((await over('')).network).toBeUndefined();
  });
});
