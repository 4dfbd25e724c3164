import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { gitFolder, type GitFolder } from '../../src/lib/git.js';
import { GitSnapshots } from '../../src/success/git/snapshots.js';
import { findOwnGit, type OwnGit } from '../../src/lib/own-git.js';
import { countOf } from '../helpers/counts.js';
import { fileTree } from '../helpers/file-tree.js';
import { Random } from '../helpers/random.js';
import { randomChange } from '../helpers/random-changes.js';
import { useWorkspace } from '../helpers/workspace.js';

const space = useWorkspace();
const IDENTITY = [
  'user.name=x',
  'user.email=x@example.org',
  'protocol.file.allow=always',
  'maintenance.auto=false',
].flatMap((setting) => ['-c', setting]);
const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', [...IDENTITY, ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
const signal = new AbortController().signal;

function snapshots(folder = space.path(), except: string[] = []) {
  return new GitSnapshots({
    repository: gitFolder(folder) as GitFolder,
    store: space.outside('store'),
    except,
    git: findOwnGit({ searchPath: process.env['PATH'], writable: [] }) as OwnGit,
  });
}

const PLAIN = { 'a.txt': 'one\n' };
const copies = mkdtempSync(join(tmpdir(), 'bosun-snapshots-'));
const plain = join(copies, 'plain');
afterAll(() => rmSync(copies, { recursive: true }));

/** The usual one is made once. */
function repository(files: Readonly<Record<string, string>> = PLAIN) {
  const [from, to] = [plain, space.path()];
  if (files === PLAIN && existsSync(from)) return copy(from, to);
  git(to, 'init', '-q', '-b', 'main', '.');
  for (const [name, content] of Object.entries(files)) space.write(name, content);
  git(to, 'add', '-A');
  git(to, 'commit', '-qm', 'first');
  if (files === PLAIN) copy(to, from);
}

function copy(from: string, to: string): void {
  cpSync(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
}

/** Files and links; git knows no folders, and of permissions only whether a file can be run. */
function contentOf(folder: string, skip?: readonly string[]) {
  const tree = Object.entries(fileTree(folder, skip)).filter(([, what]) => !what.startsWith('folder'));
  return Object.fromEntries(
    tree.map(([path, what]) => [path, what.replace(/ 6\d\d /, ' 644 ').replace(/ 7\d\d /, ' 755 ')]),
  );
}

/** Does something between two snapshots, and applies the patch to what was before. */
async function roundTrip(work: () => void, skip?: readonly string[]) {
  const shots = snapshots();
  const before = await shots.take(signal);
  const other = space.outside('copy');
  copy(space.path(), other);
  // Folders without files are nothing to git: a checkout has none, and they would be in the way of files.
  execFileSync('find', [other, '-type', 'd', '-empty', '-not', '-path', '*/.git/*', '-delete']);
  work();
  const worked = hiddenState();
  const after = await shots.take(signal);
  const { bytes: patch, changed } = await shots.patch(before, after, signal);
  expect(hiddenState()).toEqual(worked);
  // A renamed file is gone in one place and new in another.
  if (patch.includes('\nrename from ')) expect(changed).toEqual(await shots.changed(before, after, signal));
  const file = space.outside('run.patch');
  writeFileSync(file, patch);
  if (patch.length > 0) git(other, 'apply', '--whitespace=nowarn', file);
  expect(contentOf(other, skip)).toEqual(contentOf(space.path(), skip));
  return { patch: patch.toString('latin1'), changed };
}

/** Everything of the repository that is none of our business. */
function hiddenState() {
  const folder = space.path('.git');
  return existsSync(folder) && statSync(folder).isDirectory() ? fileTree(folder, []) : {};
}

describe('a patch', () => {
  test('has what was changed, and nothing that was changed before', async () => {
    repository({ 'a.txt': 'one\n', 'dirty.txt': 'clean\n', 'staged.txt': 'x\n', 'gone.txt': 'bye\n' });
    space.write('dirty.txt', 'dirty\n');
    space.write('staged.txt', 'staged\n');
    git(space.path(), 'add', 'staged.txt');
    space.write('untracked.txt', 'was here\n');
    const { patch, changed } = await roundTrip(() => {
      space.write('a.txt', 'two\n');
      space.write('new.txt', 'new\n');
      space.write('untracked.txt', 'was here\nand changed\n');
      rmSync(space.path('gone.txt'));
    });
    expect(changed.map(({ path }) => path)).toEqual(['a.txt', 'gone.txt', 'new.txt', 'untracked.txt']);
    expect(patch).not.toMatch(/dirty|staged/);
  });

  test('is empty if nothing was, or all of it was taken back, whatever became of the times', async () => {
    repository();
    const { patch, changed } = await roundTrip(() => {
      space.write('a.txt', 'two\n');
      space.write('a.txt', 'one\n');
      utimesSync(space.path('a.txt'), 1, 1);
      space.write('b.txt', '');
      rmSync(space.path('b.txt'));
    });
    expect([patch, changed]).toEqual(['', []]);
  });

  test('knows changes in the same moment, of the same size', async () => {
    repository({ 'a.txt': 'one\n', 'b.txt': 'one\n' });
    space.write('a.txt', 'two\n');
    const shots = snapshots();
    const before = await shots.take(signal);
    const { atimeMs, mtimeMs } = statSync(space.path('b.txt'));
    space.write('b.txt', 'two\n');
    utimesSync(space.path('b.txt'), atimeMs / 1000, mtimeMs / 1000);
    space.write('a.txt', 'six\n');
    const changed = await shots.changed(before, await shots.take(signal), signal);
    expect(changed.map(({ path }) => path)).toEqual(['a.txt', 'b.txt']);
  });

  test('carries odd names, links, modes, binary files and renames', async () => {
    const long = Array.from({ length: 50 }, (_, i) => `line ${i}\n`).join('');
    repository({
      'move me.txt': long,
      'run.sh': 'echo\n',
      bin: '\0\u0001' + long,
      'dir/x': 'x\n',
      'to-link': 'x',
    });
    symlinkSync('run.sh', space.path('link'));
    git(space.path(), 'add', '-A');
    const { patch } = await roundTrip(() => {
      renameSync(space.path('move me.txt'), space.path('moved\nto "ünïcode".txt'));
      chmodSync(space.path('run.sh'), 0o755);
      writeFileSync(space.path('bin'), Buffer.from([0, 1, 2, 255, 254, 0]));
      writeFileSync(space.path('latin1.txt'), Buffer.from('caf\xe9\n', 'latin1'));
      rmSync(space.path('link'));
      symlinkSync('elsewhere/far', space.path('link'));
      rmSync(space.path('to-link'));
      symlinkSync('/etc/passwd', space.path('to-link'));
      rmSync(space.path('dir'), { recursive: true });
      space.write('dir', 'a file now');
      space.write(' leading and trailing ', 'no newline at the end');
      space.write('-n', 'x\n');
      space.write('empty', '');
      space.write(':(top)magic', 'x\n');
    });
    expect(patch).toContain('rename from move me.txt');
    expect(patch).toContain('new mode 100755');
    expect(patch).toContain('GIT binary patch');
  });

  test('has what was committed on the way, on whatever branch that ended', async () => {
    repository();
    const { changed } = await roundTrip(() => {
      git(space.path(), 'checkout', '-qb', 'side');
      space.write('b.txt', 'b\n');
      git(space.path(), 'add', '-A');
      git(space.path(), 'commit', '-qm', 'second');
      space.write('a.txt', 'three\n');
      git(space.path(), 'stash', '-q');
      space.write('c.txt', 'c\n');
    });
    expect(changed.map(({ path }) => path)).toEqual(['b.txt', 'c.txt']);
  });

  test('leaves out what is ignored, and what it is told to', async () => {
    repository({ '.gitignore': 'build/\n*.log\n', 'tracked.log': 'x\n' });
    git(space.path(), 'add', '-f', 'tracked.log');
    writeFileSync(space.path('.git/info/exclude'), 'secret\n');
    const shots = snapshots(space.path(), [space.path('own'), space.path('run.patch')]);
    const before = await shots.take(signal);
    for (const name of ['build/x', 'a.log', 'secret', 'own/transcript', 'run.patch', 'kept', 'ownership'])
      space.write(name, name);
    space.write('tracked.log', 'y\n');
    const changed = await shots.changed(before, await shots.take(signal), signal);
    expect(changed.map(({ path }) => path)).toEqual(['kept', 'ownership', 'tracked.log']);
  });

  test('does not take for new what was ignored before, but what was made since', async () => {
    repository({ '.gitignore': 'build/\n*.log\n' });
    for (const name of ['build/old', 'build/deep/old', 'old.log', 'x/old.log']) space.write(name, name);
    const shots = snapshots();
    const before = await shots.take(signal);
    space.write('.gitignore', '');
    space.write('build/new', 'new');
    renameSync(space.path('x'), space.path('y'));
    const changed = await shots.changed(before, await shots.take(signal), signal);
    expect(changed.map(({ path }) => path)).toEqual(['.gitignore', 'build/new', 'y/old.log']);
  });

  test('survives a submodule that is gone', async () => {
    const library = space.outside('library');
    mkdirSync(library);
    git(library, 'init', '-q', '-b', 'main', '.');
    git(library, 'commit', '-q', '--allow-empty', '-m', 'first');
    repository();
    git(space.path(), 'submodule', '--quiet', 'add', library, 'lib');
    const shots = snapshots();
    const before = await shots.take(signal);
    rmSync(space.path('lib'), { recursive: true });
    const changed = await shots.changed(before, await shots.take(signal), signal);
    expect(changed.map(({ path }) => path)).toEqual(['lib']);
  });

  test('survives what git cannot store, and folders that become links', async () => {
    repository({ 'a/x': 'x\n', 'b/y': 'y\n', pipe: 'p\n' });
    mkdirSync(space.outside('far/a'), { recursive: true });
    writeFileSync(space.outside('far/a/x'), 'other\n');
    await roundTrip(() => {
      rmSync(space.path('a'), { recursive: true });
      symlinkSync('../far/a', space.path('a'));
      rmSync(space.path('pipe'));
      execFileSync('mkfifo', [space.path('pipe')]);
      execFileSync('mkfifo', [space.path('new-pipe')]);
      renameSync(space.path('b'), space.path('c'));
      space.write('b', 'a file');
    });
  });

  test('a merge that is under way does not matter', async () => {
    repository();
    git(space.path(), 'checkout', '-qb', 'side');
    space.write('a.txt', 'side\n');
    git(space.path(), 'commit', '-qam', 'side');
    git(space.path(), 'checkout', '-q', 'main');
    space.write('a.txt', 'main\n');
    git(space.path(), 'commit', '-qam', 'main');
    expect(() => git(space.path(), 'merge', 'side')).toThrow();
    space.write('new', 'x\n');
    git(space.path(), 'add', '-N', 'new');
    await roundTrip(() => space.write('a.txt', 'both\n'));
  });
});

describe('repositories of all kinds', () => {
  const change = () => {
    space.write('a.txt', 'changed\n');
    space.write('new.txt', 'new\n');
  };
  const CHANGED = ['a.txt', 'new.txt'];

  test('without a commit, and without an index', async () => {
    git(space.path(), 'init', '-q', '.');
    space.write('a.txt', 'one\n');
    expect((await roundTrip(change)).changed.map(({ path }) => path)).toEqual(CHANGED);
  });

  test('with a detached head', async () => {
    repository();
    git(space.path(), 'checkout', '-q', '--detach');
    expect((await roundTrip(change)).changed.map(({ path }) => path)).toEqual(CHANGED);
  });

  test('with SHA-256', async () => {
    git(space.path(), 'init', '-q', '--object-format=sha256', '.');
    space.write('a.txt', 'one\n');
    git(space.path(), 'add', '-A');
    expect((await roundTrip(change)).changed.map(({ path }) => path)).toEqual(CHANGED);
  });

  test('with a split index', async () => {
    repository();
    git(space.path(), 'update-index', '--split-index');
    expect((await roundTrip(change)).changed.map(({ path }) => path)).toEqual(CHANGED);
  });

  test('with index version 4 and a cache of what is untracked', async () => {
    repository();
    git(space.path(), 'update-index', '--index-version', '4', '--untracked-cache');
    git(space.path(), 'status');
    expect((await roundTrip(change)).changed.map(({ path }) => path)).toEqual(CHANGED);
  });

  test('with a sparse checkout', async () => {
    repository({ 'in/a.txt': 'one\n', 'out/b.txt': 'two\n' });
    git(space.path(), 'sparse-checkout', 'set', 'in');
    expect(existsSync(space.path('out/b.txt'))).toBe(false);
    const { changed } = await roundTrip(() => space.write('in/a.txt', 'changed\n'));
    expect(changed.map(({ path }) => path)).toEqual(['in/a.txt']);
  });

  test('with line endings that are converted', async () => {
    repository({ '.gitattributes': '*.txt text eol=crlf\n', 'a.txt': 'one\r\ntwo\r\n', 'b.txt': 'b\r\n' });
    const { patch } = await roundTrip(() => space.write('a.txt', 'one\r\nTWO\r\n'));
    expect(patch).toContain('-two\n+TWO\n');
  });

  test('of somebody else', async () => {
    repository();
    execFileSync('chown', ['-R', '12345:12345', space.path('.git'), space.path()]);
    const shots = snapshots();
    const before = await shots.take(signal);
    change();
    const changed = await shots.changed(before, await shots.take(signal), signal);
    expect(changed.map(({ path }) => path)).toEqual(CHANGED);
  });

  test('a worktree, whose git folder is a file', async () => {
    const main = space.outside('main');
    mkdirSync(main);
    git(main, 'init', '-q', '-b', 'main', '.');
    writeFileSync(join(main, 'a.txt'), 'one\n');
    git(main, 'add', '-A');
    git(main, 'commit', '-qm', 'first');
    rmSync(space.path(), { recursive: true });
    git(main, 'worktree', 'add', '-q', '-b', 'side', space.path());
    const shots = snapshots();
    const before = await shots.take(signal);
    const hidden = fileTree(join(main, '.git'), []);
    change();
    const after = await shots.take(signal);
    expect((await shots.changed(before, after, signal)).map(({ path }) => path)).toEqual(CHANGED);
    expect(fileTree(join(main, '.git'), [])).toEqual(hidden);
  });

  test('submodules: files in them are in the patch, under their path', async () => {
    const library = space.outside('library');
    mkdirSync(library);
    git(library, 'init', '-q', '-b', 'main', '.');
    writeFileSync(join(library, 'lib.txt'), 'one\n');
    git(library, 'add', '-A');
    git(library, 'commit', '-qm', 'first');
    repository();
    git(space.path(), 'submodule', '--quiet', 'add', library, 'deep/lib');
    git(space.path(), 'commit', '-qm', 'submodule');
    const { changed } = await roundTrip(() => {
      space.write('deep/lib/lib.txt', 'two\n');
      git(space.path('deep/lib'), 'commit', '-qam', 'inside');
      space.write('deep/lib/new.txt', 'new\n');
      space.write('a.txt', 'two\n');
    }, ['.git', 'deep/lib/.git']);
    expect(changed.map(({ path }) => path)).toEqual([
      'a.txt',
      'deep/lib',
      'deep/lib/lib.txt',
      'deep/lib/new.txt',
    ]);
  });

  test('other repositories inside are left alone, and named', async () => {
    repository();
    const shots = snapshots();
    const before = await shots.take(signal);
    mkdirSync(space.path('vendor/x'), { recursive: true });
    git(space.path('vendor/x'), 'init', '-q', '.');
    space.write('vendor/x/file', 'x');
    const after = await shots.take(signal);
    expect(await shots.changed(before, after, signal)).toEqual([]);
    expect([...shots.nested]).toEqual(['vendor/x']);
  });
});

/** Programs that a repository may name, each of which leaves a mark. */
test('nothing that a hostile repository names is run', async () => {
  repository({ 'a.txt': 'one\n', 'b.bin': 'two\n', '.gitattributes': '* filter=evil diff=evil ident\n' });
  const mark = space.outside('mark');
  const evil = space.outside('evil.sh');
  writeFileSync(evil, `#!/bin/sh\necho "$0 $*" >> '${mark}'\ncat\n`, { mode: 0o755 });
  const settings = {
    'core.fsmonitor': evil,
    'core.hooksPath': space.outside('hooks'),
    'core.sshCommand': evil,
    'core.pager': evil,
    'core.editor': evil,
    'core.gitProxy': evil,
    'core.alternateRefsCommand': evil,
    'core.attributesFile': space.path('.gitattributes'),
    'diff.external': evil,
    'diff.evil.command': evil,
    'diff.evil.textconv': evil,
    'filter.evil.clean': evil,
    'filter.evil.smudge': evil,
    'filter.evil.process': evil,
    'filter.evil.required': 'true',
    'include.path': space.outside('more.config'),
    'alias.diff-files': `!${evil}`,
    'alias.ls-files': `!${evil}`,
    'extensions.partialClone': 'evil',
    'remote.evil.url': `ext::${evil}`,
    'remote.evil.promisor': 'true',
    'protocol.ext.allow': 'always',
    'uploadpack.packObjectsHook': evil,
    'gpg.program': evil,
    'trace2.eventTarget': mark,
    'core.worktree': '/etc',
    'credential.helper': `!${evil}`,
    'maintenance.auto': 'true',
    'gc.auto': '1',
  };
  writeFileSync(space.outside('more.config'), `[core]\n\tfsmonitor = ${evil}\n`);
  const config = Object.entries(settings).map(([name, value]) => {
    const [, section, sub, key] = /^(\w+)(?:\.(.+))?\.(\w+)$/.exec(name.replace(/-files$/, 'Files')) ?? [];
    return `[${section}${sub ? ` "${sub}"` : ''}]\n\t${key} = "${value}"\n`;
  });
  writeFileSync(
    space.path('.git/config'),
    `${readFileSync(space.path('.git/config'), 'utf8')}${config.join('')}`,
  );
  mkdirSync(space.outside('hooks'));
  for (const hook of ['post-index-change', 'pre-commit', 'fsmonitor-watchman', 'reference-transaction'])
    for (const folder of [space.outside('hooks'), space.path('.git/hooks')]) {
      mkdirSync(folder, { recursive: true });
      cpSync(evil, join(folder, hook));
    }
  rmSync(mark, { force: true });
  // The trap works: git itself would fall into it.
  const env = { PATH: process.env['PATH'], GIT_WORK_TREE: space.path(), GIT_DIR: space.path('.git') };
  spawnSync('git', ['add', '-A'], { cwd: space.path(), stdio: 'ignore', env });
  expect(existsSync(mark)).toBe(true);
  rmSync(mark, { force: true });

  const shots = snapshots();
  const before = await shots.take(signal);
  space.write('a.txt', 'changed\n');
  utimesSync(space.path('b.bin'), 1, 1);
  space.write('new.txt', 'new\n');
  const after = await shots.take(signal);
  const patch = (await shots.patch(before, after, signal)).bytes.toString();
  expect((await shots.changed(before, after, signal)).map(({ path }) => path)).toEqual(['a.txt', 'new.txt']);
  expect(patch).toContain('+changed');
  expect(existsSync(mark)).toBe(false);
});

test('nor what somebody writes into our own folder meanwhile', async () => {
  repository();
  const shots = snapshots();
  const before = await shots.take(signal);
  const config = space.outside('store/top/config');
  writeFileSync(
    config,
    `${readFileSync(config, 'utf8')}\n[core]\n\tfsmonitor = touch ${space.outside('mark')}\n`,
  );
  await expect(shots.take(signal)).rejects.toThrow('somebody has changed');
  // Taken up again, it is written anew.
  expect(await snapshots().take(signal)).toEqual(before);
  mkdirSync(space.outside('evil'));
  cpSync(config, space.outside('evil/config'));
  writeFileSync(space.outside('store/top/commondir'), space.outside('evil'));
  expect(await snapshots().take(signal)).toEqual(before);
  expect(existsSync(space.outside('mark'))).toBe(false);
});

test('nor what a submodule of it names', async () => {
  const library = space.outside('library');
  mkdirSync(library);
  git(library, 'init', '-q', '-b', 'main', '.');
  writeFileSync(join(library, 'lib.txt'), 'one\n');
  git(library, 'add', '-A');
  git(library, 'commit', '-qm', 'first');
  repository();
  git(space.path(), 'submodule', '--quiet', 'add', library, 'lib');
  git(space.path(), 'commit', '-qm', 'submodule');
  const mark = space.outside('mark');
  const evil = space.outside('evil.sh');
  writeFileSync(evil, `#!/bin/sh\necho "$*" >> '${mark}'\n`, { mode: 0o755 });
  git(space.path('lib'), 'config', 'core.fsmonitor', evil);
  git(space.path(), 'status');
  expect(existsSync(mark)).toBe(true);
  rmSync(mark);
  const shots = snapshots();
  const before = await shots.take(signal);
  space.write('lib/lib.txt', 'two\n');
  const after = await shots.take(signal);
  expect((await shots.changed(before, after, signal)).map(({ path }) => path)).toEqual(['lib/lib.txt']);
  expect(existsSync(mark)).toBe(false);
});

test('files behind a filter are compared as they lie on disk', async () => {
  repository({ '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n', 'x.txt': 'x\n' });
  git(space.path(), 'config', 'filter.lfs.clean', "sed 's/^/pointer to /'");
  space.write('big.bin', 'content\n');
  git(space.path(), 'add', '-A');
  expect(git(space.path(), 'show', ':big.bin')).toBe('pointer to content\n');
  const shots = snapshots();
  const before = await shots.take(signal);
  utimesSync(space.path('big.bin'), 1, 1);
  expect(await shots.changed(before, await shots.take(signal), signal)).toEqual([]);
  space.write('big.bin', 'other\n');
  const patch = await shots.patch(before, await shots.take(signal), signal);
  expect(patch.bytes.toString()).toContain('-content\n+other\n');
});

const SEEDS = countOf('PATCH_SEEDS');

test.each(Array.from({ length: SEEDS }, (_, i) => i + 1))('random changes, seed %i', async (seed) => {
  const random = new Random(seed);
  const step = () => {
    randomChange(space.path(), random);
    if (!random.chance(0.05)) return;
    git(space.path(), 'add', '-A');
    git(space.path(), 'commit', '-q', '--allow-empty', '-m', 'on the way');
  };
  git(space.path(), 'init', '-q', '.');
  for (let i = random.below(30); i > 0; i--) step();
  git(space.path(), 'add', '-A');
  if (random.chance(0.8)) git(space.path(), 'commit', '-q', '--allow-empty', '-m', 'first');
  for (let i = random.below(10); i > 0; i--) step();
  await roundTrip(() => {
    for (let i = random.below(30); i > 0; i--) step();
  });
});
