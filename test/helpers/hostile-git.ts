import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';

/** One way in which a repository makes git run a program of its choice. */
export interface Hostility {
  /** Makes a repository hostile. Runs in it; `$EVIL` is a command that leaves a trace. */
  readonly prepare: string;
  /** What an innocent user of the repository runs. */
  readonly command: string;
  /** The first version of git that knows of it. */
  readonly since?: number;
  /** What is printed though nothing of the repository's was run. */
  readonly prints?: string;
}

/** A repository with a history, a branch that conflicts with it, and a change that is not committed. */
export const INNOCENT = `
git init -q -b main . && git config user.name x && git config user.email x@example.org
echo one > f && git add f && git commit -qm first
git checkout -qb side && echo side > f && git commit -qam side && git checkout -q main
echo two > f && git commit -qam second && echo three >> f`;

/** For suites that need it often: the same, made once. What comes back is a script that copies it. */
export const useInnocent = (): (() => string) => useTemplate(INNOCENT);

/** The same for what another script makes. */
export function useTemplate(made: string, env: Readonly<Record<string, string>> = {}): () => string {
  let template = '';
  beforeAll(() => {
    template = mkdtempSync(join(tmpdir(), 'bosun-template-'));
    execFileSync('bash', ['-c', made], { cwd: template, env: { ...process.env, ...env }, stdio: 'pipe' });
  });
  afterAll(() => rmSync(template, { recursive: true }));
  return () => `cp -a ${template}/. .`;
}

const script = 'printf "#!/bin/sh\\n%s\\n" "$EVIL" > evil.sh && chmod +x evil.sh';
const driver = (what: string, key: string, value = '"$EVIL; cat"') =>
  `git config ${key} ${value} && echo '* ${what}' > .gitattributes`;
/** Git asks whether a file has changed only if its times have. */
const touched = 'touch -d 2001-01-01 f';

export const HOSTILITIES: Readonly<Record<string, Hostility>> = {
  'a file system monitor': {
    prepare: 'git config core.fsmonitor "$EVIL; false"',
    command: 'git status',
    prints: 'modified:   f',
  },
  'a diff program': {
    prepare: 'git config diff.external "$EVIL; true"',
    command: 'git diff',
    prints: '+three',
  },
  'a diff driver': {
    prepare: driver('diff=Evil.x', 'diff.Evil.x.command'),
    command: 'git diff',
    prints: '+three',
  },
  'a text conversion': {
    prepare: driver('diff=evil', 'diff.evil.textconv'),
    command: 'git log -p -1; git diff; git blame f',
    prints: '+three',
  },
  'a clean filter': {
    prepare: `${driver('filter=evil', 'filter.evil.clean')}; git config filter.evil.required true; ${touched}`,
    command: 'git status && git add f && git commit -qm x && git log -1 --format=done:%s',
    prints: 'done:x',
  },
  'a smudge filter': {
    prepare: driver('filter="e v"', 'filter.e=v.smudge').replace('"e v"', 'e=v'),
    command: 'git checkout -- f && git stash list && cat f',
    prints: 'two',
    since: 2.31,
  },
  'a filter process': {
    prepare: `${driver('filter=evil', 'filter.evil.process', '"$EVIL"')}; ${touched}`,
    command: 'git diff --stat && git stash -q && git stash pop -q && cat f',
    prints: 'three',
  },
  'a merge driver': {
    prepare: `git checkout -q f; ${driver('merge=evil', 'merge.evil.driver', '"$EVIL; false"')}`,
    command: 'git merge side; cat f',
    prints: '=======',
  },
  'a hook': {
    prepare: `${script}; mv evil.sh .git/hooks/pre-commit`,
    command: 'git commit -qam third && git log -1 --format=done:%s',
    prints: 'done:third',
  },
  'a folder of hooks': {
    prepare: `${script}; mkdir h && mv evil.sh h/post-checkout && git config core.hooksPath h`,
    command: 'git checkout -q f && cat f',
    prints: 'two',
  },
  'a hook by name': {
    prepare: 'git config hook.evil.command "$EVIL" && git config hook.evil.event pre-commit',
    command: 'git commit -qam third && git log -1 --format=done:%s',
    prints: 'done:third',
    since: 2.54,
  },
  'a pager': {
    prepare: 'git config core.pager "$EVIL; cat"',
    command: 'script -qec "git -p log" /dev/null',
    prints: 'second',
  },
  'a pager of one command': {
    prepare: 'git config pager.log "$EVIL; cat"',
    command: 'script -qec "git log" /dev/null',
    prints: 'second',
  },
  'an editor': {
    prepare: 'git config core.editor "$EVIL; :"',
    command: 'git commit -a --amend && git log -1 --format=done:%s',
    prints: 'done:second',
  },
  'an editor of lists': {
    prepare: 'git checkout -q f; git config sequence.editor "$EVIL; :"',
    command: 'git rebase -q -i HEAD~1 && git log -1 --format=done:%s',
    prints: 'done:second',
  },
  'a format of lists': {
    prepare: `git checkout -q f; git checkout -qb more HEAD~1; git commit -q --allow-empty -m more
      git config rebase.instructionFormat "%s%nexec $EVIL"`,
    command: 'git rebase -q main && git log -1 --format=done:%s',
    prints: 'done:more',
  },
  'another ssh': {
    prepare: 'git remote add origin ssh://127.0.0.1:9/x && git config core.sshCommand "$EVIL; false"',
    command: 'git ls-remote origin',
  },
  'a proxy for git': {
    prepare: 'git remote add origin git://127.0.0.1:9/x && git config core.gitProxy "./evil.sh" && ' + script,
    command: 'git ls-remote origin',
  },
  'a program that asks for passwords': {
    prepare: `${script}; git config core.askPass ./evil.sh`,
    command: String.raw`printf 'protocol=https\nhost=x\n\n' | git credential fill`,
  },
  'a credential helper': {
    prepare: 'git config credential.helper "!$EVIL;:"',
    command: String.raw`printf 'protocol=https\nhost=x\n\n' | git credential fill`,
  },
  'a credential helper of one host': {
    prepare: 'git config credential.https://x.helper "!$EVIL;:"',
    command: String.raw`printf 'protocol=https\nhost=x\n\n' | git credential fill`,
  },
  'an alias': { prepare: 'git config alias.evil "!$EVIL"', command: 'git evil' },
  'an alias that is no shell': {
    prepare:
      'git config alias.evil "-c alias.e2=!evil.sh e2" && git config alias.evil "-c core.fsmonitor=./evil.sh status" && ' +
      script,
    command: 'git evil',
  },
  'an alias of the new kind': {
    prepare: 'git config alias.evil.command "!$EVIL"',
    command: 'git evil',
    since: 2.54,
  },
  'a program that signs': {
    prepare: `${script}; git config gpg.program ./evil.sh; git config commit.gpgSign true`,
    command: 'git commit -qam third',
  },
  'a program that signs with ssh': {
    prepare: `${script}; git config gpg.format ssh; git config user.signingKey x; git config gpg.ssh.program ./evil.sh`,
    command: 'git commit -S -qam third',
    since: 2.34,
  },
  'a program that finds a key': {
    prepare: `git config gpg.format ssh; git config gpg.ssh.defaultKeyCommand "sh -c '$EVIL'"`,
    command: 'git commit -S -qam third',
    since: 2.34,
  },
  'references of another repository': {
    prepare: `git clone -q . ../other; echo "$PWD/../other/.git/objects" > .git/objects/info/alternates
      git -C ../other -c user.name=x -c user.email=x commit -q --allow-empty -m more
      git config core.alternateRefsCommand "$EVIL; true"`,
    command: 'git fetch -q ../other && git log -1 --format=done:%s FETCH_HEAD',
    prints: 'done:more',
  },
  'a program to fetch with': {
    prepare: 'git remote add o "$PWD/.git" && git config remote.o.uploadpack "$EVIL; git-upload-pack"',
    command: 'git fetch -q o',
    prints: 'Bosun does not let git run here',
  },
  'a program to push with': {
    prepare:
      'git clone -q --bare . ../bare.git; git remote add o ../bare.git && git config remote.o.receivepack "$EVIL; git-receive-pack"',
    command: 'git push -q o HEAD:pushed',
    prints: 'Bosun does not let git run here',
  },
  'a protocol that runs programs': {
    prepare: `${script}; git remote add o "ext::$PWD/evil.sh" && git config protocol.ext.allow always`,
    command: 'git ls-remote o',
  },
  'a way to update submodules': {
    prepare: `git clone -q . ../other; git -c protocol.file.allow=always submodule --quiet add ../other sub && git commit -qam sub
      git config submodule.sub.update "!$EVIL;:"; rm sub/f`,
    command: 'git submodule update -f && cat sub/f',
    prints: 'two',
    since: 2.31,
  },
  'a trailer': {
    prepare: 'git config trailer.sign.command "$EVIL; echo me"',
    command: 'git interpret-trailers --trailer sign=x < /dev/null',
  },
  'a format of archives': {
    prepare: 'git config tar.evil.command "$EVIL; cat"; git config tar.tgz.command "$EVIL; cat"',
    command: 'git archive --format=evil HEAD > a; git archive --format=tgz HEAD | tar -tzf -',
    prints: 'f',
  },
  'a filter of shown diffs': {
    prepare: 'git config interactive.diffFilter "$EVIL; cat"',
    command: 'echo q | TERM=xterm script -qec "git add -p" /dev/null',
  },
  'a diff tool': {
    prepare: 'git config difftool.evil.cmd "$EVIL"',
    command: 'git difftool -y -t evil',
  },
  'a browser': {
    prepare: 'git config browser.evil.cmd "$EVIL; :"',
    command: 'git web--browse -t evil f',
  },
  'settings of a worktree': {
    prepare: 'git config extensions.worktreeConfig true; git config --worktree diff.external "$EVIL; true"',
    command: 'git diff',
    prints: '+three',
  },
  'a repository inside': {
    prepare:
      'git clone -q . in/side; git -C in/side config alias.evil "!$EVIL"; git -C in/side config core.fsmonitor "$EVIL; false"',
    command: 'cd in/side && git status && git evil',
    prints: 'nothing to commit',
  },
  'a submodule': {
    prepare: `git clone -q . ../other; git -c protocol.file.allow=always submodule --quiet add ../other sub && git commit -qam sub
      echo more >> sub/f; git -C sub config core.fsmonitor "$EVIL; false"
      git -C sub config filter.evil.clean "$EVIL; cat"; echo '* filter=evil' > sub/.gitattributes`,
    command: 'git status && git diff --submodule=diff',
    prints: '+more',
  },
  'a folder that looks like a repository': {
    prepare: `mkdir -p sub/objects sub/refs && echo 'ref: refs/heads/main' > sub/HEAD
      printf '[core]\\n\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = "%s; false"\\n[alias]\\n\\tevil = "!%s"\\n' "$EVIL" "$EVIL" > sub/config`,
    command: 'cd sub && git evil; git status',
  },
};
