import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { gitFolder, type GitFolder } from '../../src/lib/git.js';
import { readIndex } from '../../src/lib/git-index.js';
import { Random } from '../helpers/random.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const ID = ['-c', 'user.name=x', '-c', 'user.email=x@example.org', '-c', 'protocol.file.allow=always'];
const git = (...args: string[]) =>
  execFileSync('git', [...ID, ...args], {
    cwd: ws.path(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });

function fill(...init: string[]): void {
  git('init', '-q', ...init, '.');
  for (const name of ['a', 'b/c/d.txt', 'b/c/e', 'b/f', 'ünï/cödé 1', `long/${'n'.repeat(200)}`, 'z z'])
    ws.write(name, name);
  for (let i = 0; i < 50; i++) ws.write(`many/file${i}.txt`, String(i));
  git('add', '-A');
}

const repository = () => gitFolder(ws.path()) as GitFolder;
/** All names, as git lists them and as we read them. */
const listed = () => git('ls-files', '-z').split('\0').slice(0, -1).sort();
function names(): string[] {
  const { folders } = readIndex(repository()) ?? { folders: new Map<string, string[]>() };
  return [...folders]
    .flatMap(([folder, own]) => own.map((name) => (folder ? `${folder}/${name}` : name)))
    .sort();
}

test.each<[string, string[], () => void]>([
  ['of the usual version', [], () => {}],
  [
    'of version 3',
    [],
    () => void (git('commit', '-qm', 'x'), git('update-index', '--skip-worktree', 'a', 'many/file7.txt')),
  ],
  ['of version 4', [], () => void git('update-index', '--index-version', '4')],
  [
    'that is split',
    [],
    () => void (git('update-index', '--split-index'), ws.write('later', ''), git('add', 'later', 'a')),
  ],
  ['of SHA-256', ['--object-format=sha256'], () => {}],
  [
    'with a submodule',
    [],
    () => void (git('commit', '-qm', 'x'), git('submodule', '--quiet', 'add', './', 'sub')),
  ],
])('an index %s is read as git reads it', (_, init, change) => {
  fill(...init);
  change();
  expect(names()).toEqual(listed());
  expect(names().length).toBeGreaterThan(50);
});

test('it knows files, folders with files in them, and submodules', () => {
  fill();
  git('commit', '-qm', 'x');
  git('submodule', '--quiet', 'add', './', 'm/sub');
  const index = readIndex(repository());
  const has = ['a', 'b', 'b/c', 'b/c/d.txt', 'm', 'm/sub', 'B', 'b/', 'c', 'm/sub/a', ''].map((path) =>
    index?.has(path),
  );
  expect(has).toEqual([true, true, true, true, true, true, false, false, false, false, false]);
  expect(index?.links).toEqual(['m/sub']);
});

test('it knows symbolic links, and whether there are names that are no text', () => {
  fill();
  symlinkSync('b/f', ws.path('l'));
  git('add', 'l');
  expect(readIndex(repository())).toMatchObject({ symlinks: ['l'], isPartial: false });
  writeFileSync(Buffer.concat([Buffer.from(`${ws.path()}/odd`), Buffer.from([0xff])]), '');
  git('add', '.');
  expect(readIndex(repository())).toMatchObject({ symlinks: ['l'], isPartial: true });
});

test('without an index nothing is part of a repository', () => {
  git('init', '-q', '.');
  expect(names()).toEqual([]);
  expect(readIndex(repository())).toBeDefined();
});

test('bytes that are no index are none, and nobody hangs on them', () => {
  fill();
  git('update-index', '--index-version', '4');
  const file = ws.path('.git/index');
  copyFileSync(file, ws.outside('index'));
  const whole = readFileSync(file);
  const random = new Random(4);
  for (let i = 0; i < 300; i++) {
    const bytes = Buffer.from(
      whole.subarray(0, random.chance(0.3) ? random.below(whole.length) : whole.length),
    );
    for (let changes = random.below(4); changes >= 0 && bytes.length > 0; changes--)
      bytes[random.below(Math.min(bytes.length, random.chance(0.5) ? 200 : bytes.length))] =
        random.below(256);
    writeFileSync(file, bytes);
    expect(() => readIndex(repository())).not.toThrow();
  }
  writeFileSync(file, 'DIRC');
  expect(readIndex(repository())).toBeUndefined();
});
