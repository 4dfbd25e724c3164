import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { call, text } from '../helpers/gemini-server.mjs';
import { makeRepository } from '../helpers/repository.js';
import {
  cleanEnv,
  REPOSITORY,
  runAgainst,
  runCli,
  startCli,
  type CliResult,
  type Scratch,
} from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';
import { until } from '../helpers/until.js';

shareProcess();

const done = { parts: [text('Done.')] };
const edit = (path: string) => ({
  parts: [call('replace', { file_path: path, old_string: 'one', new_string: 'two' }, { id: 'edit' })],
});
const shell = (command: string) => ({ parts: [call('run_shell_command', { command }, { id: 'shell' })] });

const FILES = { 'a.txt': 'one\n', '.gitignore': 'build/\n' };

const commit = ({ workspace }: Scratch) => makeRepository(workspace);

/** A run in a repository, and its transcript. */
async function recorded(
  script: readonly object[],
  args: readonly string[] = ['--mode', 'yolo'],
  { files = FILES, isRepository = true }: { files?: Record<string, string>; isRepository?: boolean } = {},
): Promise<Scratch> {
  const where = place(files);
  if (isRepository) commit(where);
  const server = await serve([...script]);
  await runAgainst(server, where, ['-p', 'do it', ...args]);
  return where;
}

const bosun = (where: Scratch, ...args: string[]): Promise<CliResult> =>
  runCli(args, { cwd: where.root, env: cleanEnv(where.home) });

async function caseOf(where: Scratch, ...args: string[]): Promise<string> {
  const { code, stderr } = await bosun(
    where,
    'test',
    'init',
    where.transcript,
    '--out',
    'cases/one',
    ...args,
  );
  expect([code, stderr]).toEqual([0, '']);
  return join(where.root, 'cases/one');
}

const scratchFolders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('bosun-case-'));

describe('bosun test init', () => {
  test('makes a case of the commit that the run began with, and plays it', async () => {
    const where = await recorded([
      edit('a.txt'),
      shell('mkdir build && echo x > build/x && cat a.txt'),
      done,
    ]);
    const folder = await caseOf(where);
    expect(readdirSync(folder).toSorted()).toEqual(['changes.patch', 'transcript.jsonl', 'workspace']);
    expect(readFileSync(join(folder, 'workspace/a.txt'), 'utf8')).toBe('one\n');
    expect(readFileSync(join(folder, 'transcript.jsonl'))).toEqual(readFileSync(where.transcript));
    expect(readFileSync(join(folder, 'changes.patch'), 'utf8')).toContain('-one\n+two\n');
    const { code, stdout } = await bosun(where, 'test', 'cases');
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^ok {7}one {2}2 calls, .*\n1 case: 1 as recorded\n$/),
    ]);
    expect(scratchFolders()).toEqual([]);
  });

  test('takes a folder with the files from before the run, without what is ignored or secret', async () => {
    const where = await recorded([edit('a.txt'), done], ['--mode', 'yolo'], { isRepository: false });
    const files = join(where.root, 'before');
    mkdirSync(join(files, 'build'), { recursive: true });
    for (const [name, content] of Object.entries({ ...FILES, '.env': 'TOKEN=1', 'build/x': 'x' }))
      writeFileSync(join(files, name), content);
    const folder = await caseOf(where, '--workspace', 'before');
    expect(readdirSync(join(folder, 'workspace')).toSorted()).toEqual(['.gitignore', 'a.txt']);
  });

  test('names the folder after the run', async () => {
    const where = await recorded([done]);
    const { stdout } = await bosun(where, 'test', 'init', where.transcript);
    const [id = ''] = readdirSync(join(where.root, 'bosun-tests'));
    expect(stdout).toBe(`bosun-tests/${id}: a case with 0 calls, which goes as it was recorded\n`);
    expect(id).toMatch(/^\d{8}T\d{6}-/);
  });

  test('says where a case does not go as its run did', async () => {
    const where = await recorded([edit('a.txt'), done], ['--mode', 'yolo'], {
      files: { 'a.txt': 'zero\n' },
    });
    // Before the run, somebody had changed the file without committing that.
    const again = place({ 'a.txt': 'zero\n' });
    commit(again);
    writeFileSync(join(again.workspace, 'a.txt'), 'one\n');
    await runAgainst(await serve([edit('a.txt'), done]), again, ['-p', 'do it', '--mode', 'yolo']);
    const { code, stdout, stderr } = await bosun(where, 'test', 'init', again.transcript, '--out', 'c');
    expect(code).toBe(13);
    expect(stdout).toContain('-modified a.txt +1 -1\n');
    expect(stderr).toContain('not those from before the run');
  });

  test.each<[string, (where: Scratch) => Promise<unknown> | void, string[], string]>([
    ['a run without a repository', () => {}, [], 'it was no git repository. Name a folder'],
    [
      'a folder that is there',
      (where) => void mkdirSync(join(where.root, 'c')),
      ['--workspace', 'workspace'],
      'exists already',
    ],
    ['a missing transcript', (where) => rmSync(where.transcript), [], 'cannot be read'],
    [
      'a transcript that was changed',
      ({ transcript }) =>
        writeFileSync(transcript, readFileSync(transcript, 'utf8').replace('do it', 'do this')),
      ['--workspace', 'workspace'],
      'its hash chain breaks at line',
    ],
    [
      'a run that was interrupted',
      ({ transcript }) => writeFileSync(transcript, readFileSync(transcript, 'utf8').replace(/.*\n$/, '')),
      ['--workspace', 'workspace'],
      'has no result: the run was interrupted',
    ],
  ])('refuses %s, and leaves nothing behind', async (_, spoil, args, message) => {
    const where = await recorded([done], [], { isRepository: false });
    await spoil(where);
    const before = readdirSync(where.root);
    const { code, stdout, stderr } = await bosun(
      where,
      'test',
      'init',
      where.transcript,
      '--out',
      'c',
      ...args,
    );
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(readdirSync(where.root)).toEqual(before);
  });
});

describe('bosun test', () => {
  test('shows what another policy decides, and what comes of it', async () => {
    const where = await recorded([edit('a.txt'), shell('cat a.txt'), done]);
    const folder = await caseOf(where);
    writeFileSync(join(folder, 'policy.yaml'), 'version: 1\nmode: plan\non_denied: warn\n');
    const { code, stdout } = await bosun(where, 'test', 'cases');
    expect(code).toBe(13);
    expect(stdout).toContain('    -allow: turn 1, replace {"file_path":"a.txt",');
    expect(stdout).toContain('    +deny: turn 1, replace {"file_path":"a.txt",');
    expect(stdout).toContain('    -modified a.txt\n');
    expect(stdout).not.toContain('  outcome (');
    expect(stdout).toMatch(/\n1 case: 0 as recorded, 1 different\n$/);
  });

  test('sees a program that changes something else now', async () => {
    const where = await recorded([shell('sh make.sh'), done], ['--mode', 'yolo'], {
      files: { 'make.sh': 'echo one > made.txt\n' },
    });
    const folder = await caseOf(where);
    writeFileSync(join(folder, 'workspace/make.sh'), 'echo two > made.txt\n');
    const { code, stdout } = await bosun(where, 'test', folder);
    expect(code).toBe(13);
    expect(stdout).toContain('    -+one\n    ++two\n');
  });

  test('shows where a new link leads, not what is there, and no secret', async () => {
    const where = place({ 'make.sh': 'true\n', '.gitignore': 'x\n' });
    commit(where);
    const server = await serve([shell('sh make.sh'), done]);
    await runAgainst(server, where, ['-p', 'do it', '--mode', 'yolo', '--sandbox', 'off']);
    const folder = await caseOf(where);
    const secret = 'q1w2e3r4t5y6u7i8';
    writeFileSync(join(where.root, 'outside'), 'from outside\n');
    const script = `ln -s ${where.root}/outside link\necho ${secret} > copy\n`;
    writeFileSync(join(folder, 'workspace/make.sh'), script);
    const env = cleanEnv(where.home, { MY_TOKEN: secret });
    const { code, stdout } = await runCli(['test', 'cases', '--update'], { cwd: where.root, env });
    expect(code).toBe(0);
    const patch = readFileSync(join(folder, 'changes.patch'), 'utf8');
    for (const shown of [stdout, patch]) {
      expect(shown).toContain(`+link to ${where.root}/outside`);
      expect(shown).toContain('[redacted:MY_TOKEN]');
      expect(shown).not.toContain('from outside');
      expect(shown).not.toContain(secret);
    }
  });

  test('--update accepts what is different, in a transcript that names no scratch folder', async () => {
    const where = await recorded([edit('a.txt'), done]);
    const folder = await caseOf(where);
    writeFileSync(join(folder, 'policy.yaml'), 'version: 1\nmode: plan\n');
    const updated = await bosun(where, 'test', 'cases', '--update');
    expect([updated.code, updated.stdout]).toEqual([0, expect.stringContaining('1 recorded again')]);
    expect((await bosun(where, 'test', 'cases')).code).toBe(0);
    expect((await bosun(where, 'verify', join(folder, 'transcript.jsonl'))).code).toBe(0);
    expect(readFileSync(join(folder, 'transcript.jsonl'), 'utf8')).not.toContain('bosun-case-');
    expect(readFileSync(join(folder, 'changes.patch'), 'utf8')).toBe('');
  });

  test('plays the recording of an older version, which had no titles', async () => {
    const where = place();
    const demo = join(REPOSITORY, 'fixtures/demo');
    cpSync(join(demo, 'project'), join(where.root, 'cases/cart/workspace'), { recursive: true });
    cpSync(join(demo, 'recording.jsonl'), join(where.root, 'cases/cart/transcript.jsonl'));
    const { code, stdout } = await bosun(where, 'test', 'cases');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^ok {7}cart {2}7 calls/)]);
  });

  test('takes paths of the recorded workspace below the copy', async () => {
    const where = place(FILES);
    commit(where);
    const path = join(where.workspace, 'a.txt');
    const server = await serve([edit(path), shell(`cat ${path}`), done]);
    await runAgainst(server, where, ['-p', 'do it', '--mode', 'yolo']);
    await caseOf(where);
    const kept = readFileSync(path);
    rmSync(where.workspace, { recursive: true });
    const { code, stdout } = await bosun(where, 'test', 'cases');
    expect([code, stdout]).toEqual([0, expect.stringContaining('1 as recorded')]);
    expect(kept.toString()).toBe('two\n');
  });

  test('gives the answers that were given then, and asks no program', async () => {
    const where = place(FILES);
    commit(where);
    const marker = join(where.root, 'asked');
    const approver = join(where.root, 'approve.sh');
    writeFileSync(
      approver,
      `#!/bin/sh\necho x >> ${marker}\nid=$(sed 's/.*"tool_call_id":"\\([^"]*\\)".*/\\1/')\n` +
        'printf \'{"tool_call_id":"%s","selected_option_id":"proceed_once"}\' "$id"\n',
      { mode: 0o755 },
    );
    const policy = join(where.root, 'p.yaml');
    writeFileSync(policy, `version: 1\nmode: manual\non_ask: {command: [${approver}]}\n`);
    const server = await serve([edit('a.txt'), done]);
    const { code } = await runAgainst(server, where, ['-p', 'do it', '--policy', policy]);
    expect([code, existsSync(marker)]).toEqual([0, true]);
    rmSync(marker);
    await caseOf(where);
    expect((await bosun(where, 'test', 'cases')).code).toBe(0);
    expect(existsSync(marker)).toBe(false);
  });

  test('keeps what flags added: verify commands, required changes and a schema', async () => {
    const where = place({ ...FILES, 's.json': '{"type":"string"}' });
    commit(where);
    const args = ['--verify', 'grep -q two a.txt', '--require-changes', '--output-schema', 's.json'];
    const server = await serve([edit('a.txt'), { parts: [text('"done"')] }]);
    const run = await runAgainst(server, where, ['-p', 'do it', '--mode', 'yolo', ...args], {
      cwd: where.workspace,
    });
    expect(run.code).toBe(0);
    const folder = await caseOf(where);
    writeFileSync(join(folder, 'workspace/a.txt'), 'one one\n');
    const { code, stdout } = await bosun(where, 'test', 'cases');
    expect(code).toBe(13);
    // The command failed, so that the model was asked again.
    expect(stdout).toContain('+model_error (recording_exhausted), exit 7');
  });

  test('plays many cases, chosen by name, and reports them as JSON and JUnit', async () => {
    const where = await recorded([edit('a.txt'), done]);
    const folder = await caseOf(where);
    for (const name of ['cart-1', 'cart-2', 'price'])
      cpSync(folder, join(where.root, 'cases/more', name), { recursive: true });
    writeFileSync(join(where.root, 'cases/more/cart-2/workspace/a.txt'), 'none\n');
    const flags = ['--only', 'more/cart-*', '--json', '--junit', 'j.xml', '--concurrency', '2'];
    const { code, stdout } = await bosun(where, 'test', 'cases', ...flags);
    expect(code).toBe(13);
    const { exit_code, cases } = JSON.parse(stdout);
    expect(exit_code).toBe(13);
    expect(cases.map(({ name, status }: Record<string, string>) => [name, status])).toEqual([
      ['more/cart-1', 'ok'],
      ['more/cart-2', 'drift'],
    ]);
    const junit = readFileSync(join(where.root, 'j.xml'), 'utf8');
    expect(junit).toContain('tests="2" failures="1" errors="0"');
    expect(junit).toContain('message="different: changes" type="drift"');
  });

  test.each<[string, string[], string]>([
    ['a missing folder', ['none'], 'the folder'],
    ['a file', ['t.jsonl'], 'is not a folder'],
    ['a folder without cases', ['empty'], 'there is no case in'],
    ['names that no case has', ['cases', '--only', 'nothing*'], 'no case is named nothing*'],
    ['no folder', [], "missing required argument 'dir'"],
  ])('refuses %s', async (_, args, message) => {
    const where = await recorded([done]);
    await caseOf(where);
    mkdirSync(join(where.root, 'empty'));
    writeFileSync(join(where.root, 't.jsonl'), '');
    const { code, stderr } = await bosun(where, 'test', ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test('a case that cannot be played is exit 2, and the others are played', async () => {
    const where = await recorded([done]);
    const folder = await caseOf(where);
    for (const name of ['two', 'three', 'four', 'five'])
      cpSync(folder, join(where.root, 'cases', name), { recursive: true });
    const recording = readFileSync(join(folder, 'transcript.jsonl'), 'utf8');
    const [first = ''] = recording.split('\n');
    writeFileSync(join(where.root, 'cases/four/transcript.jsonl'), recording.replace('Done.', 'Don.'));
    const { effective_policy: _policy, ...bare } = JSON.parse(first);
    writeFileSync(join(where.root, 'cases/five/transcript.jsonl'), `${JSON.stringify(bare)}\n`);
    writeFileSync(join(where.root, 'cases/three/policy.yaml'), 'version: 1\nmod: plan\n');
    writeFileSync(join(where.root, 'cases/two/transcript.jsonl'), 'nonsense\n');
    const { code, stdout } = await bosun(where, 'test', 'cases');
    expect(code).toBe(2);
    expect(stdout).toMatch(/^error {4}three {2}.*policy\.yaml:2:1: .*$/m);
    expect(stdout).toMatch(/^error {4}two {2}.*transcript\.jsonl:1: not an event/m);
    expect(stdout).toMatch(/^error {4}four {2}.*its hash chain breaks at line \d+/m);
    expect(stdout).toMatch(/^error {4}five {2}.*line 1 is not valid/m);
    expect(stdout).toContain('5 cases: 1 as recorded, 4 not played\n');
  });

  test('ends what it started when it is interrupted, and leaves nothing behind', async () => {
    const where = await recorded([shell('sleep 0.01; [ -e slow ] && sleep 600; true'), done]);
    const folder = await caseOf(where);
    writeFileSync(join(folder, 'workspace/slow'), '');
    const scratch = join(where.root, 'tmp');
    mkdirSync(scratch);
    const env = cleanEnv(where.home, { TMPDIR: scratch });
    const { child, done: ended } = startCli(['test', 'cases'], { cwd: where.root, env });
    await until(() => readdirSync(scratch).length > 0, 'the case is played');
    child.kill('SIGTERM');
    expect((await ended).code).toBe(143);
    expect(readdirSync(scratch)).toEqual([]);
  });
});
