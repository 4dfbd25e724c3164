import { describe, expect, test } from '@jest/globals';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { sampled } from '../helpers/counts.js';
import { call, text } from '../helpers/gemini-server.mjs';
import {
  cleanEnv,
  resultOf,
  runAgainst,
  runArgs,
  runCli,
  serverEnv,
  startCli,
  type Scratch,
} from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { endProcess } from '../helpers/processes.js';
import { until } from '../helpers/until.js';
import { parseJunit } from '../helpers/xml.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const shell = (command: string) => ({ parts: [call('run_shell_command', { command })] });

/** The reports that can be files, and the flags for them in a place. */
const FILES = { junit: 'report.xml', markdown: 'report.md', html: 'report.html' } as const;
type Name = keyof typeof FILES;
const NAMES = Object.keys(FILES) as Name[];
const fileOf = (where: Scratch, name: Name) => join(where.root, 'reports', FILES[name]);
/** Nobody but the user makes the folder. */
function flagsFor(where: Scratch): string[] {
  mkdirSync(join(where.root, 'reports'), { recursive: true });
  return NAMES.flatMap((name) => ['--reporter', `${name}=${fileOf(where, name)}`]);
}

/** Whatever the run wrote, `bosun report` writes as well. */
async function expectSameLater(where: Scratch): Promise<void> {
  for (const name of NAMES) {
    const later = await runCli(['report', where.transcript, `--${name}`], { env: cleanEnv(where.home) });
    expect(later.stdout).toBe(readFileSync(fileOf(where, name), 'utf8'));
  }
}

describe('reports of a run', () => {
  test('are the same live and from the transcript', async () => {
    const where = place();
    const server = await serve([shell('id'), done]);
    const { code } = await runAgainst(server, where, ['-p', 'Do it.\nNow.', ...flagsFor(where)]);
    expect(code).toBe(3);
    await expectSameLater(where);
    const [suite] = parseJunit(readFileSync(fileOf(where, 'junit'), 'utf8')).children;
    const cases = suite?.children.filter(({ name }) => name === 'testcase') ?? [];
    expect(
      cases.map(({ attributes, children }) => [attributes['name'], children[0]?.attributes['type']]),
    ).toEqual([
      ['Do it. Now.', 'denied.calls_refused'],
      ['Run id (run_shell_command)', 'denied'],
    ]);
  });

  test('are there when a signal ends the run', async () => {
    const where = place();
    const server = await serve([shell('echo up > started; sleep 60'), done]);
    const { child, done: ended } = startCli(
      runArgs(where, ['-p', 'x', '--mode', 'yolo', ...flagsFor(where)]),
      { env: serverEnv(server, where) },
    );
    await until(() => existsSync(join(where.workspace, 'started')), 'the command');
    child.kill('SIGTERM');
    expect((await ended).code).toBe(143);
    await expectSameLater(where);
    expect(readFileSync(fileOf(where, 'junit'), 'utf8')).toContain('type="cancelled.SIGTERM"');
  });

  test('are of the whole run when it was resumed', async () => {
    const where = place();
    const broken = await serve([shell('id'), { status: 401, body: {} }]);
    await runAgainst(broken, where, ['-p', 'x']);
    const server = await serve([shell('whoami'), done]);
    const { code } = await runCli(['resume', where.transcript, ...flagsFor(where)], {
      env: serverEnv(server, where),
    });
    expect([code, resultOf(where).denials.length]).toEqual([3, 2]);
    await expectSameLater(where);
    expect(readFileSync(fileOf(where, 'junit'), 'utf8')).toMatch(
      /tests="3".*\n(.*\n)*.*"Run id \((.*\n)*.*"Run whoami \(/,
    );
  });

  test('tell of a run that could not begin', async () => {
    const where = place();
    for (const args of [
      ['-p', 'x', '--frobnicate'],
      ['-p', ' '],
      ['-p', 'x', '-C', '/nope'],
    ]) {
      const { code } = await runCli(['run', ...args, ...flagsFor(where)], {
        env: cleanEnv(where.home, { GEMINI_API_KEY: 'k' }),
      });
      expect(code).toBe(2);
      const junit = readFileSync(fileOf(where, 'junit'), 'utf8');
      expect(parseJunit(junit).attributes).toMatchObject({ tests: '1', errors: '1' });
    }
  });

  test('replace those of earlier runs, also if there will be none', async () => {
    const where = place();
    mkdirSync(join(where.root, 'reports'), { recursive: true });
    writeFileSync(fileOf(where, 'junit'), 'of yesterday');
    const server = await serve([shell('echo $$ > pid; mv pid started; exec sleep 60')]);
    const { child, done: ended } = startCli(
      runArgs(where, ['-p', 'x', '--mode', 'yolo', ...flagsFor(where)]),
      { env: serverEnv(server, where) },
    );
    await until(() => existsSync(join(where.workspace, 'started')), 'the command');
    child.kill('SIGKILL');
    await ended;
    endProcess(Number(readFileSync(join(where.workspace, 'started'), 'utf8')));
    expect(readdirSync(join(where.root, 'reports'))).toEqual([]);
  });

  test('have the rights that the umask gives, and leave nothing else behind', async () => {
    const before = process.umask(0o027);
    try {
      const where = place();
      const server = await serve([done]);
      const args = ['-p', 'x', ...flagsFor(where)];
      const { code } = await runAgainst(server, where, args, { ownProcess: true });
      expect(code).toBe(0);
      expect(readdirSync(join(where.root, 'reports')).sort()).toEqual(Object.values(FILES).sort());
      for (const name of NAMES) expect(statSync(fileOf(where, name)).mode & 0o777).toBe(0o640);
    } finally {
      process.umask(before);
    }
  });

  test.each([['--junit'], ['--html'], ['--junit', 'all.xml']])(
    'of several runs are not one: %s',
    async (...flags) => {
      const recording = join(import.meta.dirname, '../../fixtures/demo/recording.jsonl');
      const where = place();
      const { code, stdout, stderr } = await runCli(['report', recording, recording, ...flags], {
        env: cleanEnv(where.home),
        cwd: where.root,
      });
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain('is one document, but there are 2 transcripts');
    },
  );

  test('go where a link leads', async () => {
    const where = place();
    mkdirSync(join(where.root, 'reports'), { recursive: true });
    symlinkSync('../kept', fileOf(where, 'junit'));
    const server = await serve([done]);
    await runAgainst(server, where, ['-p', 'x', ...flagsFor(where)]);
    expect(readFileSync(join(where.root, 'kept'), 'utf8')).toContain('<testsuites');
    expect(lstatSync(fileOf(where, 'junit')).isSymbolicLink()).toBe(true);
  });

  test('are not written by the model', async () => {
    const where = place();
    const target = join(where.workspace, 'report.xml');
    const forged = { parts: [call('write_file', { file_path: 'report.xml', content: 'all green' })] };
    const server = await serve([forged, done]);
    const flags = ['--mode', 'yolo', '--reporter', `junit=${target}`];
    const { code } = await runAgainst(server, where, ['-p', 'x', ...flags]);
    expect([code, resultOf(where).denials[0]?.reason]).toEqual([
      3,
      'report.xml is protected and never written',
    ]);
    expect(parseJunit(readFileSync(target, 'utf8')).attributes['failures']).toBe('2');
  });
});

describe('a report that cannot be written', () => {
  const cases: [string, (where: Scratch) => string[], RegExp][] = [
    ['is unknown', () => ['xml=x'], /there is no reporter "xml"/],
    ['has no file', () => ['junit'], /names no file\. Write junit=FILE/],
    ['has an empty name', () => ['junit='], /names no file/],
    ['is a folder', (where) => [`junit=${where.root}`], /it is a directory/],
    ['is below a file', (where) => [`junit=${where.home}/../file/x`], /file is not a folder/],
    ['is written twice', (where) => [`junit=${where.root}/a`, `junit=${where.root}/./a`], /two reports/],
    ['is the transcript', (where) => [`junit=${where.transcript}`], /transcript/],
  ];
  sampled.each(cases)('because it %s is exit 2 before anything happens', async (_, targets, message) => {
    const where = place();
    writeFileSync(join(where.root, 'file'), '');
    const server = await serve([done]);
    const flags = targets(where).flatMap((target) => ['--reporter', target]);
    const { code, stderr } = await runAgainst(server, where, ['-p', 'x', ...flags]);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(server.requests).toHaveLength(0);
  });

  test('at the end is a warning', async () => {
    const where = place();
    const reports = join(where.workspace, 'reports');
    mkdirSync(reports);
    const server = await serve([shell(`mv reports old && ln -s old reports`), done]);
    const flags = ['--reporter', `junit=${reports}/r.xml`, '--mode', 'yolo'];
    const { code, stderr } = await runAgainst(server, where, ['-p', 'x', ...flags]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/warn: the junit report .* could not be written: .*leads elsewhere/);
    expect(readdirSync(join(where.workspace, 'old'))).toEqual([]);
  });
});
