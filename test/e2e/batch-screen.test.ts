import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { outOf, promptOf, runBatch, turnOf } from '../helpers/batch.js';
import { countOf } from '../helpers/counts.js';
import { call, text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { installed } from '../helpers/installed.js';
import { BIN, REPOSITORY, serverEnv, type Scratch } from '../helpers/run-cli.js';
import { FakeScreen } from '../helpers/screen.js';
import { place, serve } from '../helpers/served.js';

const when = installed('python3') ? test : test.skip;
const LONG = `src/${'a-rather-long-name-'.repeat(5)}漢字漢字👍.ts`;
const FILES = { 'src/a.ts': 'a\n', 'src/b.ts': 'b\n', [LONG]: 'c\n' };
const EACH = ['-p', 'Explain {{file}}', '--each', 'src/*.ts', '--name', 'each', '--policy', 'read-only'];

/** Two turns, slow enough to be seen; one task is refused by the provider. */
const slowly = (request: LoggedRequest) => {
  if (promptOf(request).includes('b.ts')) return { parts: [], finishReason: 'SAFETY', delayMs: 600 };
  if (turnOf(request) === 1) return { parts: [call('list_directory', { dir_path: '.' })], delayMs: 600 };
  return { parts: [text('Done.')], delayMs: 600 };
};

interface Watched {
  readonly screen: FakeScreen;
  readonly frames: readonly string[];
  readonly code: number | null;
}

/** `bosun batch run` on a terminal of a size, or of several. */
async function watch(
  url: string,
  where: Scratch,
  sizes: readonly string[],
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Watched> {
  const command = [process.execPath, BIN, 'batch', 'run', ...args, '-C', where.workspace];
  const model = ['-m', 'gemini-2.5-flash', '--out', outOf(where)];
  const helper = join(REPOSITORY, 'test/helpers/on-terminal.py');
  const child = spawn('python3', [helper, ...sizes, '--', ...command, ...model], {
    env: { ...serverEnv({ url }, where), TERM: 'xterm-256color', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pieces: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
  const [code] = (await once(child, 'close')) as [number | null];
  const [columns = 0, rows = 0] = (sizes[0] ?? '').split('x').map(Number);
  const screen = new FakeScreen(columns, rows);
  const frames: string[] = [];
  screen.onFrame = ({ text: shown }) => frames.push(shown);
  screen.write(Buffer.concat(pieces).toString('utf8'));
  return { screen, frames, code };
}

const WATCHED = countOf('WATCHED_TASKS');
const TABLE = /░|turn \d|so far/;

describe('on a terminal (needs python3)', () => {
  when.each([60, 80, 200].filter((_, i) => i % countOf('TABLE_EVERY') === 0))(
    'a batch shows what runs in %i columns, and leaves only lines',
    async (columns) => {
      const where = place(FILES);
      const server = await serve(slowly);
      const { screen, frames, code } = await watch(
        server.url,
        where,
        [`${columns}x24`],
        [...EACH, ...['--max-cost', '5']],
      );
      expect(code).toBe(13);
      expect(screen.wrapped.filter((line) => TABLE.test(line))).toEqual([]);
      const table = frames.join('\n');
      expect(table).toMatch(/^ {2}src\/a\.ts +turn 1 +waiting.* +\$\S+ +\S+ m?s$/m);
      expect(table).toMatch(/^ {2}src\/a\.ts +turn 2 /m);
      expect(table).toMatch(/░ 0\/3 {2}0 completed, 0 failed/);
      expect(table).toMatch(/\$0\.\d+ of \$5\.00 spent, /);
      expect(screen.text).not.toMatch(TABLE);
      expect(screen.text).toMatch(/^completed {2}src\/a\.ts {2}\(2 turns/m);
      expect(screen.text).toMatch(/^failed {5}src\/b\.ts {2}model_error/m);
      expect(screen.text.match(/^(completed|failed)/gm)).toHaveLength(3);
      expect(screen.text).toContain('3 tasks: 2 completed, 1 failed, 0 pending');
    },
  );

  when('a terminal that gets narrower and wider keeps one table, and all lines', async () => {
    const where = place(FILES);
    const server = await serve(slowly);
    const sizes = ['120x24', 'turn 1', '60x24', 'turn 2', '200x10'];
    const { screen } = await watch(server.url, where, sizes, EACH);
    expect(screen.columns).toBe(200);
    expect(screen.text).not.toMatch(TABLE);
    expect(screen.text.match(/^(completed|failed)/gm)).toHaveLength(3);
  });

  when('with JSON on stdout, and in a low window, the table still fits', async () => {
    const where = place(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`src/${i}.ts`, ''])));
    const server = await serve(slowly);
    const more = ['--concurrency', '20', '-o', 'json'];
    const { frames, screen } = await watch(server.url, where, ['80x8'], [...EACH, ...more]);
    const tables = frames.map((frame) => frame.split('\n').filter((line) => TABLE.test(line)).length);
    expect(Math.max(...tables)).toBeLessThan(8);
    expect(frames.join('\n')).toMatch(/^ {2}and 1\d more$/m);
    expect(screen.text).toMatch(/^\{"v":1,.*"type":"batch_result"/m);
    expect(screen.text.match(/^(completed|failed)/gm)).toHaveLength(20);
  });

  when('however many tasks there are, each leaves a line', async () => {
    const where = place();
    const rows = Array.from({ length: WATCHED }, (_, i) => JSON.stringify({ id: `t${i}`, n: i })).join('\n');
    const tasks = join(where.root, 'tasks.jsonl');
    writeFileSync(tasks, rows);
    const server = await serve(() => ({ parts: [text('Done.')] }));
    const { screen, frames, code } = await watch(
      server.url,
      where,
      ['80x24'],
      [
        ...[
          '-p',
          'Do {{n}}',
          '--tasks',
          tasks,
          '--name',
          'many',
          '--policy',
          'read-only',
          '--concurrency',
          '32',
        ],
      ],
    );
    expect(code).toBe(0);
    expect(screen.text).not.toMatch(TABLE);
    expect(new Set(screen.text.match(/^completed {2}t\d+/gm)).size).toBe(WATCHED);
    expect(frames.join('\n')).toMatch(/tasks\/min, .* so far, about .* left \(\d\d:\d\d\)/);
  });

  when('a job in CI gets no table', async () => {
    const where = place(FILES);
    const server = await serve(slowly);
    const { frames, screen } = await watch(server.url, where, ['80x24'], EACH, { CI: 'true' });
    expect(frames).toEqual([]);
    expect(screen.text).toMatch(/^completed {2}src\/a\.ts/m);
  });
});

test('in a log each task has one line, on stdout as text, else on stderr', async () => {
  const where = place(FILES);
  const server = await serve(slowly);
  const json = await runBatch(server, where, [...EACH, '-o', 'json']);
  expect(json.stderr.match(/(completed|failed) +src\//g)).toHaveLength(3);
  const beat = await runBatch(server, where, [
    ...EACH,
    '-o',
    'json',
    '--redo',
    '**',
    '--progress',
    'heartbeat',
  ]);
  expect(beat.stderr).not.toMatch(/(completed|failed) +src\//);
});
