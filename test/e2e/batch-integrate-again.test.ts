import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  batchFile,
  commitAll,
  journalled,
  outOf,
  promptOf,
  resultsIn,
  runBatch,
  startBatch,
  turnOf,
  writeIn,
} from '../helpers/batch.js';
import { countOf } from '../helpers/counts.js';
import { call, startGeminiServer, text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { scratch, type Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const BATCH = `version: 1
name: again
prompt: Change {{file}}
tasks: {glob: {include: ["*.txt"]}}
policy: codemod
integrate: apply
`;
const FILES = { 'a.txt': 'old\n', 'b.txt': 'old\n', 'other.md': 'other\n' };

/** Each task writes its file. */
const write = (request: LoggedRequest) => {
  if (turnOf(request) > 1) return { parts: [text('done')] };
  const file_path = /Change (\S+)/.exec(promptOf(request))?.[1] ?? '';
  return { parts: [call('write_file', { file_path, content: 'new\n' })] };
};

const IDENTITY = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'maintenance.auto=false'];
const git = (where: Scratch, ...args: string[]) =>
  execFileSync('git', [...IDENTITY, ...args], { cwd: where.workspace, encoding: 'utf8', stdio: 'pipe' });
const status = (where: Scratch) => git(where, 'status', '--porcelain');
const CHANGED = ' M a.txt\n M b.txt\n';
const notices = (where: Scratch, kind: string) =>
  journalled(where, 'batch_notice').filter(({ code }) => code === kind);

/** A place that is as it was made whenever a test begins with it. */
class Fixture {
  readonly #place: Scratch;
  readonly #kept: Scratch;

  private constructor(made: Scratch) {
    this.#place = made;
    this.#kept = scratch();
    cpSync(made.root, this.#kept.root, KEPT);
  }

  /** With a batch of these files that was run to its end. */
  static async of(files: Readonly<Record<string, string>>, batch: string): Promise<Fixture> {
    const where = scratch(files);
    commitAll(where);
    const server = await startGeminiServer(write);
    expect((await runBatch(server, where, [batchFile(where, batch)])).code).toBe(0);
    await server.close();
    return new Fixture(where);
  }

  /** Where it was made: the journal names that place. */
  again(): Scratch {
    this.#place.remove();
    cpSync(this.#kept.root, this.#place.root, KEPT);
    return this.#place;
  }

  remove(): void {
    this.#place.remove();
    this.#kept.remove();
  }
}

const KEPT = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true };

const MANY = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`f${10 + at}.txt`, 'old\n']));
const ALL = Object.keys(MANY)
  .map((name) => ` M ${name}\n`)
  .join('');

/** A batch whose patches are in the tree, and one whose patches are not. */
let [few, many]: Fixture[] = [];
beforeAll(async () => {
  few = await Fixture.of(FILES, BATCH);
  many = await Fixture.of(MANY, BATCH.replace('integrate: apply\n', ''));
});
afterAll(() => {
  few?.remove();
  many?.remove();
});

const begin = (fixture: Fixture | undefined) => fixture?.again() as Scratch;

/** A batch whose patches are in the tree, and how to run it again. */
async function applied() {
  const where = begin(few);
  const server = await serve(write);
  const again = (...args: string[]) => runBatch(server, where, [batchFile(where, BATCH), ...args]);
  expect(status(where)).toBe(CHANGED);
  return { where, server, again };
}

test('patches that were committed and reverted are applied again', async () => {
  const { where, again } = await applied();
  git(where, 'commit', '-qam', 'codemod');
  git(where, 'revert', '--no-edit', 'HEAD');
  expect((await again()).code).toBe(0);
  expect(status(where)).toBe(CHANGED);
});

test('patches that were committed are not applied again, nor told', async () => {
  const { where, again } = await applied();
  git(where, 'commit', '-qam', 'codemod');
  const told = notices(where, 'applying').length;
  expect((await again()).code).toBe(0);
  expect([status(where), notices(where, 'applying').length]).toEqual(['', told]);
});

test('patches that were discarded are applied again, on the same commit and on another one', async () => {
  const { where, again } = await applied();
  git(where, 'checkout', '-q', '.');
  expect((await again()).code).toBe(0);
  expect(status(where)).toBe(CHANGED);
  git(where, 'checkout', '-q', '.');
  expect((await again('--redo', '**')).code).toBe(0);
  expect(status(where)).toBe(CHANGED);
  git(where, 'checkout', '-q', '.');
  writeIn(where, 'README', 'x\n');
  git(where, 'add', 'README');
  git(where, 'commit', '-qm', 'readme');
  expect((await again()).code).toBe(0);
  expect(status(where)).toBe(CHANGED);
});

test('patches that are still there after a commit of something else are no changes of others', async () => {
  const { where, again } = await applied();
  writeIn(where, 'README', 'x\n');
  git(where, 'add', 'README');
  git(where, 'commit', '-qm', 'readme');
  expect((await again()).code).toBe(0);
  expect(status(where)).toBe(CHANGED);
});

test('a branch that took the patches leaves the one before it clean', async () => {
  const { where, again } = await applied();
  git(where, 'checkout', '-q', '-b', 'codemod');
  git(where, 'commit', '-qam', 'codemod');
  git(where, 'checkout', '-q', '-');
  expect((await again()).code).toBe(0);
  expect(status(where)).toBe(CHANGED);
});

test('patches that are staged are the own ones, and what is staged beside them is not', async () => {
  const { where, again } = await applied();
  git(where, 'add', '-A');
  expect((await again()).code).toBe(0);
  expect(status(where)).toBe('M  a.txt\nM  b.txt\n');
  writeIn(where, 'b.txt', 'mine\n');
  git(where, 'add', 'b.txt');
  writeIn(where, 'b.txt', 'new\n');
  const { code, stderr } = await again();
  expect([code, stderr]).toEqual([2, expect.stringContaining('b.txt has changed')]);
});

test('files that are not checked out, or are kept from git, are no changes', async () => {
  const where = place({ ...FILES, 'far/c.md': 'c\n' });
  commitAll(where);
  git(where, 'sparse-checkout', 'set', '--no-cone', '/*', '!/far');
  const server = await serve(write);
  const run = () => runBatch(server, where, [batchFile(where, BATCH)]);
  expect((await run()).code).toBe(0);
  expect([status(where), existsSync(join(where.workspace, 'far'))]).toEqual([CHANGED, false]);
  git(where, 'checkout', '-q', '.');
  git(where, 'sparse-checkout', 'disable');
  git(where, 'update-index', '--skip-worktree', 'other.md');
  writeIn(where, 'other.md', 'mine\n');
  expect((await run()).code).toBe(0);
  expect(status(where)).toBe(CHANGED);
  expect(readFileSync(join(where.workspace, 'other.md'), 'utf8')).toBe('mine\n');
});

test('a patch that was applied once, and does not fit any more, is told and left out', async () => {
  const where = place(FILES);
  commitAll(where);
  const server = await serve((request) => {
    if (turnOf(request) > 1) return { parts: [text('done')] };
    return { parts: [call('write_file', { file_path: 'made.md', content: 'made\n' })] };
  });
  const batch = BATCH.replace('*.txt', 'a.txt').concat('workspace: {key: files}\n');
  const run = () => runBatch(server, where, [batchFile(where, batch)]);
  expect((await run()).code).toBe(0);
  writeIn(where, 'made.md', 'made, and made better\n');
  commitAll(where);
  const { code, stderr } = await run();
  expect([code, server.requests.length, status(where)]).toEqual([0, 2, '']);
  expect(stderr).toContain('its patch was applied earlier, and is left out now: made.md has other changes');
  expect(notices(where, 'not_applied')).toHaveLength(1);
});

/** An end in order, one at once, and another one in order. */
const ENDS = [
  ['SIGTERM', 143],
  ['SIGKILL', null],
  ['SIGINT', 130],
] as const;

test.each(ENDS.slice(0, countOf('ENDS')))(
  '%s while patches are applied stops between two; the same command goes on',
  async (signal, exit) => {
    const where = begin(many);
    expect(status(where)).toBe('');
    const server = await serve(write);
    const file = batchFile(where, BATCH);
    const { child, done } = startBatch(server, where, [file], { TMPDIR: where.home });
    child.stderr?.on('data', (piece: string) => {
      if (piece.includes('applying its patch')) child.kill(signal);
    });
    const { code, stdout } = await done;
    expect(code).toBe(exit);
    if (exit !== null) expect(stdout).toContain('continue with: ');
    expect(status(where)).not.toBe(ALL);
    expect((await runBatch(server, where, [file])).code).toBe(0);
    expect([status(where), server.requests.length]).toEqual([ALL, 0]);
    expect(notices(where, 'applied')).toHaveLength(12);
    expect(resultsIn(where).every(({ status: one }) => one === 'completed')).toBe(true);
    const left = [...readdirSync(where.home), ...readdirSync(outOf(where))];
    expect(left.filter((name) => name.includes('integrat'))).toEqual([]);
  },
);

test('what keeps patches from being applied, other than a conflict, is exit 12 and no outcome of a task', async () => {
  const { where, again } = await applied();
  git(where, 'checkout', '-q', '.');
  rmSync(join(outOf(where), resultsIn(where)[1]?.patch ?? ''));
  const { code, stdout } = await again();
  expect([code, stdout]).toEqual([12, expect.stringContaining('patches cannot be applied: ENOENT')]);
  expect(resultsIn(where).map(({ status: one }) => one)).toEqual(['completed', 'completed']);
  expect(status(where)).toBe(' M a.txt\n');
});
