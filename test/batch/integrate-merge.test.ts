import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { mergePatch, treeOf } from '../../src/batch/integrate/merge.js';
import { Scratch } from '../../src/batch/integrate/scratch.js';
import { ownGit } from '../../src/batch/workspaces/git.js';
import { gitFolder } from '../../src/lib/git.js';

test.each([
  ['text', 'a\n', 'b\n', 'c\n'],
  ['bytes', 'a\0', 'b\0', 'c\0'],
])('other %s in the same place are a conflict', async (_, base, theirs, ours) => {
  const root = mkdtempSync(join(tmpdir(), 'bosun-test-'));
  try {
    const top = join(root, 'tree');
    mkdirSync(top);
    const git = ownGit({ variables: process.env, writable: [top], signal: new AbortController().signal });
    const outside = (...args: string[]) => execFileSync('git', args, { cwd: top });
    const stage = (content: string) => {
      writeFileSync(join(top, 'file'), content);
      outside('add', 'file');
    };
    outside('init', '-q');
    stage(base);
    const before = outside('write-tree').toString().trim();
    stage(theirs);
    const patch = join(root, 'patch');
    writeFileSync(patch, outside('diff', '--cached', '--binary', '--full-index', before));
    stage(ours);
    const repository = gitFolder(top);
    if (!repository) throw new Error('there is no repository');
    const scratch = new Scratch(root, repository, git);
    await scratch.git('index', ['read-tree', outside('write-tree').toString().trim()]);
    const tree = await treeOf(scratch, 'index');
    expect(await mergePatch(scratch, patch, tree, 'index', 'trial')).toEqual({
      conflict: 'file has other changes in the same place',
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
