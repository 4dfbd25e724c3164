import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ownGit } from '../../src/batch/workspaces/git.js';
import { WorkspacePool, type Owner } from '../../src/batch/workspaces/pool.js';
import { useWorkspace } from '../helpers/workspace.js';

const here = useWorkspace();

/** A repository with one commit, to be cloned. */
function repository() {
  const path = here.path('source');
  mkdirSync(path);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
      cwd: path,
      encoding: 'utf8',
    });
  git('init', '-q');
  git('commit', '-qm', 'all', '--allow-empty');
  return { path, commit: git('rev-parse', 'HEAD').trim(), prefix: '' };
}

function openPool(isKept: (owner: Owner) => boolean = () => false) {
  const { signal } = new AbortController();
  const git = ownGit({ variables: process.env, writable: [], signal });
  return new WorkspacePool({ folder: here.path(), sparse: [], git, setUp: async () => {} }, isKept);
}

describe('workspaces', () => {
  const { signal: going } = new AbortController();
  const [a, b] = [
    { id: 'a', attempt: 1 },
    { id: 'b', attempt: 1 },
  ];

  test('one that an attempt goes on in is given to nobody else', async () => {
    const source = repository();
    const before = openPool();
    const first = await before.take(a, source, going);
    await before.prepare(a, first, source, going);

    const pool = openPool();
    expect(pool.find(a, first.name, source)).toEqual(first);
    expect((await pool.take(b, source, going)).name).not.toBe(first.name);
  });

  test('one that was given away is found by nobody', async () => {
    const source = repository();
    const pool = openPool();
    const first = await pool.take(a, source, going);
    await pool.prepare(a, first, source, going);
    expect(pool.find(a, first.name, source)).toBeUndefined();
    pool.giveBack(first);
    const second = await pool.take(b, source, going);
    expect(second.name).toBe(first.name);
    expect(pool.find(a, first.name, source)).toBeUndefined();
  });

  test('a shallow source lends whichever commit it has', async () => {
    const { path: origin } = repository();
    const git = (directory: string, ...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
        cwd: directory,
        encoding: 'utf8',
        stdio: 'pipe',
      }).trim();
    git(origin, 'checkout', '-q', '-b', 'other');
    writeFileSync(join(origin, 'other.txt'), 'other\n');
    git(origin, 'add', '-A');
    git(origin, 'commit', '-qm', 'other');
    git(origin, 'checkout', '-q', '-');
    git(origin, 'commit', '-qm', 'more', '--allow-empty');
    const path = here.path('shallow');
    git(here.path(), 'clone', '-q', '--depth=1', '--no-single-branch', `file://${origin}`, path);
    const commit = git(path, 'rev-parse', 'origin/other');

    const taken = await openPool().take(a, { path, commit, prefix: '' }, going);
    expect(readFileSync(join(taken.path, 'other.txt'), 'utf8')).toBe('other\n');
    expect(git(taken.path, 'log', '--format=%H')).toBe(commit);
    expect(git(taken.path, 'status', '--porcelain')).toBe('');
    expect(git(taken.path, 'remote')).toBe('');
    expect(git(taken.path, 'count-objects')).toMatch(/^0 objects/);
  });
});
