import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { thorough } from '../helpers/counts.js';
import { branchesOf, changesIn, git, recordedBatch, replace, write, type Stage } from '../helpers/publish.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const ODD = 'ödd/[skip ci] @everyone fixes #1 "q" $(x) `y`';
const HOSTILE =
  'Do {{id}}\n@everyone, this fixes #1 and closes octo/web#2, https://github.com/octo/web/issues/3\n```\n<!-- bosun:x -->\nCo-authored-by: x <x@example.org>';
const stage = recordedBatch(
  {
    edit: [replace('a.txt', 'b\n', 'B\n')],
    docs: [write('docs/two.md', 'two\n')],
    both: [write('docs/three.md', 'three\n'), write('src/y.js', 'y\n')],
    [ODD]: [write('docs/a "b" c.md', 'odd\n')],
    nothing: [],
  },
  HOSTILE,
  'success: {verify: ["test -f a.txt"]}\n',
);
/** Changed so near to the patch that only a merge of three files can tell both apart. */
const NEAR = 'a\nb\nc\nd\nE\nf\ng\nh\n';
const PUBLISHED = [
  'edit published',
  'docs published',
  'both published',
  `${ODD} published`,
  'nothing skipped',
];

/** Where everything is published already, for tests that leave it so. */
let once: Promise<Stage> | undefined;
const publishedStage = () =>
  (once ??= (async () => {
    const made = await stage({ keep: true });
    await made.publish();
    return made;
  })());

test('each patch becomes a commit, a branch and a pull request; the same command again changes nothing', async () => {
  const { github, workspace, out, publish, result } = await stage();
  const before =
    git(workspace, 'for-each-ref') + git(workspace, 'count-objects') + git(workspace, 'status', '--short');
  const { code, stdout } = await publish();
  expect([code, stdout.split('\n')[0]]).toEqual([
    0,
    'published           edit  https://github.example/octo/web/pull/1',
  ]);
  expect(stdout).toMatch(/^skipped {13}nothing {2}it has changed nothing$/m);
  expect(branchesOf(github)).toHaveLength(4);
  const [first] = github.pulls;
  expect(github.git('show', `${first?.head}:a.txt`)).toBe('a\nB\nc\nd\ne\nf\ng\nh\n');
  expect(github.git('log', '--format=%an <%ae> %s', `main..${first?.head}`)).toBe(
    'Bosun <bosun@users.noreply.github.com> fix-it: edit\n',
  );
  expect(github.pulls.map(({ base, draft }) => `${base} ${draft}`)).toEqual(Array(4).fill('main false'));
  const notes = readFileSync(join(out, 'published.jsonl'), 'utf8').split('\n').filter(Boolean);
  expect(notes.map((line) => (JSON.parse(line) as { url: string }).url)).toHaveLength(4);

  const asked = github.requests.length;
  const again = await result();
  expect([again.exit_code, again.shown]).toEqual([
    0,
    PUBLISHED.map((line) => line.replace('published', 'open')),
  ]);
  expect(changesIn(github, asked)).toEqual([]);
  // Nothing but GitHub's API was asked, and nothing was fetched.
  expect(github.requests.slice(asked).map(({ url }) => url.split('/')[1])).toEqual(Array(5).fill('api'));
  const after =
    git(workspace, 'for-each-ref') + git(workspace, 'count-objects') + git(workspace, 'status', '--short');
  expect(after).toBe(before);
}, 30_000);

test('the pull request says what was asked and checked, and no text in it means anything to GitHub', async () => {
  const { github } = await publishedStage();
  const [edit, , , odd] = github.pulls;
  expect(edit?.body).toMatch(/^Made by Bosun in the batch `fix-it`, task `edit`\.\n/);
  expect(edit?.body).toContain('- `a.txt` +1 -1\n');
  expect(edit?.body).toContain('- `test -f a.txt` passed\n');
  expect(edit?.body).toMatch(/\n<!-- bosun:[0-9a-f]{64} -->\n$/);
  expect(odd?.body).toContain('- `docs/a "b" c.md` +1 -0\n');
  for (const { body, title, head } of github.pulls) {
    const message = github.git('log', '-1', '--format=%B', head);
    for (const text of [body.replace(/<!-- bosun:[0-9a-f]{64} -->\n$/, ''), title, message]) {
      expect(text).not.toMatch(/@\w|#\d|:\/\/|<\w|<!--|\[skip|^Co-authored-by:/m);
    }
    // Nothing leaves the fence of the prompt, which has a longer one.
    expect(body.match(/^````(?:text)?$/gm)).toHaveLength(2);
  }
  expect(odd?.title.replaceAll('\u200b', '')).toBe(`fix-it: ${ODD}`);
}, 30_000);

test('what was merged or closed stays so, and nothing is pushed for it', async () => {
  const { github, result } = await publishedStage();
  Object.assign(github.pulls[0] ?? {}, { state: 'closed', merged_at: '2026-01-01T00:00:00Z' });
  Object.assign(github.pulls[1] ?? {}, { state: 'closed' });
  for (const branch of branchesOf(github)) github.git('update-ref', '-d', `refs/heads/${branch}`);
  const asked = github.requests.length;
  const { shown, exit_code } = await result();
  expect([exit_code, shown.slice(0, 3)]).toEqual([0, ['edit merged', 'docs closed', 'both open']]);
  expect(changesIn(github, asked)).toEqual([]);
  expect(branchesOf(github)).toEqual([]);
}, 30_000);

test('one that was killed between push and pull request goes on, although the base has moved', async () => {
  const { github, start, moveOn, result } = await stage();
  const started = start();
  github.state.script = ({ method, url }) => {
    if (method !== 'POST' || !url.endsWith('/pulls')) return undefined;
    started.child.kill('SIGKILL');
    return 'reset';
  };
  expect((await started.done).signal).toBe('SIGKILL');
  const [branch = ''] = branchesOf(github);
  const commit = github.git('rev-parse', branch);
  expect([branchesOf(github).length, github.pulls.length]).toEqual([1, 0]);
  moveOn('src/z.js', 'z\n');
  const asked = github.requests.length;
  const { shown } = await result();
  expect(shown).toEqual(PUBLISHED);
  expect(changesIn(github, asked)).toEqual(['open', 'push', 'open', 'push', 'open', 'push', 'open']);
  expect(github.git('rev-parse', branch)).toBe(commit);
}, 30_000);

test('a branch that somebody has pushed to is left alone', async () => {
  const { github, publish, result, moveOn } = await stage();
  await publish();
  const [branch = '', other = ''] = github.pulls.map(({ head }) => head);
  moveOn('a.txt', 'mine\n', branch);
  const mine = github.git('rev-parse', branch);
  // Without a pull request nobody knows that it is ours; one with the base's own commit is no better.
  github.git('update-ref', `refs/heads/${other}`, 'main');
  github.pulls.splice(0);
  const { exit_code, of } = await result();
  expect([exit_code, of['edit']?.status, of['docs']?.status, of['both']?.status]).toEqual([
    13,
    'changed',
    'changed',
    'published',
  ]);
  expect(github.git('rev-parse', branch)).toBe(mine);
  expect(github.git('rev-parse', other)).toBe(github.git('rev-parse', 'main'));
}, 30_000);

test('our commit on a parent that the base does not have is not ours', async () => {
  const { github, publish, result, moveOn } = await stage();
  await publish();
  const { head = '' } = github.pulls[1] ?? {};
  // The same patch, but on a commit of somebody else.
  github.git('branch', 'evil', 'main');
  moveOn('a.txt', 'evil\n', 'evil');
  github.git('update-ref', '-d', `refs/heads/${head}`);
  github.pulls.splice(0);
  expect((await result(['--base', 'evil'])).of['docs']?.status).toBe('published');
  expect(github.git('log', '-1', '--format=%s', `${head}~1`)).toBe('by hand\n');
  github.pulls.splice(0);
  expect((await result()).of['docs']?.status).toBe('changed');
}, 30_000);

test('a conflict is reported and not forced; what the base has already is merged', async () => {
  const { github, moveOn, result } = await stage();
  moveOn('a.txt', 'a\nother\nc\nd\ne\nf\ng\nh\n');
  moveOn('docs/two.md', 'two\n');
  const { exit_code, of } = await result();
  expect([exit_code, of['edit']?.status, of['docs']?.status, of['both']?.status]).toEqual([
    13,
    'conflict',
    'merged',
    'published',
  ]);
  expect(of['edit']?.reason).toBe('a.txt has other changes in the same place');
  expect(github.pulls).toHaveLength(2);
}, 30_000);

thorough(
  'patches are merged with what the base has become',
  async () => {
    const { github, moveOn, result } = await stage();
    moveOn('a.txt', 'a\nb\nc\nd\ne\nf\ng\nH\n');
    expect((await result(['--group', 'all'])).of['edit']?.status).toBe('published');
    expect(github.git('show', `${github.pulls[0]?.head}:a.txt`)).toBe('a\nB\nc\nd\ne\nf\ng\nH\n');
  },
  30_000,
);

test('--group folder opens one for each folder, and never divides a patch', async () => {
  const { github, result } = await stage();
  const { shown } = await result(['--group', 'folder']);
  expect(shown).toEqual(PUBLISHED);
  expect(github.pulls.map(({ title }) => title)).toEqual(['fix-it: .', 'fix-it: docs', 'fix-it: docs, src']);
  expect(
    github.git('diff', '--name-only', '-z', `main...${github.pulls[1]?.head}`).split('\0').filter(Boolean),
  ).toEqual(['docs/a "b" c.md', 'docs/two.md']);
  const asked = github.requests.length;
  expect((await result(['--group', 'folder'])).shown[0]).toBe('edit open');
  expect(changesIn(github, asked)).toEqual([]);
}, 30_000);

test('--group all opens one, without what conflicts, which is reported each time', async () => {
  const { github, result, moveOn } = await stage();
  moveOn('a.txt', 'other\n');
  for (const status of ['published', 'open']) {
    const { exit_code, shown } = await result(['--group', 'all', '--draft']);
    expect([exit_code, shown.slice(0, 2)]).toEqual([13, ['edit conflict', `docs ${status}`]]);
  }
  expect(github.pulls.map(({ title, draft }) => [title, draft])).toEqual([['fix-it: 4 tasks', true]]);
  expect(github.pulls[0]?.body).toContain('Made by Bosun in the batch `fix-it`, 3 tasks.');
}, 30_000);

test('without a checkout the patches are fetched for and merged as well', async () => {
  const { github, result, home, moveOn } = await stage();
  moveOn('a.txt', NEAR);
  const { shown } = await result(['-C', home, '--group', 'all']);
  expect(shown).toEqual(PUBLISHED);
  expect(github.git('show', `${github.pulls[0]?.head}:a.txt`)).toBe(NEAR.replace('b', 'B'));
}, 30_000);

test('a partial clone is as good as none: what it lacks is fetched', async () => {
  const { root, workspace, github, result, moveOn } = await stage();
  git(workspace, 'config', 'uploadpack.allowFilter', 'true');
  const partial = join(root, 'partial');
  git(root, 'clone', '-q', '--filter=blob:none', '--no-checkout', `file://${workspace}`, partial);
  moveOn('a.txt', NEAR);
  expect((await result(['-C', partial, '--group', 'all'])).shown).toEqual(PUBLISHED);
  expect(github.git('show', `${github.pulls[0]?.head}:a.txt`)).toBe(NEAR.replace('b', 'B'));
}, 30_000);

thorough(
  'a shallow checkout is enough',
  async () => {
    const { root, workspace, github, result } = await stage();
    const shallow = join(root, 'shallow');
    git(root, 'clone', '-q', '--depth', '1', `file://${workspace}`, shallow);
    expect((await result(['-C', shallow, '--group', 'all'])).shown).toEqual(PUBLISHED);
    expect(branchesOf(github)).toHaveLength(1);
  },
  30_000,
);
