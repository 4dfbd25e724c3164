import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { replayJson, replayJunit, replayPolicy, replayText } from '../../src/decisions/replay-policy.js';
import { bound } from '../helpers/bounds.js';
import { cpuMs } from '../helpers/cpu.js';
import { sh, tellRun, wrote, type ToldCall } from '../helpers/evidence.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

const rule = (id: string, ...commands: string[]) =>
  `  - {id: ${id}, tool: run_shell_command, command: [${commands.join(', ')}], decision: allow}\n`;
const policy = (...rules: string[]) => `version: 1\nmode: plan\nrules:\n${rules.join('')}`;

interface Wishes {
  readonly against?: string;
  readonly cwd?: string;
  readonly transcripts?: readonly string[];
}

async function replay(text: string, calls: readonly ToldCall[], wishes: Wishes = {}) {
  const { against, cwd } = wishes;
  ws.write('new.yaml', text);
  if (against !== undefined) ws.write('old.yaml', against);
  const transcripts = wishes.transcripts ?? [tellRun(ws.path(), { calls, cwd: ws.path() })];
  return replayPolicy({
    policies: ['./new.yaml'],
    against: against === undefined ? [] : ['./old.yaml'],
    mode: undefined,
    folder: ws.path(),
    transcripts,
    fallback: ws.path(),
    home: '/home/nobody',
    searchPath: process.env['PATH'],
    variables: {},
    ...(cwd !== undefined && { cwd }),
  });
}

describe('exit codes', () => {
  test('0 if nothing is decided otherwise', async () => {
    const { exitCode, same } = await replay(policy(rule('npm', 'npm test')), [sh('npm test')]);
    expect({ exitCode, same }).toEqual({ exitCode: 0, same: 1 });
  });

  test('3 if a call that succeeded would be denied', async () => {
    const summary = await replay(policy(rule('npm', 'npm test')), [sh('npm test'), sh('make x')]);
    expect(summary).toMatchObject({ exitCode: 3, same: 1, stricter: 1, refused: 1 });
  });

  test('0 if what would be refused was of no use then', async () => {
    const calls = [sh('make x', { exit: 1 }), sh('make y', { decision: 'deny' })];
    const summary = await replay(policy(rule('npm', 'npm test')), calls);
    expect(summary).toMatchObject({ exitCode: 0, same: 1, stricter: 1, refused: 0 });
  });

  test('3 if somebody would have to be asked and nobody is there', async () => {
    expect(await replay('version: 1\nmode: manual\n', [wrote('a')])).toMatchObject({ exitCode: 3 });
    const deferred = 'version: 1\nmode: manual\non_ask: defer\n';
    expect(await replay(deferred, [wrote('a')])).toMatchObject({ exitCode: 0, stricter: 1 });
  });

  test('looser than recorded is told, and no fault', async () => {
    const summary = await replay(policy(rule('npm', 'npm')), [sh('npm test', { decision: 'deny' })]);
    expect(summary).toMatchObject({ exitCode: 0, looser: 1 });
  });

  test('5 if something is looser than the old policy, whatever else is stricter', async () => {
    const summary = await replay(policy(rule('npm', 'npm test')), [sh('npm test'), sh('make x')], {
      against: policy(rule('make', 'make x')),
    });
    expect(summary).toMatchObject({ exitCode: 5, looser: 1, stricter: 1, refused: 1 });
    const only = await replay(policy(rule('npm', 'npm test')), [sh('npm test'), sh('make x')], {
      against: policy(rule('all', 'npm test', 'make x')),
    });
    expect(only).toMatchObject({ exitCode: 3, looser: 0 });
  });
});

test('a call that somebody said yes to was allowed', async () => {
  const asked = sh('make x', { decision: 'ask', answer: 'proceed_once' });
  const refused = sh('make y', { decision: 'ask', answer: 'cancel' });
  const summary = await replay(policy(rule('npm', 'npm test')), [asked, refused]);
  expect(summary).toMatchObject({ exitCode: 3, stricter: 2, refused: 1 });
});

test('calls whose arguments were redacted are named, and not judged', async () => {
  const summary = await replay(policy(rule('npm', 'npm test')), [sh('curl -H [redacted:token] x')]);
  expect(summary).toMatchObject({ exitCode: 0, same: 0, stricter: 0 });
  expect(replayText(summary)).toContain('its arguments were redacted');
  expect(replayJson(summary)).toMatchObject({
    not_judged: 1,
    unjudged: [{ tool_id: 'c0', why: 'its arguments were redacted' }],
  });
});

test('paths below the recorded workspace are taken below another', async () => {
  mkdirSync(ws.path('here/src'), { recursive: true });
  const was = '/somewhere/else';
  const calls = [wrote(`${was}/src/a.ts`), sh(`cat ${was}/src/a.ts ${was}x/b`), sh(`cat ${was}/src/a.ts`)];
  const text = `version: 1
shell: {read_scope: workspace}
rules:
  - {id: src, tool: write_file, path: ["src/**"], decision: allow}
${rule('cat', 'cat')}`;
  const transcripts = [tellRun(ws.path(), { calls, cwd: was })];
  const summary = await replay(text, [], { transcripts, cwd: ws.path('here') });
  expect(summary).toMatchObject({ same: 2, stricter: 1 });
});

test('differences are grouped by the rules on both sides', async () => {
  const calls = [sh('make a'), sh('make b'), sh('npm test'), sh('npm run x')];
  const summary = await replay(policy(rule('npm', 'npm test')), calls, {
    against: policy(rule('make', 'make'), rule('scripts', 'npm run x', 'npm test')),
  });
  expect(summary.groups.map(({ before, differences }) => [before.rule?.id, differences.length])).toEqual([
    ['make', 2],
    ['scripts', 1],
  ]);
  const text = replayText(summary);
  expect(text).toContain('4 calls of 1 transcript: 1 same, 3 stricter, 0 looser than the old policy');
  expect(text).toMatch(/before: allow by rule make \(.*old\.yaml:4\)/);
  expect(text).toContain('✗ make a');
});

test('a JUnit report is red where the exit code is about it', async () => {
  const summary = await replay(policy(rule('npm', 'npm test')), [
    sh('make "<x>"'),
    sh('make y', { exit: 2 }),
  ]);
  const xml = replayJunit(summary);
  expect(xml).toContain('tests="3" failures="1"');
  expect(xml.match(/<failure /g)).toHaveLength(1);
  expect(xml).toContain('make &quot;&lt;x&gt;&quot;');
});

describe('transcripts', () => {
  test('one that was changed cannot be used', async () => {
    const path = tellRun(ws.path(), { calls: [sh('npm test')], cwd: ws.path() });
    writeFileSync(path, readFileSync(path, 'utf8').replace('npm test', 'npm tost'));
    const replayed = replay(policy(rule('npm', 'npm test')), [], { transcripts: [path] });
    await expect(replayed).rejects.toMatchObject({
      status: 'config_error',
      message: expect.stringContaining(`${path} cannot be used: it was changed`),
    });
  });

  test('a folder stands for all below it, and a copy of a run for the run', async () => {
    mkdirSync(ws.path('batch/tasks/a/1'), { recursive: true });
    ws.write('batch/journal.jsonl', '{"v":1,"type":"batch"}\n');
    const run = tellRun(
      join(ws.path(), 'batch/tasks/a/1'),
      { calls: [sh('npm test')], cwd: ws.path() },
      'transcript.jsonl',
    );
    ws.write('batch/copy.jsonl', readFileSync(run, 'utf8'));
    const summary = await replay(policy(rule('npm', 'npm test')), [], { transcripts: [ws.path('batch')] });
    expect(summary).toMatchObject({ transcripts: 1, calls: 1 });
  });
});

test('1,000 different calls take less than a second of a processor', async () => {
  const calls = Array.from({ length: 1000 }, (_, i) =>
    i % 2 ? sh(`npm test -- case-${i} && git log -n ${i} src`) : wrote(`src/${i}.ts`),
  );
  const transcripts = [tellRun(ws.path(), { calls, cwd: ws.path() })];
  const started = cpuMs();
  const summary = await replay(policy(rule('some', 'npm test', 'git log')), [], { transcripts });
  bound(cpuMs() - started, 1000);
  expect(summary.calls).toBe(1000);
});

describe('another way of asking', () => {
  const asking = (onAsk: string) => `version: 1\nmode: manual\non_ask: ${onAsk}\n`;
  const program = (name: string) => `{command: [./${name}], timeout: 60s}`;

  test.each([
    ['deny', 'defer', { looser: 1, exitCode: 5 }],
    ['fail', program('a'), { looser: 1, exitCode: 5 }],
    ['defer', program('a'), { looser: 1, exitCode: 5 }],
    [program('a'), program('b'), { looser: 1, exitCode: 5 }],
    ['defer', 'deny', { stricter: 1, exitCode: 3 }],
    ['deny', 'fail', { same: 1, exitCode: 0 }],
    [program('a'), program('a'), { same: 1, exitCode: 0 }],
  ])('%s, then %s', async (old, now, expected) => {
    const calls = [wrote('a', { decision: 'ask', answer: 'proceed_once' })];
    expect(await replay(asking(now), calls, { against: asking(old) })).toMatchObject(expected);
  });
});

test('of two calls with one id, both are judged', async () => {
  const calls = [sh('make x', { id: 'twice' }), sh('npm test', { id: 'twice' })];
  const summary = await replay(policy(rule('npm', 'npm test')), calls);
  expect(summary).toMatchObject({ exitCode: 3, same: 1, refused: 1 });
});

test.each([
  ['run.jsonl', (text: string) => `X${text.slice(1)}`],
  ['run.jsonl', (text: string) => text.slice(1)],
  ['transcript.jsonl', (text: string) => text.slice(20)],
])('a damaged beginning of %s is not passed over in a folder', async (name, damage) => {
  mkdirSync(ws.path('runs/good'), { recursive: true });
  tellRun(ws.path('runs/good'), { calls: [sh('npm test')], cwd: ws.path() });
  mkdirSync(ws.path('runs/bad'));
  const path = tellRun(ws.path('runs/bad'), { calls: [sh('make x')], cwd: ws.path() }, name);
  writeFileSync(path, damage(readFileSync(path, 'utf8')));
  const replayed = replay(policy(rule('npm', 'npm test')), [], { transcripts: [ws.path('runs')] });
  await expect(replayed).rejects.toMatchObject({
    code: 'transcript',
    message: expect.stringContaining(`${path} cannot be used: `),
  });
});

test('one that is too large to be read is named with its size', async () => {
  const path = ws.path('huge.jsonl');
  writeFileSync(path, '');
  truncateSync(path, 3 * 2 ** 30);
  await expect(replay('version: 1\n', [], { transcripts: [path] })).rejects.toThrow(
    `${path} has 3221225472 bytes, more than 2147483647`,
  );
});
