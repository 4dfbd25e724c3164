import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { GitHubReply, GitHubRequest } from '../helpers/github-server.mjs';
import { branchesOf, changesIn, recordedBatch, write, type Stage } from '../helpers/publish.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const stage = recordedBatch({
  one: [write('docs/1.md', '1\n')],
  two: [write('docs/2.md', '2\n')],
  three: [write('docs/3.md', '3\n')],
});
const manyTasks = recordedBatch(
  Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`t${i}.`, [write(`docs/t${i}.md`, 'x\n')]])),
);
/** For tests after which nothing is published. */
let untouched: Promise<Stage> | undefined;
const untouchedStage = () => (untouched ??= stage({ keep: true }));
const MINUTE = 60_000;
const ago = (minutes: number) => new Date(Date.now() - minutes * MINUTE).toISOString();

test('--max-open: what Bosun has open counts, and nothing else', async () => {
  const { github, publish, result } = await stage();
  for (const head of ['bosun/other/1', 'feature', 'bosun/other/2']) github.add({ head, created_at: ago(90) });
  github.add({ head: 'bosun/other/3', created_at: ago(90), state: 'closed' });
  // A branch of a fork may have any name.
  github.add({ head: 'bosun/other/4', created_at: ago(90), from: 'eve/web' });
  const { exit_code, status, shown, of } = await result(['--max-open', '3']);
  expect([exit_code, status, shown]).toEqual([6, 'limit', ['one published', 'two waiting', 'three waiting']]);
  expect(of['two']?.reason).toBe('3 pull requests of Bosun are open (--max-open 3)');
  expect(branchesOf(github)).toHaveLength(1);
  Object.assign(github.pulls[0] ?? {}, { state: 'closed' });
  const { code, stdout } = await publish(['--max-open', '3']);
  expect([code, stdout]).toEqual([
    6,
    expect.stringContaining('3 tasks: 1 already open, 1 published, 1 waiting'),
  ]);
}, 30_000);

test('--per-hour: those of the last hour count, and the end says when to come back', async () => {
  const { github, publish, result } = await stage();
  const created = ago(20);
  github.add({ head: 'bosun/other/1', created_at: created });
  github.add({ head: 'bosun/other/2', created_at: ago(70) });
  const { exit_code, shown, again_at: againAt } = await result(['--per-hour', '2']);
  expect([exit_code, shown]).toEqual([6, ['one published', 'two waiting', 'three waiting']]);
  expect(Date.parse(againAt ?? '')).toBe(Date.parse(created) + 60 * MINUTE);
  const { stdout, stderr } = await publish(['--per-hour', '2']);
  expect([stdout, stderr]).toEqual(
    Array(2).fill(expect.stringMatching(/2 waiting; run it again after \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n/)),
  );
}, 30_000);

test('a list of more than a page is read to its end', async () => {
  const { github, result } = await stage();
  for (let i = 0; i < 120; i++) github.add({ head: `feature-${i}`, created_at: ago(i) });
  github.add({ head: 'bosun/other/1', created_at: ago(500) });
  expect((await result(['--max-open', '1'])).shown).toEqual(['one waiting', 'two waiting', 'three waiting']);
}, 30_000);

test('many tasks do not ask one by one', async () => {
  const { github, result } = await manyTasks();
  const { published } = await result(['--dry-run'], { env: { GITHUB_TOKEN: '' } });
  for (const { branch } of published) github.add({ head: branch ?? '', state: 'closed' });
  const asked = github.requests.length;
  const { exit_code, shown } = await result();
  expect([exit_code, new Set(shown.map((line) => line.split(' ')[1]))]).toEqual([0, new Set(['closed'])]);
  expect(github.requests.length - asked).toBe(2);
}, 30_000);

test('--dry-run: with a token it looks and changes nothing, without one it says that it could not look', async () => {
  const { github, publish, result } = await stage();
  await publish(['--per-hour', '1']);
  const asked = github.requests.length;
  const looked = await publish(['--dry-run', '--per-hour', '2']);
  expect(looked.code).toBe(6);
  expect(looked.stdout).toMatch(
    /^already open .*one {2}https.*\nwould be published {2}two {2}bosun\/fix-it\/[0-9a-f]{12}\n {2}title {3}fix-it: two\n {2}file {4}docs\/2\.md \+1 -0\n {2}checks {2}.*\nwaiting .*three/m,
  );
  expect(looked.stdout).toContain('dry run: nothing was changed; ');
  expect(changesIn(github, asked)).toEqual([]);

  const before = github.requests.length;
  const { exit_code, shown, of } = await result(['--dry-run'], { env: { GITHUB_TOKEN: '' } });
  expect([exit_code, shown]).toEqual([0, ['one would_publish', 'two would_publish', 'three would_publish']]);
  expect(of['two']).toMatchObject({
    reason: 'GitHub was not asked',
    title: 'fix-it: two',
    files: [{ path: 'docs/2.md', added: 1, removed: 0 }],
  });
  expect(github.requests.slice(before)).toEqual([]);
}, 30_000);

const isList = ({ url }: GitHubRequest) => url.includes('/pulls?head');
const reset = () => String(Math.floor(Date.now() / 1000) + 3600);
const FAILURES: readonly (readonly [
  string,
  (request: GitHubRequest) => GitHubReply | undefined,
  number,
  string,
  RegExp,
])[] = [
  [
    '401',
    () => ({ status: 401, body: { message: 'Bad credentials' } }),
    9,
    'auth',
    /does not accept GITHUB_TOKEN: HTTP 401: Bad credentials/,
  ],
  [
    '403',
    (one) =>
      isList(one) ? { status: 403, body: { message: 'Resource not accessible by integration' } } : undefined,
    9,
    'auth',
    /may not list pull requests: HTTP 403: Resource not accessible/,
  ],
  [
    '403 of git',
    (one) => (one.url.includes('service=git-receive-pack') ? { status: 403 } : undefined),
    9,
    'auth',
    /GITHUB_TOKEN may not push to/,
  ],
  [
    'a repository that is not there',
    () => ({ status: 404, body: { message: 'Not Found' } }),
    2,
    'config_error',
    /there is no repository octo\/web, or GITHUB_TOKEN may not see it/,
  ],
  [
    'a repository that has moved',
    (one) =>
      one.url.endsWith('/repos/octo/web')
        ? { status: 200, body: { full_name: 'eve/web', default_branch: 'main' } }
        : undefined,
    2,
    'config_error',
    /octo\/web is now eve\/web/,
  ],
  [
    'a redirect to another server',
    () => ({ status: 301, headers: { location: 'http://127.0.0.1:1/x' } }),
    11,
    'provider_unavailable',
    /redirects to another server/,
  ],
  [
    'a rate limit',
    (one) =>
      isList(one)
        ? { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset() } }
        : undefined,
    10,
    'quota_exhausted',
    /rate limit is used up until \d{4}-/,
  ],
  [
    'a long Retry-After',
    (one) => (isList(one) ? { status: 429, headers: { 'retry-after': '3600' } } : undefined),
    10,
    'quota_exhausted',
    /rate limit is used up until/,
  ],
];

test.each(FAILURES)(
  '%s ends it',
  async (_, script, code, status, message) => {
    const { github, result } = await untouchedStage();
    const end = await result([], { script });
    expect([end.exit_code, end.status, end.message]).toEqual([code, status, expect.stringMatching(message)]);
    expect(end.shown).toEqual(['one waiting', 'two waiting', 'three waiting']);
    expect([end.stderr.split('\n').length, branchesOf(github)]).toEqual([2, []]);
  },
  30_000,
);

test('what another try fixes is tried again: 5xx, a broken connection, a short Retry-After', async () => {
  const { github, result } = await stage();
  const replies: (GitHubReply | undefined)[] = [
    { status: 502 },
    'reset',
    undefined,
    { status: 403, headers: { 'retry-after': '0' } },
  ];
  let gitFails = 1;
  const script = ({ url }: GitHubRequest) =>
    url.startsWith('/api/') ? replies.shift() : gitFails-- > 0 ? { status: 503 } : undefined;
  const { exit_code, shown } = await result([], { script });
  expect([exit_code, shown]).toEqual([0, ['one published', 'two published', 'three published']]);
  expect(github.pulls).toHaveLength(3);
}, 30_000);

test('a server that stays away is exit 11, and what was published before is in the result', async () => {
  const { github, result } = await stage();
  const script = ({ method, url }: GitHubRequest) =>
    method === 'POST' && url.endsWith('/pulls') && github.pulls.length === 1 ? { status: 500 } : undefined;
  const { exit_code, shown } = await result([], { script });
  expect([exit_code, shown]).toEqual([11, ['one published', 'two waiting', 'three waiting']]);
}, 60_000);

test('an answer that was lost: the pull request is there all the same', async () => {
  const { github, result } = await stage();
  const script = ({ method, url, body }: GitHubRequest) => {
    if (method !== 'POST' || !url.endsWith('/pulls') || github.pulls.some(({ head }) => head === body.head))
      return undefined;
    github.add(body);
    return 'reset';
  };
  const { shown } = await result([], { script });
  expect(shown).toEqual(['one published', 'two published', 'three published']);
  expect(github.pulls).toHaveLength(3);
}, 30_000);

test('what GitHub refuses is told as it says it', async () => {
  const { github, result } = await stage();
  const script = ({ method, url }: GitHubRequest) =>
    method === 'POST' && url.endsWith('/pulls') && github.pulls.length === 0
      ? {
          status: 422,
          body: { message: 'Validation Failed', errors: [{ message: 'No commits between main and x' }] },
        }
      : undefined;
  const { exit_code, of } = await result(['--max-open', '1'], { script });
  expect([exit_code, of['one']?.reason]).toEqual([
    13,
    'GitHub does not take the pull request: HTTP 422: Validation Failed: No commits between main and x',
  ]);
  // A rule of the server.
  const hooks = join(github.bare, 'hooks');
  mkdirSync(hooks);
  writeFileSync(join(hooks, 'pre-receive'), '#!/bin/sh\necho "no robots here" >&2\nexit 1\n', {
    mode: 0o755,
  });
  const later = await result();
  expect([later.exit_code, later.of['two']?.reason]).toEqual([
    13,
    'GitHub does not take the branch: pre-receive hook declined; no robots here',
  ]);
}, 30_000);

test('a base that is not there is exit 2', async () => {
  const { result } = await untouchedStage();
  const { exit_code, message } = await result(['--base', 'gone']);
  expect([exit_code, message]).toEqual([2, expect.stringContaining('there is no such branch')]);
}, 30_000);

test.each([
  [
    [],
    { GITHUB_API_URL: '', GITHUB_SERVER_URL: 'http://github.example' },
    /GITHUB_SERVER_URL: http:\/\/github\.example does not begin with https/,
  ],
  [[], { GITHUB_SERVER_URL: '' }, /GITHUB_API_URL is .*, but GITHUB_SERVER_URL is https:\/\/github\.com/],
  [
    [],
    { GITHUB_SERVER_URL: 'https://me:secret@github.example' },
    /GITHUB_SERVER_URL: it holds a name or password/,
  ],
  [['--repo', 'octo/web/x'], {}, /--repo octo\/web\/x is not the name of a repository/],
  [['--repo', 'octo/..'], {}, /is not the name of a repository/],
  [['--base', 'a..b'], {}, /Give the name of a branch/],
  [['--max-patch', '1'], {}, /Give a size with a unit/],
  [['--author', 'x'], {}, /Give a name and an address/],
])(
  '%j with %j is exit 2 before anything is asked',
  async (args, env, message) => {
    const { github, publish } = await untouchedStage();
    const asked = github.requests.length;
    const { code, stderr } = await publish(args, { env });
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
    expect(github.requests.slice(asked)).toEqual([]);
  },
  30_000,
);
