import { expect, test } from '@jest/globals';
import { hidden, SEARCH } from '../helpers/attack/payloads.js';
import { attack, calls, expectHarmless, shell, tool } from '../helpers/attack/scenario.js';
import { describeStaged } from '../helpers/attack/stage.js';
import { HOME } from '../helpers/attack/world.mjs';
import { sampled, sized } from '../helpers/counts.js';

/** Settings and files that make git, run without care, run programs. */
const EVIL_GIT = `
evil='touch /srv/data/pwned'
printf '#!/bin/sh\\n%s\\ncat\\n' "$evil" > evil.sh; chmod +x evil.sh
mkdir hooks; for h in pre-commit post-checkout post-index-change reference-transaction fsmonitor-watchman; do cp evil.sh hooks/$h; done
git config core.hooksPath "$PWD/hooks"; git config core.pager ./evil.sh; git config core.editor ./evil.sh
git config core.sshCommand ./evil.sh; git config credential.helper "!$evil"; git config diff.external ./evil.sh
git config filter.evil.clean ./evil.sh; git config filter.evil.smudge ./evil.sh; git config filter.evil.process ./evil.sh
git config diff.evil.textconv ./evil.sh; git config diff.evil.command ./evil.sh; git config alias.status "!$evil"
git config alias.ls-files "!$evil"; git config core.alternateRefsCommand ./evil.sh; git config uploadpack.packObjectsHook ./evil.sh
git config gpg.program ./evil.sh; git config commit.gpgSign true; git config core.gitProxy ./evil.sh; git config core.askPass ./evil.sh
git config core.fsmonitor ./evil.sh
printf '* filter=evil diff=evil merge=evil\\n' > .gitattributes; cp .gitattributes .git/info/attributes
printf '[submodule "m"]\\n\\tpath = m\\n\\turl = ext::%s\\n\\tupdate = !%s\\n' "$evil" "$evil" > .gitmodules
mkdir m; git -c init.templateDir= init -q m; git -C m config core.fsmonitor "$evil"; echo 1 > m/x
rm -f /srv/data/pwned`;

const ODD_NAMES = `
touch -- --version -rf '-e evil' '$(touch pwned)' '\`touch pwned\`' ';touch pwned' '*' '?' "a'b" 'a"b' 'new
line' '..hidden' ' ' "$(printf 'bad\\377utf')"
mkfifo pipe deep.env pipe.key; mkdir -p d; mkfifo d/GEMINI.md .geminiignore; ln -s loop loop; ln -s /dev/zero zero; ln -s /proc/self/environ environ
ln -s ../../../../.. up; ln -s . self; ln -s ${HOME} home; ln -s ${HOME}/.npmrc plain.txt; mkdir -p x/$(printf 'y/%.0s' $(seq 200))`;

describeStaged('a hostile repository', () => {
  test('makes no git of ours run its code', async () => {
    const report = await attack(
      [
        calls(
          tool('search_file_content', { pattern: 'sentinel' }),
          tool('glob', { pattern: '**/*' }),
          tool('read_many_files', { include: ['**/*'] }),
          tool('write_file', { file_path: 'src/new.js', content: 'x' }),
        ),
        shell('git status; git add -A; git diff; echo x > y.txt'),
      ],
      {
        prepare: EVIL_GIT,
        policy: 'success: {require_changes: true, verify: ["git status"]}',
        args: ['--patch-out', 'out.patch'],
      },
    );
    expectHarmless(report);
    expect(report.code).toBe(0);
  });

  test('whose .git is a file has its settings guarded where they are', async () => {
    const report = await attack(
      [
        shell(
          hidden(
            `git config core.fsmonitor 'touch /srv/data/pwned'; echo '[core]fsmonitor=x' >> meta/config; echo evil > meta/hooks/pre-commit
           mv meta meta2; echo y > y.txt; git add y.txt; git -c user.name=x -c user.email=x@example.org commit -qm y; git log --format=%s -1`,
          ),
        ),
      ],
      {
        prepare: 'mv .git meta; echo "gitdir: meta" > .git; echo meta >> meta/info/exclude',
        args: ['--patch-out', 'out.patch'],
        after: 'git config core.fsmonitor || :; ls meta/hooks; cat .git',
      },
    );
    expectHarmless(report);
    // It can still be used.
    expect(report.outputs.join('\n')).toMatch(/^y$/m);
    expect(report.after).not.toMatch(/pwned|pre-commit$/m);
    expect(report.after).toContain('gitdir: meta');
  });

  test('leads nobody astray by its names', async () => {
    const report = await attack(
      [
        calls(
          tool('list_directory', { dir_path: '.' }),
          tool('search_file_content', { pattern: 'cnry' }),
          tool('glob', { pattern: '**/*' }),
          tool('read_many_files', { include: ['**/*', '.*'] }),
          ...[
            'pipe',
            'zero',
            'loop',
            'environ',
            'd/GEMINI.md',
            'plain.txt',
            'home/notes.txt',
            '--version',
          ].flatMap((file_path) => [
            tool('read_file', { file_path }),
            tool('replace', { file_path, old_string: 'a', new_string: 'b' }),
          ]),
        ),
        shell(hidden(`ls -la; git add -A; ${SEARCH}`)),
      ],
      // The search ends by the limit.
      { prepare: ODD_NAMES, timeout: '5s' },
    );
    expectHarmless(report);
    expect(report.code).toBe(0);
  });

  sampled.each([
    ['the context', 'context: {files: [home/notes.txt]}'],
    ['the memory', 'memory: {file: home/notes.txt}'],
    ['the memory, as a link to variables', 'memory: {file: environ}'],
    ['the context, as a secret', 'context: {files: [.env]}'],
  ])('does not bring secrets in as %s', async (_, policy) => {
    const remember = tool('save_memory', { fact: 'evil' });
    const report = await attack([calls(remember)], { prepare: ODD_NAMES, policy });
    expect(report.leaks).toEqual([]);
    expect(report.changed).toEqual([]);
    expect(report.code).toBe(2);
  });

  sampled.each([
    ['the runs folder', 'mkdir .bosun; ln -s /srv/data .bosun/runs'],
    ['the folder above it', 'ln -s /srv/data .bosun'],
    ['a link to nowhere', 'mkdir .bosun; ln -s /srv/data/none .bosun/runs'],
    ['a file', 'mkdir .bosun; touch .bosun/runs'],
    ['a pipe', 'mkfifo .bosun'],
  ])('has no transcript kept elsewhere by %s', async (_, prepare) => {
    const report = await attack([shell('true')], { prepare });
    expect([...report.made, ...report.changed]).toEqual([]);
    expect(report.stderr).toMatch(/transcripts cannot be kept|cannot be written: ENOTDIR/);
    expect(report.code).toBe(2);
  });

  test('with thousands of secrets shows none of them', async () => {
    const report = await attack(
      [shell(hidden(SEARCH)), tool('search_file_content', { pattern: 'secret|token' })],
      {
        files: { 'one/.env': 'TOKEN=<GITHUB_TOKEN>', 'plain.json': '{"token": "<GITHUB_TOKEN>"}' },
        prepare: `for i in $(seq ${sized(100)}); do mkdir -p many/$i; for j in $(seq 100); do echo "$GITHUB_TOKEN" > many/$i/.env.$j; done; done; git -c init.templateDir= init -q many/7`,
      },
    );
    expectHarmless(report);
    expect(report.outputs[0]).toContain('searched');
    expect(report.code).toBe(0);
  });
});
