import { createHash } from 'node:crypto';
import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { sampled, thorough } from '../helpers/counts.js';
import { fileTree } from '../helpers/file-tree.js';
import { call, text, type Reply } from '../helpers/gemini-server.mjs';
import { makeRepository } from '../helpers/repository.js';
import { resumeIn } from '../helpers/resume.js';
import {
  BIN,
  cleanEnv,
  eventsOf,
  fileIn,
  ofType,
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
const IDENTITY = ['-c', 'user.name=x', '-c', 'user.email=x@example.org'];
const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', [...IDENTITY, ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** A repository with one commit, and something dirty in it. */
function repository(files: Readonly<Record<string, string>> = { 'a.txt': 'one\n' }): Scratch {
  const where = place(files);
  makeRepository(where.workspace);
  writeFileSync(join(where.workspace, 'dirty.txt'), 'was dirty before\n');
  return where;
}

const patchOf = (where: Scratch) => join(where.root, 'out/run.patch');

/** Runs commands as the model, and gives the exit code. */
async function patched(where: Scratch, script: Reply[], args: readonly string[] = []) {
  const server = await serve(script);
  const file = ['--patch-out', patchOf(where)];
  return runAgainst(server, where, ['--mode', 'yolo', '-p', 'x', ...file, ...args]);
}

describe('--patch-out', () => {
  test('is what the run has changed, and applies to what was before', async () => {
    const where = repository({ 'a.txt': 'one\n', 'gone.txt': 'x\n', '.gitignore': 'build\n' });
    const copy = join(where.root, 'copy');
    cpSync(where.workspace, copy, { recursive: true });
    const hidden = fileTree(join(where.workspace, '.git'), []);
    const { code } = await patched(where, [
      {
        parts: [
          call('write_file', { file_path: 'a.txt', content: 'two\n' }),
          call('write_file', { file_path: 'new/ünï code.txt', content: 'new\n' }),
          call('run_shell_command', {
            command: 'rm gone.txt; printf "\\0\\377" > bin; mkdir build; touch build/x; ln -s a.txt link',
          }),
        ],
      },
      done,
    ]);
    expect(code).toBe(0);
    expect(fileTree(join(where.workspace, '.git'), [])).toEqual(hidden);
    const patch = readFileSync(patchOf(where), 'utf8');
    expect(patch).not.toMatch(/dirty|build/);
    git(copy, 'apply', patchOf(where));
    expect(fileTree(copy, ['.git', 'build'])).toEqual(fileTree(where.workspace, ['.git', 'build']));
    expect(resultOf(where).patch).toEqual({
      file: patchOf(where),
      files: 5,
      bytes: Buffer.byteLength(patch),
      sha256: createHash('sha256').update(patch).digest('hex'),
    });
    expect(ofType(eventsOf(where), 'init')[0]?.patch_out).toBe(patchOf(where));
    expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
    // What is only needed to go on is gone.
    expect(existsSync(join(`${where.transcript}.d`, 'before'))).toBe(false);
  });

  test('has what the model committed', async () => {
    const where = repository();
    const commit = `echo two > a.txt; git ${IDENTITY.join(' ')} commit -qam second; git checkout -q --detach`;
    expect((await patched(where, [shell(commit), done])).code).toBe(0);
    expect(readFileSync(patchOf(where), 'utf8')).toContain('-one\n+two\n');
  });

  test('is empty if nothing has changed', async () => {
    const where = repository();
    expect((await patched(where, [shell('echo x > b; rm b'), done])).code).toBe(0);
    expect(readFileSync(patchOf(where), 'utf8')).toBe('');
    expect(resultOf(where).patch).toMatchObject({ files: 0, bytes: 0 });
  });

  test('leaves out itself, the transcript, reports and the folder of runs', async () => {
    const where = repository();
    const server = await serve([shell('echo x > made'), done]);
    const inside = (name: string) => join(where.workspace, name);
    const { code } = await runAgainst(server, { ...where, transcript: inside('run.jsonl') }, [
      ...['--mode', 'yolo', '-p', 'x', '--patch-out', inside('p.diff')],
      ...['--reporter', `junit=${inside('junit.xml')}`],
    ]);
    expect(code).toBe(0);
    expect(readFileSync(inside('p.diff'), 'utf8').match(/^diff .*$/gm)).toEqual(['diff --git a/made b/made']);
  });

  sampled.each<[string, Reply[], string[], number]>([
    ['denied', [shell('echo x > made'), { parts: [call('read_file', { file_path: '.env' })] }, done], [], 3],
    ['limit', [shell('echo x > made'), done], ['--max-turns', '1'], 6],
    ['unverified', [shell('echo x > made'), done, done, done], ['--verify', 'false'], 5],
    ['model_error', [shell('echo x > made'), { parts: [], finishReason: 'SAFETY' }], [], 7],
  ])('is written when the run ends %s', async (status, script, args, exit) => {
    const where = repository();
    expect((await patched(where, script, args)).code).toBe(exit);
    expect(resultOf(where)).toMatchObject({ status, patch: { files: 1 } });
    expect(readFileSync(patchOf(where), 'utf8')).toContain('+x\n');
  });

  test('is written after SIGINT, and the rest of the run belongs to it', async () => {
    const where = repository();
    const server = await serve([shell('echo x > made'), { hang: true }, shell('echo y > more'), done]);
    const args = ['--mode', 'yolo', '-p', 'x', '--patch-out', patchOf(where)];
    const { child, done: ended } = startCli(runArgs(where, args), { env: serverEnv(server, where) });
    await until(() => server.requests.length === 2, 'the second turn');
    child.kill('SIGINT');
    expect((await ended).code).toBe(130);
    expect(readFileSync(patchOf(where), 'utf8').match(/^\+\w/gm)).toEqual(['+x']);
    expect((await resumeIn(server, where)).code).toBe(0);
    expect(readFileSync(patchOf(where), 'utf8').match(/^\+\w/gm)).toEqual(['+x', '+y']);
  });

  describe('a signal while it is made', () => {
    /** A run that is busy with a file that takes git minutes. */
    async function busy(args: readonly string[] = []) {
      const where = repository();
      const server = await serve([shell('truncate -s 60G big'), done]);
      const all = ['--mode', 'yolo', '-p', 'x', '--patch-out', patchOf(where), ...args];
      const { child, done: ended } = startCli(runArgs(where, all), { env: serverEnv(server, where) });
      const objects = join(`${where.transcript}.d`, 'before/top/objects');
      const isReading = () =>
        readdirSync(objects, { recursive: true }).some((name) => String(name).includes('tmp_'));
      await until(() => existsSync(join(where.workspace, 'big')) && isReading(), 'git to read the file');
      // It may take as long without a processor.
      const gits = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ');
      for (const git of gits.filter(Boolean)) process.kill(Number(git), 'SIGSTOP');
      return { where, child, ended };
    }

    test('ends the run as cancelled if it takes too long', async () => {
      const { where, child, ended } = await busy();
      child.kill('SIGINT');
      expect((await ended).code).toBe(130);
      expect(resultOf(where)).toMatchObject({ status: 'cancelled', reason: 'SIGINT', exit_code: 130 });
      expect(resultOf(where).warnings).toEqual(['there is no patch: it took too long']);
    });

    thorough('leaves a run that has failed what it was', async () => {
      const { where, child, ended } = await busy(['--max-turns', '1']);
      child.kill('SIGINT');
      expect((await ended).code).toBe(6);
      expect(resultOf(where)).toMatchObject({ status: 'limit', exit_code: 6 });
    });

    thorough('and another one end it at once, with one word for it', async () => {
      const { where, child, ended } = await busy();
      child.kill('SIGINT');
      child.kill('SIGINT');
      expect((await ended).code).toBe(130);
      expect(resultOf(where)).toMatchObject({ status: 'cancelled', reason: 'SIGINT', exit_code: 130 });
    });
  });

  test('after kill -9 there is none, and resume makes it', async () => {
    const where = repository();
    mkdirSync(join(where.root, 'out'));
    writeFileSync(patchOf(where), 'of an earlier run');
    const server = await serve([shell('echo x > made'), { hang: true }, done]);
    const args = ['--mode', 'yolo', '-p', 'x', '--patch-out', patchOf(where)];
    const { child, done: ended } = startCli(runArgs(where, args), { env: serverEnv(server, where) });
    await until(() => server.requests.length === 2, 'the second turn');
    child.kill('SIGKILL');
    await ended;
    expect(existsSync(patchOf(where))).toBe(false);
    const other = join(where.root, 'other.patch');
    expect((await resumeIn(server, where, ['--patch-out', other])).code).toBe(0);
    expect(readFileSync(other, 'utf8')).toContain('+x\n');
  });

  test('on resume, what was before must be known', async () => {
    const where = repository();
    const server = await serve([{ hang: true }, done]);
    const { child, done: ended } = startCli(runArgs(where, ['-p', 'x']), { env: serverEnv(server, where) });
    await until(() => server.requests.length === 1, 'the first turn');
    child.kill('SIGKILL');
    await ended;
    const { code, stderr } = await resumeIn(server, where, ['--patch-out', patchOf(where)]);
    expect(code).toBe(2);
    expect(stderr).toContain('is not known');
  });

  test.each<[string, (where: Scratch) => string, string]>([
    ['a directory', ({ root }) => root, 'directory'],
    ['a name below a file', ({ workspace }) => join(workspace, 'a.txt/p'), 'cannot be written'],
    ['the transcript', ({ transcript }) => transcript, 'something else'],
  ])('%s is no place for it', async (_name, target, why) => {
    const where = repository();
    const server = await serve([done]);
    const { code, stderr } = await runAgainst(server, where, ['-p', 'x', '--patch-out', target(where)]);
    expect([code, server.requests.length]).toEqual([2, 0]);
    expect(stderr).toContain(why);
  });

  test('outside a repository it is exit 2 before anything is asked', async () => {
    const where = place();
    const server = await serve([done]);
    const { code, stderr } = await runAgainst(server, where, ['-p', 'x', '--patch-out', patchOf(where)]);
    expect([code, server.requests.length]).toEqual([2, 0]);
    expect(stderr).toContain('--patch-out needs a git repository');
  });

  test.each([
    ['run', '-p', 'x', '--patch-out', ''],
    ['run', '-p', 'x', '--transcript', ''],
    ['resume', 'x.jsonl', '--patch-out', ''],
  ])('%s %s with an empty name', async (...args) => {
    const { code, stderr } = await runCli(args, { env: cleanEnv(place().home) });
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^bosun: error: option .* argument '' is invalid\. Give the name of a file\. .*\n$/,
    );
  });

  test('so it is without git, and it says so', async () => {
    const where = repository();
    const bin = join(where.root, 'bin');
    mkdirSync(bin);
    symlinkSync('/bin/sh', join(bin, 'sh'));
    const server = await serve([done]);
    const args = ['-p', 'x', '--patch-out', patchOf(where)];
    const { code, stderr } = await runAgainst(server, where, args, { env: { PATH: bin } });
    expect([code, server.requests.length]).toEqual([2, 0]);
    expect(stderr).toContain('Install git');
  });

  test('needs no HOME', async () => {
    const where = repository();
    const server = await serve([shell('echo x > made'), done]);
    const args = ['--mode', 'yolo', '-p', 'x', '--patch-out', patchOf(where)];
    const env = {
      HOME: '/nonexistent',
      GIT_DIR: '/nowhere',
      GIT_INDEX_FILE: '/nowhere',
      GIT_CONFIG_COUNT: '1',
    };
    expect((await runAgainst(server, where, args, { env })).code).toBe(0);
    expect(readFileSync(patchOf(where), 'utf8')).toContain('+x\n');
  });

  test('the model can neither write it, nor lead it elsewhere', async () => {
    const where = repository();
    const file = join(where.workspace, 'out/p.diff');
    const server = await serve([
      {
        parts: [
          call('write_file', { file_path: 'out/p.diff', content: 'x' }),
          call('run_shell_command', { command: 'mkdir ../away; rm -rf out; ln -s ../away out' }),
        ],
      },
      done,
    ]);
    const args = ['--mode', 'yolo', '--sandbox', 'off', '-p', 'x', '--patch-out', file];
    const { code } = await runAgainst(server, where, args);
    expect(code).not.toBe(0);
    expect(readdirSync(join(where.root, 'away'))).toEqual([]);
    const { reason, patch } = resultOf(where);
    expect(reason).toBe('patch');
    expect(readFileSync(patch?.file ?? '', 'utf8')).toContain('out');
  });

  test('has no secrets in it, and says that something is missing', async () => {
    const where = repository();
    const secret = 'k8Jx2mQ9vT4z-R7wLp3';
    const server = await serve([shell('printf "one\\ncaf\\351 %s-%s\\n" k8Jx2mQ9vT4z R7wLp3 > made'), done]);
    const args = ['--mode', 'yolo', '-p', 'x', '--patch-out', patchOf(where)];
    const { code } = await runAgainst(server, where, args, { env: { DEPLOY_TOKEN: secret } });
    expect(code).toBe(0);
    const patch = readFileSync(patchOf(where), 'latin1');
    expect(patch).toContain('+caf\u00e9 [redacted:DEPLOY_TOKEN]\n');
    expect(patch).not.toContain(secret);
    expect(fileIn(where, 'made')).toContain(secret);
    expect(resultOf(where).patch?.redacted).toBe(true);
    expect(resultOf(where).warnings).toEqual([expect.stringContaining('secrets were redacted in the patch')]);
  });

  test('a dry run has an empty one', async () => {
    const where = repository();
    expect((await patched(where, [shell('echo x > made'), done], ['--dry-run'])).code).toBe(0);
    expect(readFileSync(patchOf(where), 'utf8')).toBe('');
  });

  test('in a folder of a repository, names are from its top', async () => {
    const where = repository({ 'deep/a.txt': 'one\n' });
    const server = await serve([shell('echo two > a.txt; cd .. && cp deep/a.txt up.txt'), done]);
    const args = [
      '-C',
      join(where.workspace, 'deep'),
      '--mode',
      'yolo',
      '--sandbox',
      'off',
      '-p',
      'x',
      '--patch-out',
      patchOf(where),
    ];
    expect((await runAgainst(server, where, args)).code).toBe(0);
    expect(readFileSync(patchOf(where), 'utf8').match(/^\+\+\+ .*$/gm)).toEqual([
      ...['+++ b/deep/a.txt', '+++ b/up.txt'],
    ]);
  });
});

describe('--require-changes', () => {
  const REQUIRE = ['--mode', 'yolo', '-p', 'x', '--require-changes'];
  const run = async (where: Scratch, script: Reply[], args: readonly string[] = []) => {
    const server = await serve((_request, i) => script[i] ?? done);
    return { ...(await runAgainst(server, where, [...REQUIRE, ...args])), server };
  };
  const places: [string, () => Scratch][] = [
    ['in a repository', () => repository({ 'a.txt': 'one\n', '.gitignore': 'ignored\n' })],
    ['outside', () => place({ 'a.txt': 'one\n', '.gitignore': 'ignored\n' })],
  ];

  describe.each(places)('%s', (_name, make) => {
    sampled.each([
      ['a new file', 'echo x > b'],
      ['another content', 'echo two > a.txt'],
      ['a file that is gone', 'rm a.txt'],
      ['a mode', 'chmod +x a.txt'],
      ['a link', 'ln -s a.txt l'],
    ])('%s is a change', async (_what, command) => {
      const where = make();
      const { code, server } = await run(where, [shell(command), done]);
      expect([code, server.requests.length]).toEqual([0, 2]);
      expect(ofType(eventsOf(where), 'verification')).toMatchObject([
        { condition: 'require_changes', ok: true, attempt: 1, message: 'changed: 1 file' },
      ]);
    });

    sampled.each([
      ['nothing', 'true'],
      ['what was taken back', 'cp a.txt b; echo two > a.txt; mv b a.txt'],
      ['a new time', 'touch a.txt'],
      ['an ignored file', 'echo x > ignored'],
      ['an empty folder', 'mkdir empty'],
    ])('%s is none', async (_what, command) => {
      const where = make();
      const { code, server } = await run(where, [shell(command), done]);
      expect([code, server.requests.length]).toEqual([5, 4]);
      expect(server.requests[2]?.body.contents.at(-1).parts[0].text).toContain('Nothing in the workspace');
      expect(resultOf(where)).toMatchObject({
        status: 'unverified',
        reason: 'no_changes',
        error: { message: 'nothing in the workspace has changed, after 2 repairs' },
      });
    });

    test('the model may mend it, and verify commands wait until then', async () => {
      const where = make();
      const { code } = await run(where, [done, shell('echo x > b'), done], ['--verify', 'test -f b']);
      expect(code).toBe(0);
      expect(ofType(eventsOf(where), 'verification').map(({ condition, ok }) => [condition, ok])).toEqual([
        ['require_changes', false],
        ['require_changes', true],
        ['verify', true],
      ]);
    });

    test('what a verify command leaves behind is no change of the model', async () => {
      const where = make();
      const { code } = await run(
        where,
        [shell('echo two > a.txt'), done, shell('echo one > a.txt'), done],
        ['--verify', 'echo coverage > report.txt; grep one a.txt'],
      );
      expect(code).toBe(5);
      expect(resultOf(where).reason).toBe('no_changes');
    });

    test('goes on after a kill', async () => {
      const where = make();
      const server = await serve([shell('echo x > b'), { hang: true }, done]);
      const { child, done: ended } = startCli(runArgs(where, REQUIRE), { env: serverEnv(server, where) });
      await until(() => server.requests.length === 2, 'the second turn');
      child.kill('SIGKILL');
      await ended;
      expect((await resumeIn(server, where)).code).toBe(0);
    });
  });

  test('if it cannot be told, that is no success', async () => {
    const where = repository();
    const hostile = 'echo "*.txt working-tree-encoding=bogus" > .gitattributes; echo two > a.txt';
    const { code } = await run(where, [shell(hostile), done]);
    expect(code).toBe(12);
    expect(resultOf(where)).toMatchObject({ status: 'tool_infra_error', reason: 'changes' });
  });

  test('a commit counts, though the files are what they were', async () => {
    const where = repository();
    const { code } = await run(where, [shell(`git add -A; git ${IDENTITY.join(' ')} commit -qm x`), done]);
    expect(code).toBe(0);
  });

  test('one without changes does not', async () => {
    const where = repository();
    const empty = shell(`git ${IDENTITY.join(' ')} commit -q --allow-empty -m x`);
    expect((await run(where, [empty, done])).code).toBe(5);
    expect(resultOf(where).reason).toBe('no_changes');
    const unborn = place({ 'a.txt': 'one\n' });
    git(unborn.workspace, 'init', '-q', '.');
    expect((await run(unborn, [empty, done])).code).toBe(5);
  });

  test('what was remembered must be there on resume', async () => {
    const where = place({ 'a.txt': 'one\n' });
    const server = await serve([{ hang: true }, done]);
    const { child, done: ended } = startCli(runArgs(where, REQUIRE), { env: serverEnv(server, where) });
    await until(() => server.requests.length === 1, 'the first turn');
    child.kill('SIGKILL');
    await ended;
    rmSync(`${where.transcript}.d`, { recursive: true });
    const { code, stderr } = await resumeIn(server, where);
    expect(code).toBe(2);
    expect(stderr).toContain('not known here');
  });

  test('comes from policies: one that wants it is enough', async () => {
    const policy = 'version: 1\nmode: yolo\nsuccess: {require_changes: true, repairs: 0}\n';
    expect((await bosunUnder(policy, [done])).code).toBe(5);
    expect((await bosunUnder(policy, [shell('echo > x'), done])).code).toBe(0);
  });

  test('a dry run does not ask for it', async () => {
    const where = repository();
    const { code } = await run(where, [shell('echo x > b'), done], ['--dry-run']);
    expect(code).toBe(0);
    expect(resultOf(where).warnings).toEqual([
      'dry run: success conditions are not checked: require_changes',
    ]);
  });
});

describe('patch in a policy', () => {
  const policy = (patch: object) => JSON.stringify({ version: 1, mode: 'yolo', patch });
  const writes = shell('mkdir -p src; echo x > src/a; echo y > src/b; echo z > c');

  test.each<[object, string]>([
    [{ max_files: 2 }, '3 files, more than patch.max_files 2'],
    [{ max_bytes: 100 }, 'more than patch.max_bytes 100'],
    [{ paths: ['src/**'] }, 'outside patch.paths: c'],
  ])('%j', async (patch, why) => {
    const where = repository();
    const { code, stderr } = await bosunUnder(
      policy(patch),
      [writes, done],
      ['--patch-out', patchOf(where)],
      where,
    );
    expect(code).toBe(5);
    const result = resultOf(where);
    expect(result).toMatchObject({
      status: 'unverified',
      reason: 'patch',
      patch: { files: 3, rejected: true },
    });
    expect(result.error?.message).toContain(why);
    expect(stderr).toContain(why);
    // Whoever picks the file up must not get it by mistake.
    expect(existsSync(patchOf(where))).toBe(false);
    expect(readFileSync(result.patch?.file ?? '', 'utf8')).toContain('+z\n');
    expect(statSync(result.patch?.file ?? '').mode & 0o777).toBe(0o600);
    expect(ofType(eventsOf(where), 'verification')).toMatchObject([{ condition: 'patch', ok: false }]);
  });

  test('within its limits all is well, with and without a file', async () => {
    const limits = { max_files: 3, max_bytes: 1000, paths: ['src/**', 'c'] };
    const where = repository();
    expect(
      (await bosunUnder(policy(limits), [writes, done], ['--patch-out', patchOf(where)], where)).code,
    ).toBe(0);
    expect(existsSync(patchOf(where))).toBe(true);
    const other = repository();
    expect((await bosunUnder(policy(limits), [writes, done], [], other)).code).toBe(0);
    expect(resultOf(other)).not.toHaveProperty('patch');
  });

  test('a run that failed anyway stays what it is, and says it besides', async () => {
    const where = repository();
    const { code } = await bosunUnder(policy({ max_files: 0 }), [writes, done], ['--max-turns', '1'], where);
    expect(code).toBe(6);
    expect(resultOf(where).warnings[0]).toContain('more than patch.max_files 0');
  });

  test('of several the strictest counts', async () => {
    const where = repository();
    const other = join(where.root, 'other.yaml');
    writeFileSync(other, policy({ paths: ['**'], max_files: 2 }));
    const { code } = await bosunUnder(
      policy({ paths: ['src/**'], max_files: 9 }),
      [writes, done],
      ['--policy', other],
      where,
    );
    expect(code).toBe(5);
    expect(resultOf(where).error?.message).toMatch(
      /outside patch.paths: c; 3 files, more than patch.max_files 2/,
    );
  });

  test('a new repository inside cannot hide what is in it', async () => {
    const hides = shell('git init -q evil; echo x > evil/f');
    const where = repository();
    // The sandbox would take it apart.
    const limits = { max_files: 1, paths: ['src/**'] };
    const { code } = await bosunUnder(policy(limits), [hides, done], ['--sandbox', 'off'], where);
    expect(code).toBe(5);
    expect(resultOf(where)).toMatchObject({ status: 'unverified', reason: 'patch' });
    expect(resultOf(where).error?.message).toContain('cannot be read: evil');
    const free = repository();
    expect((await bosunUnder('{version: 1, mode: yolo}', [hides, done], [], free)).code).toBe(0);
  });

  test.each([
    ['a file', 'echo evil > a.txt; chmod 0 a.txt', 'a.txt'],
    ['a folder', 'mkdir -p deep/evil; echo x > deep/evil/f; chmod 0 deep/evil', 'deep/evil'],
  ])('nor can %s that we may not read', async (_what, command, name) => {
    const where = repository();
    const file = join(where.root, 'limits.json');
    writeFileSync(file, policy({ paths: ['src/**'] }));
    const server = await serve([shell(command), done]);
    const args = [BIN, ...runArgs(where, ['-p', 'x', '--policy', file])];
    // Root may read everything, unless it gives that up.
    const rights = ['--bounding-set=-dac_override,-dac_read_search', process.execPath];
    const isRoot = process.getuid?.() === 0;
    const child = spawn(isRoot ? 'setpriv' : process.execPath, isRoot ? [...rights, ...args] : args, {
      env: serverEnv(server, where),
      stdio: 'ignore',
    });
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(5);
    expect(resultOf(where).error?.message).toContain(`cannot be read: ${name}`);
    execFileSync('chmod', ['-R', 'u+rwX', where.workspace]);
  });

  test('one that was there before is no fault, nor is it after a kill', async () => {
    const where = repository();
    git(where.workspace, 'init', '-q', 'old');
    writeFileSync(join(where.workspace, 'old/f'), 'x');
    const file = join(where.root, 'limits.json');
    writeFileSync(file, policy({ paths: ['src/**'] }));
    const server = await serve([{ hang: true }, done]);
    const { child, done: ended } = startCli(runArgs(where, ['-p', 'x', '--policy', file]), {
      env: serverEnv(server, where),
    });
    await until(() => server.requests.length === 1, 'the first turn');
    child.kill('SIGKILL');
    await ended;
    expect((await resumeIn(server, where)).code).toBe(0);
  });

  test('without a repository it cannot be kept', async () => {
    const { code, stderr } = await bosunUnder(policy({ max_files: 2 }), [done]);
    expect(code).toBe(2);
    expect(stderr).toContain('`patch` in the policy needs a git repository');
  });

  sampled.each([[{ max_files: -1 }], [{ paths: [] }], [{ path: ['x'] }], [{ max_files: 'many' }]])(
    '%j is refused',
    async (patch) => {
      expect((await bosunUnder(policy(patch), [done], [], repository())).code).toBe(2);
    },
  );
});

test('a hostile repository runs nothing through us', async () => {
  const where = repository({ 'a.txt': 'one\n', '.gitattributes': '* filter=evil diff=evil\n' });
  const mark = join(where.root, 'mark');
  const evil = join(where.root, 'evil.sh');
  writeFileSync(evil, `#!/bin/sh\necho "$*" >> '${mark}'\ncat\n`, { mode: 0o755 });
  for (const name of [
    'core.fsmonitor',
    'diff.external',
    'diff.evil.textconv',
    'filter.evil.clean',
    'filter.evil.process',
  ])
    git(where.workspace, 'config', name, evil);
  git(where.workspace, 'config', 'core.hooksPath', where.root);
  rmSync(mark, { force: true });
  const script = [{ parts: [call('write_file', { file_path: 'a.txt', content: 'two\n' })] }, done];
  expect((await patched(where, script, ['--require-changes'])).code).toBe(0);
  expect(readFileSync(patchOf(where), 'utf8')).toContain('+two\n');
  expect(existsSync(mark)).toBe(false);
  expect(fileIn(where, 'a.txt')).toBe('two\n');
});

test('a git that a command has put on the search path is not run', async () => {
  const where = repository({ 'a.txt': 'one\n', '.gitignore': 'node_modules\n' });
  const mark = join(where.root, 'mark');
  const bin = join(where.workspace, 'node_modules/.bin');
  const plant = `mkdir -p ${bin}; printf '#!/bin/sh\\ntouch ${mark}\\nexit 1\\n' > ${bin}/git; chmod +x ${bin}/git; echo two > a.txt`;
  const server = await serve([shell(plant), done]);
  const args = ['--mode', 'yolo', '-p', 'x', '--require-changes', '--patch-out', patchOf(where)];
  const env = { PATH: `${bin}:${process.env['PATH']}` };
  expect((await runAgainst(server, where, args, { env })).code).toBe(0);
  expect(existsSync(join(bin, 'git'))).toBe(true);
  expect(existsSync(mark)).toBe(false);
  expect(readFileSync(patchOf(where), 'utf8')).toContain('+two\n');
});
