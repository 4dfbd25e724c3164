import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from '@jest/globals';
import { describeSandboxed, inSandbox, outputsOf, program } from '../helpers/sandboxed.js';
import { sampled } from '../helpers/counts.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { resultOf, type Scratch } from '../helpers/run-cli.js';
import { bosunUnder, place } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const git = (directory: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@x', ...args], {
    cwd: directory,
    encoding: 'utf8',
  });
const alternates = (folder: string) => join(folder, '.git/objects/info/alternates');
const write = (path: string) => program(`require("fs").writeFileSync(${JSON.stringify(path)}, "evil")`);

/** A workspace that borrows all its objects from `source` beside it, over so many steps. */
function sharedClone(steps = 1): Scratch & { readonly source: string } {
  const where = place();
  rmSync(where.workspace, { recursive: true });
  const source = join(where.root, 'source');
  mkdirSync(source);
  writeFileSync(join(source, 'a.txt'), 'a\n');
  writeFileSync(join(source, 'secret.txt'), 'not committed\n');
  git(source, 'init', '-q');
  git(source, 'add', 'a.txt');
  git(source, 'commit', '-q', '-m', 'first');
  git(source, 'gc', '-q');
  let last = source;
  for (let i = 1; i <= steps; i++) {
    const next = i === steps ? where.workspace : join(where.root, `step-${i}`);
    git(where.root, 'clone', '-q', '--shared', last, next);
    last = next;
  }
  writeFileSync(join(where.home, '.gitconfig'), '[user]\n\tname = Jo\n\temail = jo@example.org\n');
  return { ...where, source };
}

const USE =
  'git status --short; echo b >> a.txt; git diff --stat; git commit -qam second && git log --format=%s';
const USED = expect.stringMatching(/^ a\.txt \| 1 \+\n.*\nsecond\nfirst\n$/);

describeSandboxed('a shared clone in the sandbox', () => {
  test('has a working git; what it borrows from is only read, and nothing else of it is shown', async () => {
    const where = sharedClone();
    const { outputs, code } = await inSandbox(
      [
        USE,
        `ls -A ${where.source} ${where.source}/.git`,
        write(join(where.source, '.git/objects/evil')),
        write(alternates(where.workspace)),
        'git fsck --connectivity-only && git gc -q && git log --format=%s',
      ],
      where,
    );
    expect(code).toBe(0);
    expect(outputs[0]).toEqual(USED);
    expect(outputs[1]).toBe(`${where.source}:\n.git\n\n${where.source}/.git:\nobjects\n`);
    expect(outputs[2]).toContain('EROFS');
    expect(outputs[3]).toMatch(/EROFS|EBUSY/);
    expect(outputs[4]).toMatch(/second\nfirst\n$/);
    expect(resultOf(where).warnings).toEqual([]);
    expect(git(where.workspace, 'log', '--format=%s')).toBe('second\nfirst\n');
    expect(git(where.source, 'status', '--short')).toBe('?? secret.txt\n');
  });

  sampled.each([2, 5])(
    'of a clone that is shared itself, over %d steps, with a patch of its changes',
    async (steps) => {
      const where = sharedClone(steps);
      const patch = join(where.root, 'change.patch');
      const { code } = await bosunUnder(
        'version: 1\nmode: yolo\nsandbox: {mode: required}\n',
        [
          { parts: [call('run_shell_command', { command: 'git log --format=%s; echo b >> a.txt' })] },
          { parts: [text('Done.')] },
        ],
        ['--patch-out', patch, '--require-changes'],
        where,
      );
      expect(code).toBe(0);
      expect(outputsOf(where)[0]).toBe('first\n');
      expect(resultOf(where).warnings).toEqual([]);
      expect(readFileSync(patch, 'utf8')).toContain('\n a\n+b\n');
      git(where.source, 'apply', '--check', patch);
    },
  );

  test('finds folders by relative paths, and through links that it does not see', async () => {
    const near = sharedClone(2);
    const step = join(near.root, 'step-1');
    const objects = join(near.workspace, '.git/objects');
    writeFileSync(
      alternates(near.workspace),
      `# a comment\n${relative(objects, join(step, '.git/objects'))}\n`,
    );
    expect((await inSandbox([USE], near)).outputs[0]).toEqual(USED);

    const far = sharedClone();
    renameSync(far.source, join(far.root, 'moved'));
    symlinkSync('moved', far.source);
    const { outputs } = await inSandbox([USE], far);
    expect(outputs[0]).toEqual(USED);
    expect(resultOf(far).warnings).toEqual([]);
  });

  test('works in a worktree of one, too', async () => {
    const where = sharedClone();
    git(where.workspace, 'worktree', 'add', '-q', '-b', 'side', '../tree');
    const tree = { ...where, workspace: join(where.root, 'tree') };
    const { outputs } = await inSandbox([USE, write(alternates(where.workspace))], tree);
    expect(outputs[0]).toEqual(USED);
    expect(outputs[1]).toMatch(/EROFS|EBUSY/);
  });

  test('whose source is gone says so', async () => {
    const where = sharedClone();
    rmSync(where.source, { recursive: true });
    await inSandbox(['git log'], where);
    expect(resultOf(where).warnings).toEqual([
      `git in ${where.workspace} lacks objects in the sandbox: ${where.source}/.git/objects does not exist`,
    ]);
  });

  const hostile: [string, (where: ReturnType<typeof sharedClone>) => string, string, string?][] = [
    ['a folder of secrets', ({ root }) => join(root, 'vault'), 'is not a folder of git objects'],
    [
      'secrets among objects',
      ({ source }) => {
        writeFileSync(join(source, '.git/objects/passwords.txt'), 'canary');
        return join(source, '.git/objects');
      },
      'is not a folder of git objects',
    ],
    [
      'what the policy hides',
      ({ source }) => join(source, '.git/objects'),
      'is hidden by the policy',
      'workspace: {read_deny: ["../source/**"]}\n',
    ],
    [
      'a link that commands could change',
      ({ source, workspace }) => {
        symlinkSync(source, join(workspace, 'link'));
        return join(workspace, 'link/.git/objects');
      },
      'is a link out of the workspace',
    ],
    [
      'a folder in the workspace that leads on',
      ({ workspace, source }) => {
        git(workspace, 'init', '-q', '--bare', 'inner.git');
        const inner = join(workspace, 'inner.git/objects');
        writeFileSync(join(inner, 'info/alternates'), `${source}/.git/objects\n`);
        return inner;
      },
      'borrows objects from a place that commands can change',
    ],
  ];
  sampled.each(hostile)('is not shown %s', async (_what, name, why, keys = '') => {
    const where = sharedClone();
    const vault = join(where.root, 'vault');
    for (const folder of ['info', 'pack']) mkdirSync(join(vault, folder), { recursive: true });
    writeFileSync(join(vault, 'info/keys'), 'canary');
    const path = name(where);
    writeFileSync(alternates(where.workspace), `${path}\n`);
    const list = program(`console.log(require("fs").readdirSync(${JSON.stringify(path)}))`);
    const { outputs } = await inSandbox([list, 'git log --format=%s'], where, keys);
    expect(outputs.join('')).not.toMatch(/passwords|keys|first/);
    expect(resultOf(where).warnings).toContain(
      `git in ${where.workspace} lacks objects in the sandbox: ${path} ${why}`,
    );
  });

  test('cannot be made of a clone that is none', async () => {
    const where = sharedClone();
    const own = join(where.root, 'own');
    git(where.root, 'clone', '-q', '--no-local', where.source, 'own');
    const file = alternates(own);
    const { outputs } = await inSandbox([write(file), 'git status --short'], { ...where, workspace: own });
    expect(outputs[0]).not.toContain('EROFS');
    expect(existsSync(file)).toBe(false);
    expect(resultOf(where).warnings).toEqual([
      `the sandbox removed ${file}: it would make git read objects of other repositories`,
    ]);
  });
});
