import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { describeSandboxed, inSandbox, program } from '../helpers/sandboxed.js';
import { INNOCENT } from '../helpers/hostile-git.js';
import { resultOf, type Scratch } from '../helpers/run-cli.js';
import { place } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

/** Does what a shell line says, hidden from the policy. */
const hidden = (line: string) => program(`require("child_process").execSync(${JSON.stringify(line)})`);
const bash = (where: Scratch, script: string) =>
  spawnSync('bash', ['-c', script], { cwd: where.workspace, encoding: 'utf8' });

function repository(more = ''): Scratch {
  const where = place();
  bash(where, `${INNOCENT}\n${more}`);
  return where;
}

const warnings = (where: Scratch) => resultOf(where).warnings.join('\n');

describeSandboxed('what other programs execute', () => {
  test('cannot be written by commands where it is there', async () => {
    const files = {
      '.gitlab-ci.yml': 'old',
      '.husky/pre-commit': 'old',
      'packages/x/.vscode/tasks.json': 'old',
      '.claude/settings.json': 'old',
    };
    const where = place(files);
    const each = Object.keys(files).map((name) => `echo evil > ${name}; rm -rf ${name}; mv ${name} x`);
    const { outputs } = await inSandbox([hidden(`{ ${each.join('; ')}; } 2>&1 || :`), 'ls .husky'], where);
    for (const name of Object.keys(files))
      expect([name, readFileSync(join(where.workspace, name), 'utf8')]).toEqual([name, 'old']);
    expect(outputs[1]).toContain('pre-commit');
  });

  test('is removed where a command has made it, and nothing is left of what guards it', async () => {
    const where = repository();
    const made = [
      '.gitlab-ci.yml',
      'Jenkinsfile',
      '.mcp.json',
      '.idea/runConfigurations/x.xml',
      '.vscode/tasks.json',
    ];
    const nested = ['packages/x/.husky/pre-commit', 'packages/x/.vscode/settings.json', 'lefthook-local.yml'];
    const write = (name: string) => `mkdir -p $(dirname ${name}) && echo evil > ${name}`;
    const commands = [
      hidden([...made, ...nested].map(write).join('; ')),
      'ls -A',
      hidden(
        'mkdir -p packages/y evil && echo evil > evil/tasks.json && ln -s ../../evil packages/y/.vscode && ln -s evil .claude',
      ),
    ];
    const { outputs } = await inSandbox(commands, where);
    // At the top at once, and everywhere at the end.
    expect(outputs[1]).not.toMatch(/gitlab-ci|mcp\.json|\.idea/);
    for (const name of [...made, ...nested, 'packages/y/.vscode', '.claude'])
      expect([name, existsSync(join(where.workspace, name))]).toEqual([name, false]);
    expect(readdirSync(where.workspace).sort()).toEqual(['.git', '.vscode', 'evil', 'f', 'packages']);
    expect(warnings(where)).toContain('.gitlab-ci.yml: the policy protects it');
    expect(warnings(where)).toContain('packages/x/.husky: the policy protects it');
  });

  test('may be written where the policy says so', async () => {
    const where = place({ '.husky/pre-commit': 'old' });
    const keys = 'workspace: {write_allow: [".husky/**", ".mcp.json"]}\n';
    await inSandbox([hidden('echo new > .husky/pre-commit; echo new > .mcp.json')], where, keys);
    expect(readFileSync(join(where.workspace, '.husky/pre-commit'), 'utf8')).toBe('new\n');
    expect(readFileSync(join(where.workspace, '.mcp.json'), 'utf8')).toBe('new\n');
  });
});

describeSandboxed('a repository that a command has made', () => {
  const evil = (where: Scratch) => `touch ${join(where.root, 'trace')}`;
  const traced = (where: Scratch) => existsSync(join(where.root, 'trace'));

  test('under another name runs nothing afterwards', async () => {
    const where = repository('git clone -q . in/side');
    const config = `git config --file copy/config core.fsmonitor "${evil(where)}; false"; git config --file copy/config core.bare false; git config --file copy/config core.worktree .`;
    await inSandbox(
      [
        hidden(`cp -r in/side/.git copy; ${config}; mkdir -p copy/hooks; cp copy/config copy/hooks/post-checkout; mkdir linked; ln -s ../copy linked/.git
          mkdir sham; echo 'ref: refs/heads/x' > sham/HEAD; echo ../copy > sham/commondir`),
      ],
      where,
    );
    for (const folder of ['copy', 'linked', 'sham'])
      spawnSync('git', ['status'], { cwd: join(where.workspace, folder) });
    expect(traced(where)).toBe(false);
    expect(warnings(where)).toMatch(/copy\/config: git would obey it/);
    expect(existsSync(join(where.workspace, 'linked/.git'))).toBe(false);
    // What is data stays.
    expect(existsSync(join(where.workspace, 'copy/objects'))).toBe(true);
    expect(existsSync(join(where.workspace, 'copy/config'))).toBe(false);
  });

  test('is guarded like any other if it was there before', async () => {
    const where = repository('git clone -q --bare . fixtures/repo.git');
    const before = readFileSync(join(where.workspace, 'fixtures/repo.git/config'), 'utf8');
    const line = `cd fixtures; git config --file repo.git/config core.fsmonitor "${evil(where)}"; echo x > repo.git/hooks/post-update; mv repo.git other; git clone -q repo.git again && git -C again log -1 --format=%s > ../log`;
    await inSandbox([hidden(`{ ${line}; } 2>/dev/null || :`)], where);
    expect(readFileSync(join(where.workspace, 'fixtures/repo.git/config'), 'utf8')).toBe(before);
    expect(existsSync(join(where.workspace, 'fixtures/repo.git/hooks/post-update'))).toBe(false);
    expect(readFileSync(join(where.workspace, 'log'), 'utf8')).toBe('second\n');
  });

  test('is not obeyed from a folder that its own settings name', async () => {
    const where = repository(
      'mkdir shared; mv .git/config .git/objects .git/refs shared/; echo ../shared > .git/commondir; git config core.pager less',
    );
    const before = readFileSync(join(where.workspace, 'shared/config'), 'utf8');
    const line = `git config --file shared/config alias.evil "!${evil(where)}"; mkdir shared/hooks; echo x > shared/hooks/pre-commit`;
    const { outputs } = await inSandbox(
      [hidden(`{ ${line}; } 2>/dev/null || :`), 'git status; git config core.pager'],
      where,
    );
    expect(readFileSync(join(where.workspace, 'shared/config'), 'utf8')).toBe(before);
    expect(existsSync(join(where.workspace, 'shared/hooks'))).toBe(false);
    expect(outputs[1]).toMatch(/modified: {3}f[\s\S]*\ncat\n/);
  });

  test('does not make what is protected writable by standing there', async () => {
    const where = place({
      '.husky/HEAD': 'ref: refs/heads/main',
      '.husky/objects/.keep': '',
      '.husky/refs/.keep': '',
      '.husky/pre-commit': 'old',
      'policies/HEAD': 'ref: refs/heads/main',
      'policies/commondir': '../.husky',
    });
    await inSandbox(
      [hidden('{ echo evil > .husky/pre-commit; echo evil > policies/x; } 2>/dev/null || :')],
      where,
      'workspace: {write_deny: ["policies/**"]}\n',
    );
    expect(readFileSync(join(where.workspace, '.husky/pre-commit'), 'utf8')).toBe('old');
    expect(existsSync(join(where.workspace, 'policies/x'))).toBe(false);
  });

  test('is shown as it is where it is part of another one', async () => {
    const where = repository(
      'git clone -q --bare . repo.git; git -C repo.git config core.fsmonitor "x; false"; touch repo.git/hooks/post-update; git add -A -f; git commit -qm fixture',
    );
    const { outputs } = await inSandbox(['git status --short; git diff; echo nothing'], where);
    expect(outputs).toEqual(['nothing\n']);
  });

  test('has its hooks guarded where a link leads to them', async () => {
    const where = repository(
      'rm -rf .git/hooks; mkdir githooks; echo old > githooks/pre-commit; ln -s ../githooks .git/hooks',
    );
    await inSandbox([hidden('{ echo evil > githooks/pre-commit; mv githooks x; } 2>/dev/null || :')], where);
    expect(readFileSync(join(where.workspace, 'githooks/pre-commit'), 'utf8')).toBe('old\n');
  });

  test('has hooks of nobody', async () => {
    const where = repository('git clone -q . in/side; rm -rf in/side/.git/hooks');
    await inSandbox([hidden('mkdir in/side/.git/hooks; echo evil > in/side/.git/hooks/pre-commit')], where);
    expect(existsSync(join(where.workspace, 'in/side/.git/hooks'))).toBe(false);
  });
});

describeSandboxed('what git has yet to do', () => {
  const conflict = 'git commit -qam third; git rebase -q side 2>/dev/null';
  const todo = (where: Scratch) =>
    readFileSync(join(where.workspace, '.git/rebase-merge/git-rebase-todo'), 'utf8');

  test('gets no commands from the sandbox, and can be gone on with', async () => {
    const where = repository(conflict);
    const before = todo(where);
    await inSandbox(
      [hidden('{ echo "exec touch trace"; echo "  x touch trace"; } >> .git/rebase-merge/git-rebase-todo')],
      where,
    );
    expect(todo(where)).toBe(before);
    expect(warnings(where)).toContain('git-rebase-todo: git would run them when it continues');
    bash(
      where,
      'git checkout -q --theirs f; git add f; GIT_EDITOR=true git rebase --continue; GIT_EDITOR=true git rebase --skip',
    );
    expect(existsSync(join(where.workspace, 'trace'))).toBe(false);
    expect(execFileSync('git', ['status'], { cwd: where.workspace }).toString()).toContain('On branch main');
  });

  test('keeps the commands that were there', async () => {
    const where = repository(`${conflict}; echo "exec make check" >> .git/rebase-merge/git-rebase-todo`);
    await inSandbox([hidden('echo "exec touch trace" >> .git/rebase-merge/git-rebase-todo')], where);
    expect(todo(where)).toContain('exec make check');
    expect(todo(where)).not.toContain('touch trace');
  });

  test('is nothing where a command has only made it up, or put a link there', async () => {
    const where = repository();
    writeFileSync(join(where.workspace, 'list'), 'exec touch trace\n');
    await inSandbox(
      [
        hidden(
          'mkdir -p d .git/sequencer; echo "exec touch trace" > d/git-rebase-todo; ln -s ../d .git/rebase-merge; ln -s ../../list .git/sequencer/todo',
        ),
      ],
      where,
    );
    expect(existsSync(join(where.workspace, '.git/rebase-merge'))).toBe(false);
    expect(readdirSync(join(where.workspace, '.git/sequencer'))).toEqual([]);
    expect(readFileSync(join(where.workspace, 'list'), 'utf8')).toBe('exec touch trace\n');
  });
});
