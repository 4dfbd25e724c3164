import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { call, text } from '../helpers/gemini-server.mjs';
import { eventsOf, ofType, runAgainst, type Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const SETTINGS = ['-c', 'user.name=x', '-c', 'user.email=x@example.org', '-c', 'protocol.file.allow=always'];
const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', [...SETTINGS, ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

/** A repository with some history beside the workspace, whose files have CRLF in one case and a mode in another. */
function origin({ root }: Scratch): string {
  const folder = join(root, 'origin');
  mkdirSync(folder);
  const script =
    'git init -q -b main . && printf "a\\r\\nb\\r\\n" > crlf.txt && printf "echo one\\n" > run.sh && chmod +x run.sh';
  execFileSync('bash', ['-c', script], { cwd: folder });
  for (const message of ['first', 'second']) {
    execFileSync('bash', ['-c', `echo ${message} >> log.txt`], { cwd: folder });
    git(folder, 'add', '.');
    git(folder, 'commit', '-qm', message);
  }
  return folder;
}

async function run(scratch: Scratch, parts: object[]) {
  const server = await serve([{ parts }, { parts: [text('Done.')] }]);
  await runAgainst(server, scratch, ['--mode', 'yolo', '-p', 'x']);
  return ofType(eventsOf(scratch), 'tool_result');
}

/** What a workspace may be, and where in it the files of the repository are. */
const WORKSPACES: Readonly<Record<string, (scratch: Scratch) => string>> = {
  'a clone': (scratch) => {
    git(scratch.root, 'clone', '-q', origin(scratch), scratch.workspace);
    return '';
  },
  'a worktree': (scratch) => {
    git(origin(scratch), 'worktree', 'add', '-q', '-b', 'side', scratch.workspace);
    return '';
  },
  'a repository with a submodule': (scratch) => {
    git(scratch.workspace, 'init', '-q', '.');
    git(scratch.workspace, 'submodule', '--quiet', 'add', origin(scratch), 'sub');
    return 'sub/';
  },
};

describe.each(Object.keys(WORKSPACES))('in %s', (kind) => {
  test('edits change what git says they change, and nothing else', async () => {
    const scratch = place();
    const at = WORKSPACES[kind]?.(scratch);
    const results = await run(scratch, [
      call('read_file', { file_path: `${at}crlf.txt` }),
      call('replace', { file_path: `${at}crlf.txt`, old_string: 'a\nb', new_string: 'a\nB' }),
      call('write_file', { file_path: `${at}run.sh`, content: 'echo two\n' }),
      call('run_shell_command', { command: 'git diff --numstat --summary', directory: at || '.' }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['success', 'success', 'success', 'success']);
    expect(String(results[3]?.output)).toContain('Output:\n1\t1\tcrlf.txt\n1\t1\trun.sh\n');
    expect(String(results[3]?.output)).not.toContain('mode change');
    expect(readFileSync(join(scratch.workspace, `${at}crlf.txt`), 'utf8')).toBe('a\r\nB\r\n');
  });

  test('what makes git what it is cannot be written, be it a folder or a file', async () => {
    const scratch = place();
    const at = WORKSPACES[kind]?.(scratch);
    const content = 'gitdir: /tmp/elsewhere\n';
    const results = await run(scratch, [
      call('write_file', { file_path: `${at}.git`, content }),
      call('replace', { file_path: `${at}.git`, old_string: 'gitdir', new_string: 'x' }),
      call('write_file', { file_path: `${at}.git/hooks/pre-commit`, content }),
      call('write_file', { file_path: `${at}.GIT/config`, content }),
      call('run_shell_command', { command: `echo x > ${at}.git` }),
    ]);
    for (const { error } of results) expect(error?.type).toBe('policy_denied');
    expect(git(join(scratch.workspace, at ?? ''), 'status', '--porcelain')).toBe('');
  });
});
