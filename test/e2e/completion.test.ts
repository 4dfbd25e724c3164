import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runCli, REPOSITORY, scratch } from '../helpers/run-cli.js';
import { installed } from '../helpers/installed.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** What is typed, and what has to be offered for its last word: all of it, or at least the first few. */
const QUESTIONS: readonly (readonly [line: string, offered: readonly string[], others: readonly string[]])[] =
  [
    [
      'bosun ',
      ['run', 'resume', 'approve', 'policy', 'report', 'verify', 'tools', 'demo', 'completion', 'help'],
      ['a b.jsonl'],
    ],
    ['bosun rep', ['report'], ['run']],
    ['bosun run --mo', ['--mode', '--model'], ['--max-turns']],
    ['bosun --mo', ['--mode', '--model'], []],
    ['bosun run --mode ', ['plan', 'manual', 'auto_edit', 'yolo'], ['a b.jsonl', 'run']],
    ['bosun run --mode=a', ['auto_edit'], ['plan']],
    ['bosun policy ', ['check', 'explain', 'lint', 'schema', 'presets'], ['run']],
    ['bosun policy check --tool read', ['read_file', 'read_many_files'], ['replace']],
    ['bosun policy check --policy ', ['codemod', 'read-only', 'yolo', 'policy.yaml'], []],
    ['bosun policy presets c', ['codemod', 'ci-fix'], ['yolo']],
    // The word behind an option is no command.
    ['bosun -p policy --mo', ['--mode', '--model'], []],
    ['bosun run --prompt-file ', ['policy.yaml', 'folder'], []],
    ['bosun run -C ', ['folder'], ['policy.yaml']],
    ['bosun verify ', ['policy.yaml', 'folder'], ['run']],
    ['bosun approve x --option p', ['proceed_once', 'proceed_always'], ['cancel']],
    ['bosun completion ', ['bash', 'zsh', 'fish'], []],
  ];

const place = scratch({ 'a b.jsonl': '', 'policy.yaml': '', 'folder/x': '' });
afterAll(place.remove);

/** Asks the shell itself what it would offer for the last word of a line. */
const ASK: Readonly<Record<Shell, (script: string, line: string) => string>> = {
  bash: (script, line) => {
    // Bash splits at equals signs.
    const words = line.replace('=', ' = ').split(' ');
    const ask = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); $(complete -p bosun | sed 's/.*-F \\([^ ]*\\).*/\\1/'); printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['--norc', '--noprofile', '-c', ask, script, ...words], {
      cwd: place.workspace,
      encoding: 'utf8',
    });
  },
  zsh: (script, line) => {
    const folder = join(place.root, 'zfunc');
    mkdirSync(folder, { recursive: true });
    execFileSync('cp', [script, join(folder, '_bosun')]);
    const ask = join(REPOSITORY, 'test/helpers/ask-zsh.zsh');
    const shown = execFileSync('zsh', ['-f', ask, line, folder], { cwd: place.workspace, encoding: 'utf8' });
    // Its answer stands between the line as typed and the line as drawn again.
    return (
      shown
        .replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, '')
        .replaceAll('\\ ', ' ')
        .split(line.trimEnd())[1]
        ?.replaceAll(/\s{2,}/g, '\n') ?? ''
    );
  },
  fish: (script, line) => {
    const ask = 'source $argv[1]; complete -C $argv[2]';
    const found = execFileSync('fish', ['--no-config', '-c', ask, script, line], {
      cwd: place.workspace,
      encoding: 'utf8',
      env: { ...process.env, HOME: place.home },
    });
    return found.replaceAll(/\t.*/g, '').replaceAll(/^--mode=/gm, '');
  },
};

describe.each(SHELLS)('%s', (shell) => {
  const when = installed(shell) ? test : test.skip;
  const script = join(place.root, `completion.${shell}`);

  beforeAll(async () => {
    const { code, stdout, stderr } = await runCli(['completion', shell]);
    expect([code, stderr]).toEqual([0, '']);
    writeFileSync(script, stdout);
  });

  when(`is given a script that it understands (needs ${shell})`, () => {
    expect(spawnSync(shell, ['-n', script], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });

  when.each(QUESTIONS)('completes «%s»', (line, offered, others) => {
    const answer = ASK[shell](script, line)
      .split('\n')
      .map((word) => word.trim().replace(/\/$/, ''));
    for (const word of offered) expect(answer).toContain(word);
    for (const word of others) expect(answer).not.toContain(word);
  });
});

test('a shell that nobody knows is exit 2', async () => {
  const { code, stdout, stderr } = await runCli(['completion', 'tcsh']);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^bosun: error: .*tcsh.*\n$/);
});
