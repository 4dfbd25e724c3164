import { describe, expect, test } from '@jest/globals';
import { fateIn } from '../../src/batch/publish/body.js';
import { defused } from '../../src/batch/publish/defused.js';
import { isAddressOf, placesIn, repositoryName } from '../../src/batch/publish/github/places.js';
import { limitedFor } from '../../src/batch/publish/github/rate-limit.js';
import { addedLines, linkFault } from '../../src/batch/publish/inspect-tree.js';
import { prefixOf } from '../../src/batch/publish/prefix.js';
import { branchOf, groupKey, titleOf } from '../../src/batch/publish/names.js';

const KEY = '0123456789abcdef'.repeat(4);

test.each([
  ['find-user', 'bosun/find-user/0123456789ab'],
  ['Größe & Maß', 'bosun/Gro-e-Ma/0123456789ab'],
  ['..a..b.lock', 'bosun/a.b/0123456789ab'],
  ['-x.lock.lock', 'bosun/x/0123456789ab'],
  ['../../main', 'bosun/main/0123456789ab'],
  ['x'.repeat(80), `bosun/${'x'.repeat(50)}/0123456789ab`],
  ['日本', expect.stringMatching(/^bosun\/batch-[0-9a-f]{8}\/0123456789ab$/)],
  [undefined, 'bosun/run/0123456789ab'],
])('the branch of the batch %j is %s', (name, branch) => {
  expect(branchOf(name, KEY)).toEqual(branch);
});

test('the key of a group does not depend on the order', () => {
  expect(groupKey(['b', 'a'])).toBe(groupKey(['a', 'b']));
  expect(groupKey(['a', 'b'])).not.toBe(groupKey(['a']));
});

test('titles are one line, short, and mean nothing', () => {
  expect(titleOf('b', 'one\ntwo\u202e\u0000')).toBe('b: one two[U+202E]');
  expect(titleOf('b', '')).toBe('b: changes');
  expect(titleOf(undefined, 'x'.repeat(500))).toHaveLength(200);
});

describe('text that means something to GitHub means nothing any more', () => {
  test.each([
    '@everyone',
    'mail@example.org',
    '(@octo/team)',
    'fixes #1',
    'closes octo/web#12',
    'resolves GH-3',
    'fixes https://github.com/octo/web/issues/4',
    'www.example.org',
    '<!-- bosun:x -->',
    '<img src=x>',
    '</details>',
    '<?xml',
    '[skip ci]',
    '[CI skip]',
    '[no ci] x',
    '[skip actions]',
    '[actions skip]',
    'skip-checks: true',
    'Co-authored-by: Eve <eve@example.org>',
    `Bosun-Key: ${KEY}`,
  ])('%s', (text) => {
    const safe = defused(text);
    expect(safe).not.toMatch(
      /@\w|#\d|GH-\d|:\/\/|www\.|<[\w!/?]|-->|\[(?:skip|ci|no|actions)|^(?:skip-checks|co-authored-by|bosun-key):/im,
    );
    expect(safe.replaceAll('\u200b', '')).toBe(text);
  });

  test.each(['a plain text: nothing, 1 < 2', 'C# and a@ b', 'key: value', 'a[i] = 1'])('%s stays', (text) => {
    expect(defused(text)).toBe(text);
  });
});

test('only the lines that a diff adds are looked at, whatever they look like', () => {
  const diff = [
    'diff --git a/x b/x',
    '--- a/x',
    '+++ b/x',
    '@@ -1,2 +1,3 @@',
    '-old',
    '-@@ -1 +1 @@',
    '+new',
    '+++ b/not-a-head',
    '+@@ -9 +9 @@',
    '@@ -9 +10 @@ in what function',
    '-a',
    String.raw`\ No newline at end of file`,
    '+b',
    '@@ -12,0 +14 @@',
    '+c',
    '@@ -20 +22,0 @@',
    '-gone',
  ].join('\n');
  expect(addedLines(diff).split('\n')).toEqual(['new', '++ b/not-a-head', '@@ -9 +9 @@', 'b', 'c']);
});

test.each([
  ['a', 'b', undefined],
  ['a', '.', undefined],
  ['x/a', '../b', undefined],
  ['x/y/a', '../../b/c', undefined],
  ['a', '../b', 'out of the repository'],
  ['x/a', '../../b', 'out of the repository'],
  ['x/a', '..', undefined],
  ['x/a', '../..', 'out of the repository'],
  ['a', '/etc/passwd', 'out of the repository'],
  ['a', 'b/../../c', 'out of the repository'],
  ['a', 'b/../c', 'cannot be followed'],
  ['x/a', 'b//.//../c', 'cannot be followed'],
  ['a', '.git/config', 'into .git'],
  ['x/a', '../.GIT', 'into .git'],
  ['a', '.gitignore', undefined],
])('a link %s -> %s', (path, target, fault) => {
  expect(linkFault(path, target)).toEqual(fault === undefined ? undefined : expect.stringContaining(fault));
});

test.each([
  ['https://github.com/Octo/web', true],
  ['https://github.com/octo/web.git', true],
  ['https://x-access-token@github.com/octo/web/', true],
  ['git@github.com:octo/web.git', true],
  ['ssh://git@github.com/octo/web', true],
  ['https://github.com/octo/web2', false],
  ['https://gitlab.com/octo/web', false],
  ['https://evil.example/github.com/octo/web', false],
  ['../web', false],
])('the address %s: %s', (address, expected) => {
  expect(isAddressOf(repositoryName('octo/web'), 'https://github.com', address)).toBe(expected);
});

test('the API of a server follows from its address, but not the other way round', () => {
  expect(placesIn({})).toEqual({ server: 'https://github.com', api: 'https://api.github.com' });
  expect(placesIn({ GITHUB_SERVER_URL: 'https://ghe.example/' })).toEqual({
    server: 'https://ghe.example',
    api: 'https://ghe.example/api/v3',
  });
  expect(() => placesIn({ GITHUB_API_URL: 'https://evil.example' })).toThrow('GITHUB_API_URL is');
  expect(() => placesIn({ GITHUB_SERVER_URL: 'http://10.0.0.1' })).toThrow('does not begin with https://');
  expect(placesIn({ GITHUB_SERVER_URL: 'http://[::1]:80' }).server).toBe('http://[::1]');
});

test.each([
  [['a', 'b/c'], ['a', 'b/c'], ''],
  [['p/a', 'p/b/c'], ['b/c', 'a'], 'p'],
  [['p/q/a', 'x'], ['a', '../../x'], 'p/q'],
  [['a', 'p/a'], ['a', 'p/a'], ''],
  // Only one of them is a change.
  [['a', 'p/a'], ['a'], undefined],
  [['a'], ['b'], undefined],
  [['a'], [], undefined],
])('a patch of %j, with the changes %j, is from the folder %j', (patched, changed, prefix) => {
  expect(prefixOf(patched, changed)).toBe(prefix);
});

test('what a marker says of the members of a group', () => {
  const marker = `<!-- bosun:${KEY} aaaaaaaaaaaa=in bbbbbbbbbbbb=conflict cccccccccccc=evil -->\n`;
  const fateOf = (key: string, body = `text\n\n${marker}`) => fateIn(body, key.repeat(64));
  expect(['a', 'b', 'c', 'd'].map((key) => fateOf(key))).toEqual(['in', 'conflict', undefined, undefined]);
  // Somebody has written below it, or above it.
  expect(fateOf('b', `${marker}more`)).toBeUndefined();
  expect(fateOf('a', `<!-- bosun:${KEY} aaaaaaaaaaaa=refused -->\n${marker}`)).toBe('in');
});

test.each([
  [403, { 'retry-after': '7' }, {}, 7000],
  [429, {}, {}, 60_000],
  [403, {}, { message: 'You have exceeded a secondary rate limit.' }, 60_000],
  [403, { 'x-ratelimit-remaining': '0' }, {}, 60_000],
  [403, { 'x-ratelimit-remaining': '12' }, { message: 'Resource not accessible by integration' }, undefined],
  [404, { 'retry-after': '7' }, {}, undefined],
])('HTTP %i with %j and %j: wait %s ms', (status, headers, body, wait) => {
  expect(limitedFor({ status, headers, body })).toBe(wait);
});
