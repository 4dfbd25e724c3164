import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { ResultEvent } from '../../src/protocol/event.js';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { call, text, type Reply } from '../helpers/gemini-server.mjs';
import { makeRepository } from '../helpers/repository.js';
import { resumeIn } from '../helpers/resume.js';
import {
  resultOf,
  runAgainst,
  runArgs,
  runCli,
  serverEnv,
  startCli,
  type Scratch,
} from '../helpers/run-cli.js';
import { bosunUnder, place, serve } from '../helpers/served.js';
import { until } from '../helpers/until.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done: Reply = { parts: [text('Done.')] };
const shell = (command: string): Reply => ({ parts: [call('run_shell_command', { command })] });
const write = (file_path: string, content: string): Reply => ({
  parts: [call('write_file', { file_path, content })],
});
const edit = (file_path: string, old_string: string, new_string: string): Reply => ({
  parts: [call('replace', { file_path, old_string, new_string })],
});

const FILES = {
  'a.txt': 'one\ntwo\nthree\n',
  'b.txt': 'b\n',
  'moved.txt': 'to be\nmoved\naway\n',
  'gone.txt': 'bye\n',
  'tool.sh': 'echo\n',
  'image.bin': Buffer.from([0, 1, 2, 255]),
  '.gitignore': 'build\n',
};
const PLACES = ['in a repository', 'outside of one'] as const;

function placed(where: (typeof PLACES)[number], files: Readonly<Record<string, string | Buffer>> = FILES) {
  const made = place(files);
  if (where === 'outside of one') return made;
  makeRepository(made.workspace);
  return made;
}

async function run(where: Scratch, script: Reply[], args: readonly string[] = []) {
  const server = await serve(script);
  const { code } = await runAgainst(server, where, ['--mode', 'yolo', '-p', 'x', ...args]);
  return { code, result: resultOf(where), server };
}

/** Each change in a line. */
function told({ changes }: ResultEvent): string[] | undefined {
  return changes?.map(({ path, kind, from, added, removed, by }) =>
    [path, kind, from && `from ${from}`, added !== undefined && `+${added} -${removed}`, by]
      .filter(Boolean)
      .join(' '),
  );
}

describe.each(PLACES)('%s', (where) => {
  test('the net change of tools and commands is in the result', async () => {
    const here = placed(where);
    const { code, result } = await run(here, [
      edit('a.txt', 'two', 'TWO'),
      edit('b.txt', 'b', 'B'),
      shell('echo four >> a.txt; echo y > new.txt; mv moved.txt there.txt; rm gone.txt; mkdir build'),
      shell('chmod +x tool.sh; printf "\\0" > image.bin; echo 1 > build/out; echo 1 > passing; rm passing'),
      edit('b.txt', 'B', 'b'),
      write('mine.txt', '1\n2\n'),
      done,
    ]);
    expect(code).toBe(0);
    expect(told(result)).toEqual([
      'a.txt modified +2 -1 both',
      'gone.txt deleted +0 -1 command',
      'image.bin modified command',
      'mine.txt added +2 -0 tool',
      'new.txt added +1 -0 command',
      'there.txt renamed from moved.txt +0 -0 command',
      'tool.sh mode +0 -0 command',
    ]);
    expect(result.stats).toMatchObject({ files_changed: 7, lines_added: 5, lines_removed: 2 });
    expect(await verifyTranscript(here.transcript)).toMatchObject({ valid: true });
    expect(existsSync(join(`${here.transcript}.d`, 'before'))).toBe(false);
  });

  test('lines that were taken back are none, nor is a file that is what it was', async () => {
    const here = placed(where);
    const { result } = await run(here, [
      edit('a.txt', 'two', 'TWO\nmore\nand more'),
      edit('a.txt', 'TWO\nmore\nand more', 'zwei'),
      edit('b.txt', 'b', 'changed'),
      write('b.txt', 'b\n'),
      edit('b.txt', 'not there', 'x'),
      write('build/out', 'ignored\n'),
      done,
    ]);
    expect(told(result)).toEqual(['a.txt modified +1 -1 tool']);
    expect(result.stats).toMatchObject({ files_changed: 1, lines_added: 1, lines_removed: 1 });
  });

  test('a file that a tool wrote and a command moved is one', async () => {
    const here = placed(where);
    const { result } = await run(here, [
      edit('moved.txt', 'away', 'off'),
      write('made.txt', 'made\n'),
      shell('mv moved.txt there.txt; mv made.txt found.txt'),
      done,
    ]);
    expect(told(result)).toEqual([
      'found.txt added +1 -0 both',
      'there.txt renamed from moved.txt +1 -1 both',
    ]);
  });

  test('what a verify command changes belongs to it', async () => {
    const here = placed(where);
    const { result } = await run(
      here,
      [edit('a.txt', 'two', 'TWO'), done],
      ['--verify', 'echo 1 > seen.txt'],
    );
    expect(told(result)).toEqual(['a.txt modified +1 -1 tool', 'seen.txt added +1 -0 command']);
  });

  test('what others change while only tools write is not told', async () => {
    const here = placed(where);
    const required = where === 'in a repository' ? ['--patch-out', join(here.root, 'p.diff')] : [];
    const script = [edit('a.txt', 'two', 'TWO'), { ...done, delayMs: 500 }];
    const server = await serve(script);
    const ended = runAgainst(server, here, ['--mode', 'yolo', '-p', 'x', '--require-changes', ...required]);
    await until(() => server.requests.length === 2, 'the second turn');
    writeFileSync(join(here.workspace, 'b.txt'), 'somebody else\n');
    expect((await ended).code).toBe(0);
    expect(told(resultOf(here))).toEqual(['a.txt modified +1 -1 tool']);
    if (required.length > 0) expect(readFileSync(join(here.root, 'p.diff'), 'utf8')).not.toContain('b.txt');
  });

  test('it is known across a resume', async () => {
    const here = placed(where);
    const server = await serve([
      edit('a.txt', 'two', 'TWO'),
      edit('b.txt', 'b', 'B'),
      shell('echo y > new.txt'),
      { hang: true },
      shell('echo z >> new.txt; echo b > b.txt'),
      done,
    ]);
    const args = runArgs(here, ['--mode', 'yolo', '-p', 'x']);
    const { child, done: ended } = startCli(args, { env: serverEnv(server, here) });
    await until(() => server.requests.length === 4, 'the fourth turn');
    child.kill('SIGKILL');
    await ended;
    expect((await resumeIn(server, here)).code).toBe(0);
    expect(told(resultOf(here))).toEqual(['a.txt modified +1 -1 tool', 'new.txt added +2 -0 command']);
  });

  test('without what was remembered it is not told after a resume, and that is said', async () => {
    const here = placed(where);
    const server = await serve([edit('a.txt', 'two', 'TWO'), { hang: true }, done]);
    const args = runArgs(here, ['--mode', 'yolo', '-p', 'x']);
    const { child, done: ended } = startCli(args, { env: serverEnv(server, here) });
    await until(() => server.requests.length === 2, 'the second turn');
    child.kill('SIGKILL');
    await ended;
    rmSync(`${here.transcript}.d`, { recursive: true });
    expect((await resumeIn(server, here)).code).toBe(0);
    const { changes, stats, warnings } = resultOf(here);
    expect([changes, stats.files_changed]).toEqual([undefined, undefined]);
    expect(warnings).toEqual([expect.stringMatching(/^it is not known what the run has changed: /)]);
    const { stdout } = await runCli(['report', here.transcript]);
    expect(stdout).toMatch(/changed +not known/);
  });

  test('a run that is cancelled tells it, and so does one whose time is up', async () => {
    const here = placed(where);
    const server = await serve([edit('a.txt', 'two', 'TWO'), shell('echo y > new.txt'), { hang: true }]);
    const args = runArgs(here, ['--mode', 'yolo', '-p', 'x']);
    const { child, done: ended } = startCli(args, { env: serverEnv(server, here) });
    await until(() => server.requests.length === 3, 'the third turn');
    child.kill('SIGINT');
    expect((await ended).code).toBe(130);
    const changed = ['a.txt modified +1 -1 tool', 'new.txt added +1 -0 command'];
    expect(told(resultOf(here))).toEqual(changed);

    const other = placed(where);
    const { code, result } = await run(
      other,
      [edit('a.txt', 'two', 'TWO'), shell('echo y > new.txt; sleep 60')],
      ['--timeout', '8s'],
    );
    expect(code).toBe(6);
    expect(told(result)).toEqual(changed);
  });
});

test('a patch holds just what the result tells, line by line', async () => {
  const here = placed('in a repository');
  const patch = join(here.root, 'run.patch');
  const { result } = await run(
    here,
    [
      edit('a.txt', 'two', 'TWO'),
      shell(
        'echo four >> a.txt; mv moved.txt there.txt; echo more >> there.txt; rm gone.txt; echo 1 > new.txt',
      ),
      done,
    ],
    ['--patch-out', patch, '--require-changes'],
  );
  expect(told(result)).toEqual([
    'a.txt modified +2 -1 both',
    'gone.txt deleted +0 -1 command',
    'new.txt added +1 -0 command',
    'there.txt renamed from moved.txt +1 -0 command',
  ]);
  const lines = readFileSync(patch, 'utf8').split('\n');
  const count = (pattern: RegExp) => lines.filter((line) => pattern.test(line)).length;
  expect([count(/^diff /), count(/^\+(?!\+\+)/), count(/^-(?!--)/)]).toEqual([4, 4, 2]);
  expect(result.patch?.files).toBe(4);
  expect(result.stats).toMatchObject({ files_changed: 4, lines_added: 4, lines_removed: 2 });
});

test('every report tells the same', async () => {
  const here = placed('in a repository');
  const report = (name: string) => join(here.root, name);
  const reporters = ['markdown', 'html', 'junit'].flatMap((name) => [
    '--reporter',
    `${name}=${report(name)}`,
  ]);
  await run(
    here,
    [edit('a.txt', 'two', 'TWO\nmore'), edit('a.txt', 'TWO\nmore', 'TWO'), shell('echo y > new.txt'), done],
    [...reporters, '--patch-out', report('p.diff'), '--require-changes'],
  );
  const read = (name: string) => readFileSync(report(name), 'utf8');
  const { stdout: table } = await runCli(['report', here.transcript]);
  expect(table).toMatch(/changed +2 files: a\.txt \+1 -1, new\.txt \+1 -0 \(new, by a command\)/);
  expect(table).toMatch(/patch +\S+ \(2 files, /);
  expect(read('markdown')).toContain('| 2 (+2 −1) |');
  expect(read('markdown')).toContain('- `a.txt` +1 −1\n- `new.txt` +1 −0 (new, by a command)\n');
  expect(read('markdown')).toMatch(/require changes `changed: 2 files`[^]*Patch: .*, 2 files, /);
  expect(read('html')).toMatch(/Files changed<\/dt><dd>2<small>\+2 -1</);
  expect(read('html')).toMatch(/2 files changed[^]*a\.txt[^]*\+1[^]*-1[^]*new\.txt/);
  expect(read('junit')).toContain('<property name="files_changed" value="2"/>');
});

test('a run that cannot change anything has changed nothing, as has a dry run and one that did not begin', async () => {
  const policy = [
    'version: 1',
    'mode: plan',
    'rules: [{id: look, tool: run_shell_command, command: [ls], decision: allow}]',
  ].join('\n');
  const looking = await bosunUnder(policy, [shell('ls'), done], [], place(FILES));
  expect(looking.code).toBe(0);
  expect(resultOf(looking.place)).toMatchObject({ changes: [], stats: { files_changed: 0 } });

  const dry = await run(
    placed('in a repository'),
    [write('x', 'x\n'), shell('echo y > y'), done],
    ['--dry-run'],
  );
  expect(dry.result).toMatchObject({ changes: [], stats: { files_changed: 0, lines_added: 0 } });

  const here = place();
  const args = ['run', '-C', here.workspace, '-p', 'x', '-o', 'json', '-m', 'gemini-test'];
  const { stdout } = await runCli([...args, '--max-turns', '0'], {
    env: serverEnv({ url: 'http://x' }, here),
  });
  if (stdout !== '') expect(JSON.parse(stdout)).toMatchObject({ changes: [], stats: { files_changed: 0 } });
});

test('a file in a folder that the policy includes counts, and the patch says that it has it not', async () => {
  const here = placed('in a repository');
  mkdirSync(join(here.root, 'lib'));
  const policy = 'version: 1\nmode: yolo\nworkspace: {include: [../lib]}\n';
  const patch = join(here.root, 'p.diff');
  const script = [write('../lib/x.txt', 'x\n'), done];
  await bosunUnder(policy, script, ['--patch-out', patch, '--require-changes'], here);
  const result = resultOf(here);
  expect([result.status, told(result)]).toEqual(['completed', ['../lib/x.txt added +1 -0 tool']]);
  expect(result.patch?.files).toBe(0);
  expect(result.warnings).toEqual([
    '../lib/x.txt is outside the repository: what was changed in it is not in the patch',
  ]);
});

describe('what is no file, or too long', () => {
  test('costs nothing but the call that wanted to write it', async () => {
    const where = place(FILES);
    execFileSync('mkfifo', [join(where.workspace, 'pipe')]);
    mkdirSync(join(where.workspace, 'folder'));
    const { code, result } = await run(where, [
      write('pipe', 'x\n'),
      write('folder', 'x\n'),
      write('b.txt/c', 'x\n'),
      write('a.txt', 'one\n'),
      done,
    ]);
    expect(code).toBe(0);
    expect(result.changes).toEqual([{ path: 'a.txt', kind: 'modified', added: 0, removed: 2, by: 'tool' }]);
  });

  test('lets a run outside of a repository be stopped', async () => {
    const where = place(FILES);
    const server = await serve([shell('truncate -s 300G huge'), done]);
    const args = runArgs(where, ['--mode', 'yolo', '-p', 'x']);
    const { child, done: ended } = startCli(args, { env: serverEnv(server, where) });
    await until(() => server.requests.length === 2, 'the last request');
    child.kill('SIGTERM');
    await ended;
    expect(resultOf(where)).not.toHaveProperty('changes');
  });
});
