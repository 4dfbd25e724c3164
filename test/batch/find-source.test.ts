import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';
import { findSource } from '../../src/batch/queue/find-source.js';
import { ownGit, type Git } from '../../src/batch/workspaces/git.js';
import { commitAll, writeIn } from '../helpers/batch.js';
import { place } from '../helpers/served.js';

test('a repository is fetched once for all tasks of a commit, also for those that begin together', async () => {
  const where = place({ 'a.ts': 'a\n' });
  const commit = commitAll(where);
  const { signal } = new AbortController();
  const git = ownGit({ variables: process.env, writable: [], signal });
  const fetches: (string | undefined)[] = [];
  const counted: Git = (args, ...more) => {
    if (['clone', 'fetch'].includes(args[0] ?? '')) fetches.push(args[0]);
    return git(args, ...more);
  };
  const url = pathToFileURL(where.workspace).href;
  const root = join(where.root, 'worker');
  const settings = { repositories: [], allowUrls: ['*'], git: counted, root, fetching: new Map() };
  const find = (sha: string) => findSource({ url, commit: sha, prefix: '' }, settings);

  const found = await Promise.all([find(commit), find(commit), find(commit)]);
  expect(found.map((source) => source.commit)).toEqual([commit, commit, commit]);
  expect(new Set(found.map(({ path }) => path)).size).toBe(1);
  await find(commit);
  expect(fetches).toEqual(['clone']);

  // What is new there is looked for.
  writeIn(where, 'b.ts', 'b\n');
  const next = commitAll(where);
  await Promise.all([find(next), find(next)]);
  expect(fetches).toEqual(['clone', 'fetch']);
  await expect(find('0'.repeat(40))).rejects.toThrow(`the commit ${'0'.repeat(40)} is not in ${url}`);
});
