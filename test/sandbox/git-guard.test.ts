import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { GitGuard } from '../../src/sandbox/git/guard.js';
import { runsPrograms } from '../../src/sandbox/git/programs.js';
import { HOSTILITIES, useInnocent } from '../helpers/hostile-git.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const innocent = useInnocent();

/** The folder of another git than the one that is installed, for whoever wants to try it out. */
const PATH = [process.env['BOSUN_TEST_GIT'], process.env['PATH']].filter(Boolean).join(':');
const VERSION = Number(
  /\d+\.\d+/.exec(execFileSync('git', ['version'], { env: { PATH }, encoding: 'utf8' }))?.[0],
);

const own = (): Record<string, string> => ({ PATH, HOME: ws.outside('home'), LC_ALL: 'C' });
const trace = () => join(ws.outside('.'), 'trace');

function bash(script: string, environment: Readonly<Record<string, string>> = own()) {
  const env = { ...environment, EVIL: `touch ${trace()}` };
  const { stdout, stderr } = spawnSync('bash', ['-c', script], {
    cwd: ws.path(),
    env,
    encoding: 'utf8',
    input: '',
  });
  const ran = existsSync(trace());
  rmSync(trace(), { force: true });
  return { ran, output: stdout + stderr };
}

const guard = (isSandboxed = false) =>
  new GitGuard({
    roots: [ws.path()],
    environment: own(),
    isSandboxed,
    signal: new AbortController().signal,
  });
/** Runs a script in a fresh guard. */
const guarded = async (script: string) => bash(script, await guard().environment(ws.path(), own()));

describe('git in a hostile repository', () => {
  const known = Object.entries(HOSTILITIES).filter(([, { since = 0 }]) => since <= VERSION);

  test.each(known)('with %s runs it, but not under guard', async (_, { prepare, command, prints }) => {
    bash(`${innocent()}\n${prepare}\ncp -a . ../prepared`);
    const careful = await guarded(command);
    expect(careful.output).toContain(prints ?? '');
    expect(careful.ran).toBe(false);
    // Nor from a script, in whatever state the first has left it.
    expect((await guarded(`bash -c '${command.replaceAll("'", String.raw`'\''`)}'`)).ran).toBe(false);
    const again = 'rm -rf "$PWD"/* "$PWD"/.[a-z]*; cp -a ../prepared/. .';
    expect(bash(`${again}; ${command}`).ran).toBe(true);
  });
});

test('a git before 2.31 is told in the way that it knows', async () => {
  bash(`${innocent()}\ngit config core.fsmonitor 'touch ${trace()}'`);
  const old = ws.outside('old');
  mkdirSync(old);
  writeFileSync(join(old, 'git'), '#!/bin/sh\nunset GIT_CONFIG_COUNT\nPATH=${PATH#*:} exec git "$@"\n', {
    mode: 0o755,
  });
  const environment = { ...own(), PATH: `${old}:${PATH}` };
  expect(bash('git status', environment).ran).toBe(true);
  const settings = { roots: [ws.path()], isSandboxed: false, signal: new AbortController().signal } as const;
  const careful = await new GitGuard({ ...settings, environment }).environment(ws.path(), environment);
  expect(careful).not.toHaveProperty('GIT_CONFIG_COUNT');
  expect(bash('git status', careful)).toEqual({ ran: false, output: expect.stringContaining('On branch') });
});

describe('what cannot be undone', () => {
  beforeEach(() => void bash(innocent()));
  const stops = async (script = 'git status') => {
    const { output, ran } = await guarded(script);
    expect(output).toContain('Bosun does not let git run here');
    expect(output).toContain('shell: {git: repository}');
    expect(ran).toBe(false);
    return output;
  };

  test.each([
    ['settings that the model could write', 'git config include.path ../more.inc', 'more.inc'],
    ['on a condition', 'git config includeIf.onbranch:x.path ../more.inc', 'more.inc'],
    ['in a folder that git does not hide', 'mv .git meta; echo gitdir: meta > .git', 'meta/config'],
    ['in the home of somebody', "git config include.path '~root/x'", 'it is unknown where'],
    ['a working tree elsewhere', 'git config core.worktree /tmp', 'core.worktree'],
    ['a hook of the collector', 'git config gc.recentObjectsHook "$EVIL"', 'gc.recentobjectshook'],
    [
      'a name that is no text',
      String.raw`printf '[alias "\xff"]\ncommand=x\n' >> .git/config`,
      'not valid text',
    ],
    ['names without end', 'for i in $(seq 1500); do echo "[alias]a$i=x"; done >> .git/config', 'too many'],
  ])('stops git: %s', async (_, prepare, says) => {
    bash(prepare);
    expect(await stops()).toContain(says);
  });

  test('does not count in a repository that is further out', async () => {
    bash('cd ..; git init -q .; git config core.worktree /tmp');
    expect((await guarded('git status')).output).toContain('modified:   f');
  });

  test('is told to be so only where programs do not run in a sandbox, which shows less', async () => {
    bash('git config include.path ../more.inc; git config core.worktree /tmp');
    expect(bash('git config core.pager', await guard(true).environment(ws.path(), own())).output).toBe(
      'cat\n',
    );
  });
});

describe('names', () => {
  test('are read again when the settings have changed', async () => {
    bash(innocent());
    const careful = guard();
    const evil = async () => bash('git evil', await careful.environment(ws.path(), own()));
    expect((await evil()).output).toContain("'evil' is not a git command");
    bash('git config alias.evil "!$EVIL"');
    expect((await evil()).output).toContain('is not a git command');
    bash(
      'git config --unset alias.evil; git config include.path extra; printf "[alias]\\nevil=!$EVIL\\n" > .git/extra',
    );
    expect((await evil()).output).toContain('is not a git command');
    bash('printf "[alias]\\nevil=status\\n" > .git/extra');
    expect((await evil()).ran).toBe(false);
  });

  test('of a repository that has come into being are read where a command is started in it', async () => {
    bash(innocent());
    const careful = guard();
    await careful.environment(ws.path(), own());
    bash('git clone -q . new; git -C new config alias.evil "!$EVIL"');
    expect(bash('cd new; git evil', await careful.environment(ws.path('new'), own())).ran).toBe(false);
  });

  test('that git itself has for programs are all known', () => {
    const names = execFileSync('git', ['help', '-c'], { env: { PATH }, encoding: 'utf8' }).split('\n');
    const sounds =
      /(cmd|command|program|helper|driver|textconv|\.clean|smudge|process|hook|hookspath|proxy|tunnel|editor|pager|browser|askpass|fsmonitor|external|difffilter)$/i;
    const harmless =
      /^(color\.pager|http\.proxy|remote\.<name>\.proxy|column\.clean|diff\.<driver>\.cachetextconv|notes\.rewrite\.<command>|gitcvs\.dbDriver|uploadpack\.packObjectsHook|advice\.\w+)$/;
    const missed = names
      .filter((name) => sounds.test(name) && !harmless.test(name))
      .filter(
        (name) =>
          !runsPrograms({ key: name.replace(/^[^.]*|[^.]*$/g, (part) => part.toLowerCase()), value: 'x' }),
      );
    expect(missed).toEqual([]);
    expect(names.length).toBeGreaterThan(300);
  });
});

describe('what the repository does not say', () => {
  const users = (text: string) => {
    mkdirSync(ws.outside('home'), { recursive: true });
    writeFileSync(join(ws.outside('home'), '.gitconfig'), text);
  };

  test('stays: filters, helpers, aliases and hooks of the user', async () => {
    const hooks = join(ws.outside('home'), 'hooks');
    users(`[filter "lfs"]\n\tclean = sed s/two/TWO/\n\trequired = true\n[alias]\n\tst = status -s
      [credential]\n\thelper = "!echo password=users; echo username=x;:"\n[core]\n\thooksPath = ${hooks}\n\tpager = less\n`);
    mkdirSync(hooks);
    writeFileSync(join(hooks, 'pre-commit'), '#!/bin/sh\necho hook of the user\n', { mode: 0o755 });
    bash(`${innocent()}; echo '* filter=lfs' > .gitattributes; git config filter.lfs.clean "$EVIL; cat"; git config filter.lfs.smudge "$EVIL"
      git config alias.st "!$EVIL"; git config credential.helper "!$EVIL;:"; git config core.hooksPath evil; git config gpg.program ./evil`);
    const { output, ran } = await guarded(
      `git st; git commit -qam third; git show HEAD:f; printf 'protocol=https\\nhost=x\\n\\n' | git credential fill; git config core.pager; git config gpg.program`,
    );
    expect(output).toContain(' M f');
    expect(output).toContain('hook of the user');
    expect(output).toContain('TWO\nthree');
    expect(output).toContain('password=users');
    expect(output).toMatch(/^cat\ngpg\n/m);
    expect(ran).toBe(false);
  });

  test('does not count where a repository could fill it', async () => {
    users('[core]\n\thooksPath = .hooks\n');
    bash(
      `${innocent()}; mkdir .hooks; printf '#!/bin/sh\\n%s' "$EVIL" > .hooks/pre-commit; chmod +x .hooks/pre-commit`,
    );
    expect(bash('git commit -qam x').ran).toBe(true);
    bash('echo y >> f');
    expect((await guarded('git commit -qam y')).ran).toBe(false);
  });

  const hasCount = VERSION >= 2.31 ? test : test.skip;
  hasCount('is what the policy sets: it has the last word', async () => {
    bash(innocent());
    const set = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.pager', GIT_CONFIG_VALUE_0: 'mine' };
    const environment = await guard().environment(ws.path(), { ...own(), ...set });
    expect(bash('git config core.pager; git config core.editor', environment).output).toBe('mine\ntrue\n');
  });
});

test('ordinary work in an ordinary repository comes to the same', async () => {
  const work = `set -e; export GIT_AUTHOR_DATE=@1e9 GIT_COMMITTER_DATE='1000000000 +0000' GIT_AUTHOR_DATE='1000000000 +0000'
    ${innocent()}; git status; git diff; git stash; git stash pop; git add -A; git commit -m third; git log -p --stat
    git worktree add -q ../tree side; git -C ../tree log --oneline; git worktree list | wc -l
    git -c protocol.file.allow=always submodule add -q ./ sub; git commit -qm sub; git submodule status; git -C sub status
    git clone -q . ../copy; git -C ../copy log --oneline; git init -q ../fresh; git tag v1; git describe --tags
    git cherry-pick side || { git checkout --ours f; git add f; git -c core.editor=true cherry-pick --skip; }
    git rebase -q HEAD~1; git grep three; git blame f; git archive --format=tgz HEAD | tar -tzf -; git gc -q; git fsck
    git push -q ../copy HEAD:refs/heads/pushed; git fetch -q ../copy; git ls-remote ../copy; git bundle create -q ../b HEAD; ls -A`;
  const { output: plain } = bash(work);
  bash('rm -rf "$PWD"/* "$PWD"/.[a-z]* ../tree ../copy ../fresh ../b');
  const { output: careful } = await guarded(work);
  expect(careful).toBe(plain);
  expect(plain).toMatch(/pushed\n[\s\S]*\.git\n/);
});
