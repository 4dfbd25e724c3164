import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { sampled } from '../helpers/counts.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { cleanEnv, eventsOf, fileIn, ofType, resultOf, runCli, type Scratch } from '../helpers/run-cli.js';
import { bosunRun, place } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const SCRIPT = [
  {
    parts: [
      text('Writing.'),
      call('write_file', { file_path: 'out.txt', content: 'from the model\n' }, { id: 'w' }),
    ],
  },
  { parts: [call('run_shell_command', { command: 'cat out.txt' }, { thoughtSignature: 'c2ln' })] },
  { parts: [text('Done.')] },
];

async function recorded(): Promise<Scratch> {
  return (await bosunRun(SCRIPT, ['--mode', 'yolo'])).place;
}

const cli = (where: Scratch, ...args: string[]) =>
  runCli(args, { env: cleanEnv(where.home), cwd: where.workspace });

test('every opt-in event is written if asked for, in legal order, and the transcript is valid', async () => {
  const flags = ['--mode', 'yolo', '--include-thoughts', '--include-tool-state', '--include-tool-output'];
  const { place: where } = await bosunRun(SCRIPT, flags);
  const lines = eventsOf(where);
  const states = ofType(lines, 'tool_state').filter((line) => line.tool_id === 'w');
  expect(states.map((line) => line.state)).toEqual(['validating', 'scheduled', 'executing', 'success']);
  expect(ofType(lines, 'tool_output').map((line) => line.content)).toEqual(['from the model\n']);
  expect((await cli(where, 'verify', where.transcript)).code).toBe(0);
});

describe('what a call prints while it runs', () => {
  const printed = async (command: string) => {
    const script = [{ parts: [call('run_shell_command', { command })] }, { parts: [text('Done.')] }];
    const { place: where, code } = await bosunRun(script, ['--mode', 'yolo', '--include-tool-output']);
    expect(code).toBe(0);
    const outputs = ofType(eventsOf(where), 'tool_output');
    return outputs.map(({ content }) => content).join('');
  };

  test('is told to the byte: what is shown, and how much is not', async () => {
    const whole = Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join('');
    const content = await printed('seq 1 20000');
    // What is shown and how much is not, in turns: a mark may stand within a line.
    const parts = content.split(/\[… (\d+) bytes not shown …\]\n/);
    expect(parts.length).toBeGreaterThan(1);
    let at = 0;
    for (const [i, part] of parts.entries()) {
      if (i % 2 === 0) expect(part).toBe(whole.slice(at, at + part.length));
      at += i % 2 === 0 ? part.length : Number(part);
    }
    expect(at).toBe(whole.length);
    expect(parts.at(-1)).not.toBe('');
  });

  test('is not shown if it is binary', async () => {
    const command = "echo some text; sleep 0.3; printf '\\377\\000\\001'; head -c 90000 /dev/zero";
    // What was held back for the redaction comes with what follows.
    expect(await printed(command)).toMatch(/^some te?x?t?\n?\[binary output, not shown\]\n$/);
  });
});

test('by default it is in a folder of its own that git does not see, closed to others', async () => {
  const where = place();
  const recording = await recorded();
  const { code } = await cli(where, 'run', '--replay', recording.transcript, '--mode', 'yolo');
  expect(code).toBe(0);
  expect(readFileSync(join(where.workspace, '.bosun/runs/.gitignore'), 'utf8')).toBe('*\n');
});

test('a file of that name from an earlier run is set aside, not overwritten', async () => {
  const where = await recorded();
  const before = readFileSync(where.transcript);
  await cli(where, 'run', '--replay', where.transcript, '--transcript', where.transcript, '--mode', 'yolo');
  expect(readFileSync(`${where.transcript}.1`)).toEqual(before);
  expect((await cli(where, 'verify', where.transcript)).code).toBe(0);
});

describe('verify', () => {
  const damages: [string, (bytes: string) => string, RegExp][] = [
    ['a changed byte', (s) => s.replace('from the model', 'from the hacker'), /hash chain is broken/],
    ['a missing line', (s) => s.split('\n').toSpliced(3, 1).join('\n'), /line 4: the hash chain is broken/],
    [
      'swapped lines',
      (s) =>
        s
          .split('\n')
          .toSpliced(2, 2, s.split('\n')[3] ?? '', s.split('\n')[2] ?? '')
          .join('\n'),
      /hash chain/,
    ],
    ['a torn last line', (s) => s.slice(0, -20), /was not finished/],
    ['missing lines at the end', (s) => `${s.trimEnd().split('\n').slice(0, -1).join('\n')}\n`, /no result/],
    ['a line that is not JSON', (s) => s.replace('{"v":1,"seq":2', '{"v":1,"seq":2,,'), /:3: not an event/],
    ['an empty file', () => '', /no complete event/],
  ];
  sampled.each(damages)('finds %s: exit 5 and one line', async (_what, damage, message) => {
    const where = await recorded();
    writeFileSync(where.transcript, damage(readFileSync(where.transcript, 'utf8')));
    const { code, stderr, stdout } = await cli(where, 'verify', where.transcript);
    expect([code, stdout]).toEqual([5, '']);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  test('finds an event that does not fit the schema', async () => {
    const where = place();
    const line = {
      v: 1,
      seq: 0,
      timestamp: '2026-01-01T00:00:00.000Z',
      session_id: 's',
      type: 'thought',
      turn: -1,
      content: 'x',
      extra: 1,
      prev: '0'.repeat(64),
    };
    writeFileSync(where.transcript, `${JSON.stringify(line)}\n`);
    const { code, stderr } = await cli(where, 'verify', where.transcript);
    expect(code).toBe(5);
    expect(stderr).toMatch(/line 1: not valid/);
  });
});

describe('replay', () => {
  test('says the turns again while tools really run', async () => {
    const recording = await recorded();
    const where = place();
    const args = [
      'run',
      '--replay',
      recording.transcript,
      '--mode',
      'yolo',
      '--transcript',
      where.transcript,
    ];
    const { code, stdout } = await cli(where, ...args);
    expect([code, stdout]).toEqual([0, 'Done.\n']);
    expect(fileIn(where, 'out.txt')).toBe('from the model\n');
    const turns = (scratch: Scratch) => ofType(eventsOf(scratch), 'turn').map((line) => line.content);
    expect(turns(where)).toEqual(turns(recording));
    expect(eventsOf(where)[0]).toMatchObject({ provider: 'replay', auth: 'none' });
  });

  test('is decided by the mode of this run, not by that of the recording', async () => {
    const recording = await recorded();
    const where = place();
    const { code } = await cli(
      where,
      'run',
      '--replay',
      recording.transcript,
      '--transcript',
      where.transcript,
    );
    expect([code, resultOf(where).denials.length]).toEqual([3, 2]);
    expect(existsSync(join(where.workspace, 'out.txt'))).toBe(false);
  });

  test('of a cut recording says so, and that it ran out', async () => {
    const recording = await recorded();
    const whole = readFileSync(recording.transcript, 'utf8');
    writeFileSync(recording.transcript, whole.slice(0, whole.lastIndexOf('"type":"turn"') + 20));
    const where = place();
    const args = [
      'run',
      '--replay',
      recording.transcript,
      '--mode',
      'yolo',
      '--transcript',
      where.transcript,
    ];
    const { code, stderr } = await cli(where, ...args);
    expect([code, resultOf(where).reason]).toEqual([7, 'recording_exhausted']);
    expect(stderr).toMatch(/is cut off after line/);
  });

  const unusable: [string, (where: Scratch) => string, RegExp][] = [
    ['that is not there', () => '/no/such.jsonl', /cannot be read/],
    [
      'that is no transcript',
      (where) => (writeFileSync(join(where.root, 'x'), 'hello\n'), join(where.root, 'x')),
      /not an event/,
    ],
    [
      'without turns',
      (where) => (writeFileSync(join(where.root, 'x'), '{"type":"init"}\n'), join(where.root, 'x')),
      /no turn/,
    ],
    [
      'without what the model said',
      (where) => (writeFileSync(join(where.root, 'x'), '{"type":"turn","index":0}\n'), join(where.root, 'x')),
      /does not contain what the model said/,
    ],
  ];
  sampled.each(unusable)('of a file %s is exit 2 with one line', async (_what, make, message) => {
    const where = place();
    const { code, stderr } = await cli(
      where,
      'run',
      '--replay',
      make(where),
      '-p',
      'x',
      '--transcript',
      where.transcript,
    );
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(resultOf(where).status).toBe('config_error');
  });
});

describe('report', () => {
  test('shows calls, diffs and the result for people', async () => {
    const where = await recorded();
    const { code, stdout } = await cli(where, 'report', where.transcript);
    expect(code).toBe(0);
    expect(stdout).toContain('✓ Write out.txt');
    expect(stdout).toContain('+from the model');
    expect(stdout).toMatch(/status +completed, exit 0/);
  });

  test('prints what the run printed, in its formats', async () => {
    const { place: where, stdout: live } = await bosunRun(SCRIPT, ['--mode', 'yolo', '-o', 'stream-json']);
    expect((await cli(where, 'report', where.transcript, '-o', 'stream-json')).stdout).toBe(live);
    expect((await cli(where, 'report', where.transcript, '-o', 'text')).stdout).toBe('Done.\n');
    expect((await cli(where, 'report', where.transcript, '-o', 'json')).stdout).toBe(
      `${live.trimEnd().split('\n').at(-1)}\n`,
    );
  });

  test('of a run without a result shows what there is, and is exit 2', async () => {
    const where = await recorded();
    writeFileSync(where.transcript, readFileSync(where.transcript, 'utf8').slice(0, -30));
    const { code, stdout, stderr } = await cli(where, 'report', where.transcript);
    expect(code).toBe(2);
    expect(stdout).toContain('✓ Write out.txt');
    expect(stderr).toMatch(/has no result/);
  });

  test('of garbage is exit 2 with one line', async () => {
    const where = await recorded();
    appendFileSync(where.transcript, 'garbage\n');
    const { code, stderr } = await cli(where, 'report', where.transcript);
    expect(code).toBe(2);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});
