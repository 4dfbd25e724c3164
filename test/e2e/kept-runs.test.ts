import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { call, text } from '../helpers/gemini-server.mjs';
import { runCli, serverEnv, startCli, type Scratch } from '../helpers/run-cli.js';
import { place, serve, type Server } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';
import { until } from '../helpers/until.js';

shareProcess();

const done = { parts: [text('Done.')] };
const runsIn = (where: Scratch) => join(where.workspace, '.bosun/runs');

function namesIn(where: Scratch): string[] {
  return readdirSync(runsIn(where))
    .filter((name) => name.startsWith('2'))
    .toSorted();
}

/** A run with a transcript in the usual place, which is told apart by when it began. */
async function runAt(server: Server, where: Scratch, stamp: string, args: readonly string[] = []) {
  const before = existsSync(runsIn(where)) ? namesIn(where) : [];
  const options = { env: serverEnv(server, where), cwd: where.workspace };
  const { code } = await runCli(['run', '-p', `Task of ${stamp}`, ...args], options);
  const made = namesIn(where).find((name) => !before.includes(name)) ?? '';
  const name = `${stamp}T000000-0123abcd`;
  renameSync(join(runsIn(where), made), join(runsIn(where), name));
  const transcript = join(runsIn(where), name, 'transcript.jsonl');
  const time = Date.parse(`${stamp.slice(0, 4)}-${stamp.slice(4, 6)}-${stamp.slice(6)}`) / 1000;
  utimesSync(transcript, time, time);
  return { code, name, transcript };
}

const runs = (where: Scratch, ...args: string[]) => runCli(['runs', ...args], { cwd: where.workspace });

describe('bosun runs list', () => {
  test('tells the newest first, with how each ended', async () => {
    const where = place();
    const server = await serve([done, { status: 400 }]);
    const old = await runAt(server, where, '20250101');
    const failed = await runAt(server, where, '20250301');
    const listed = await runs(where, 'list', '--json');
    expect(listed.code).toBe(0);
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { id: failed.name, status: 'model_error', exit_code: 7, prompt: 'Task of 20250301' },
      { id: old.name, status: 'completed', exit_code: 0, turns: 1, transcript: old.transcript },
    ]);
    const { stdout } = await runs(where, 'list');
    expect(stdout).toMatch(
      /^20250301T000000-0123abcd +model_error .*Task of 20250301\n20250101.* 1 turn .*\n$/,
    );
  });

  test('calls a run without a result interrupted, and lists nothing that is no run', async () => {
    const where = place();
    const folder = join(runsIn(where), '20250101T000000-0123abcd');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'transcript.jsonl'), '{"v":1,"seq":0,"type":"in');
    mkdirSync(join(runsIn(where), 'mine'));
    writeFileSync(join(runsIn(where), 'mine/transcript.jsonl'), '');
    const { stdout } = await runs(where, 'list', '--json');
    expect(JSON.parse(stdout)).toMatchObject([{ id: '20250101T000000-0123abcd', status: 'interrupted' }]);
  });

  test('says so where there are none', async () => {
    const where = place();
    expect(await runs(where, 'list')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'bosun: there are no runs here\n',
    });
  });
});

describe('bosun runs prune', () => {
  test.each([
    [['--keep', '1'], ['20250301']],
    [['--older-than', '30d'], []],
    [
      ['--keep', '2', '--older-than', '30d'],
      ['20250201', '20250301'],
    ],
    [
      ['--keep', '0', '--older-than', '99999d'],
      ['20250101', '20250201', '20250301'],
    ],
    [
      ['--keep', '1', '--dry-run'],
      ['20250101', '20250201', '20250301'],
    ],
  ])('%j leaves %j', async (args, left) => {
    const where = place();
    const server = await serve([done, done, done]);
    for (const stamp of ['20250101', '20250201', '20250301']) await runAt(server, where, stamp);
    const { code, stdout } = await runs(where, 'prune', ...args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/\d runs?, [\d.]+ (bytes|KiB) (would be )?removed\n$/);
    expect(namesIn(where).map((name) => name.slice(0, 8))).toEqual(left);
  });

  test('removes neither a run that goes on nor one that waits for an approval', async () => {
    const where = place();
    const ask = { parts: [call('write_file', { file_path: 'a', content: 'x' }, { id: 'a' })] };
    writeFileSync(join(where.home, 'ask.yaml'), 'version: 1\nmode: manual\non_ask: defer\n');
    const waiting = await runAt(await serve([ask]), where, '20250101', [
      '--policy',
      join(where.home, 'ask.yaml'),
    ]);
    expect(waiting.code).toBe(4);
    const server = await serve([{ ...done, hang: true }]);
    const options = { env: serverEnv(server, where), cwd: where.workspace };
    const going = startCli(['run', '-p', 'x'], options);
    await until(() => server.requests.length > 0, 'the request');
    const { code, stdout, stderr } = await runs(where, 'prune', '--keep', '0');
    expect([code, stdout]).toEqual([0, '0 runs, 0 bytes removed\n']);
    expect(stderr).toContain(`${waiting.name} stays: it waits for an approval`);
    expect(stderr).toContain('stays: it is still running');
    expect(namesIn(where)).toHaveLength(2);
    going.child.kill('SIGTERM');
    await going.done;
  });

  test('follows no link', async () => {
    const where = place({ 'elsewhere/20250101T000000-0123abcd/transcript.jsonl': '{}\n' });
    mkdirSync(join(where.workspace, '.bosun'));
    symlinkSync(join(where.workspace, 'elsewhere'), runsIn(where));
    const { code, stderr } = await runs(where, 'prune', '--keep', '0');
    expect([code, stderr]).toEqual([2, expect.stringMatching(/symbolic link/)]);
    expect(existsSync(join(where.workspace, 'elsewhere/20250101T000000-0123abcd'))).toBe(true);
  });

  test('wants to know which runs are old', async () => {
    const where = place();
    expect(await runs(where, 'prune')).toMatchObject({
      code: 2,
      stderr: 'bosun: error: nothing says which runs to remove. Give --keep 20, --older-than 30d, or both.\n',
    });
    expect(await runs(where, 'prune', '--older-than', '30')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--older-than.*'30'.*such as 30d or 12h/),
    });
  });
});

describe('runs.keep in a policy', () => {
  const policyIn = (where: Scratch) => {
    const file = join(where.home, 'keep.yaml');
    writeFileSync(file, 'version: 1\nruns: {keep: 2}\n');
    return ['--policy', file];
  };

  test('keeps the newest runs, the own one among them', async () => {
    const where = place();
    const server = await serve([done, done, done]);
    for (const stamp of ['20250101', '20250201']) await runAt(server, where, stamp);
    const options = { env: serverEnv(server, where), cwd: where.workspace };
    expect(await runCli(['run', '-p', 'x', ...policyIn(where)], options)).toMatchObject({ code: 0 });
    expect(namesIn(where).map((name) => name.slice(0, 6))).toEqual([
      '202502',
      expect.stringMatching(/^20[^2]|^202[6-9]/),
    ]);
  });

  test('removes nothing if the transcript is elsewhere', async () => {
    const where = place();
    const server = await serve([done, done, done, done]);
    for (const stamp of ['20250101', '20250201', '20250301']) await runAt(server, where, stamp);
    const options = { env: serverEnv(server, where), cwd: where.workspace };
    const args = ['run', '-p', 'x', '--transcript', where.transcript, ...policyIn(where)];
    expect(await runCli(args, options)).toMatchObject({ code: 0 });
    expect(namesIn(where)).toHaveLength(3);
  });
});
