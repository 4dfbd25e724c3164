import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { indexedStates, NONE } from '../../src/batch/integrate/tree.js';
import { Scratch } from '../../src/batch/integrate/scratch.js';
import { prepareFiles, writeFiles } from '../../src/batch/integrate/write.js';
import { ownGit } from '../../src/batch/workspaces/git.js';
import { gitFolder } from '../../src/lib/git.js';

test('a file that cannot be written leaves the tree as it was', async () => {
  const root = mkdtempSync(join(tmpdir(), 'bosun-test-'));
  try {
    const top = join(root, 'tree');
    mkdirSync(join(top, 'dir'), { recursive: true });
    for (const name of ['a.txt', 'dir/gone.txt']) writeFileSync(join(top, name), 'old\n');
    execFileSync('git', ['init', '-q'], { cwd: top });
    const git = ownGit({ variables: process.env, writable: [top], signal: new AbortController().signal });
    const repository = gitFolder(top);
    if (!repository) throw new Error('there is no repository');
    const scratch = new Scratch(root, repository, git);
    const blob = (await git(['hash-object', '-w', 'a.txt'], top)).trim();
    await scratch.git('index', ['update-index', '--add', 'a.txt', 'dir/gone.txt']);
    const old = `100644 ${blob}`;
    expect([...(await indexedStates(scratch, 'index', ['a.txt', 'none.txt']))]).toEqual([['a.txt', old]]);
    await prepareFiles(scratch, 'index', [], 'files');
    for (const name of ['a.txt', 'new.txt']) writeFileSync(scratch.path(`files/${name}`), 'new\n');
    const changes = [
      { path: 'a.txt', before: old, after: 'other' },
      { path: 'dir/gone.txt', before: old, after: NONE },
      { path: 'new.txt', before: NONE, after: 'other' },
      // Nothing was made ready for it.
      { path: 'last.txt', before: NONE, after: 'other' },
    ];
    const problem = await writeFiles(scratch, changes, 'index', 'files').catch((error: unknown) => error);
    expect(problem).toMatchObject({ status: 'tool_infra_error' });
    expect((problem as Error).message).toMatch(/^last\.txt cannot be written: .*ENOENT/);
    const content = (name: string) => readFileSync(join(top, name), 'utf8');
    expect([content('a.txt'), content('dir/gone.txt'), existsSync(join(top, 'new.txt'))]).toEqual([
      'old\n',
      'old\n',
      false,
    ]);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
