import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { painter } from '../../src/lib/paint.js';
import { heartbeatReporter } from '../../src/reporters/heartbeat.js';
import { ProgressReporter, statusLine } from '../../src/reporters/progress.js';
import { Summary } from '../../src/reporters/summary.js';
import type { TranscriptLine } from '../../src/protocol/event.js';
import type { Todo } from '../../src/protocol/todo.js';
import { readTranscript } from '../../src/transcript/reader.js';
import { REPOSITORY } from '../helpers/run-cli.js';
import { until } from '../helpers/until.js';

const { lines } = readTranscript(join(REPOSITORY, 'fixtures/demo/recording.jsonl'));

function shown(statusLine: boolean, color: boolean): string {
  let text = '';
  const reporter = new ProgressReporter({
    write: (piece) => (text += piece),
    paint: painter(color),
    statusLine,
  });
  for (const line of lines) reporter.event(line);
  return text;
}

/** What stays on a screen that obeys carriage returns and «clear line». */
function onScreen(text: string): string[] {
  return text.split('\n').map((line) => line.slice(line.lastIndexOf('\u001b[2K') + 1).replace(/^\[2K/, ''));
}

describe('progress', () => {
  test('has a line for every call, the diff, and the result', () => {
    const text = shown(false, false);
    expect(text.match(/^✓ /gm)).toHaveLength(6);
    // The recording is of a version without titles.
    expect(text).toContain('✗ run_shell_command node --test (exit 1)');
    expect(text).toContain('+    const discount = quantity >= BULK_QUANTITY');
    expect(text).toMatch(/tokens +9055 \(8740 in, 315 out\)/);
    expect(text).not.toContain('\u001b');
  });

  test('on a terminal has a status line that leaves nothing behind', () => {
    const live = shown(true, false);
    expect(live).toContain('waiting for the model');
    expect(live).toContain('running: read_file');
    expect(onScreen(live).join('\n').trimEnd()).toBe(shown(false, false).trimEnd());
  });

  test('is in colour only if asked for', () => {
    expect(shown(false, true)).toContain('\u001b[32m');
  });
});

describe('the plan of the model', () => {
  const { v, seq, timestamp, session_id, prev } = lines[0] as (typeof lines)[number];
  const todos = (...statuses: Todo['status'][]): TranscriptLine => ({
    ...{ v, seq, timestamp, session_id, prev },
    type: 'todos',
    todos: statuses.map((status, i) => ({ description: `Step ${i}\n::error::x`, status })),
  });

  function said(line: TranscriptLine): string {
    let text = '';
    const write = (piece: string) => (text += piece);
    new ProgressReporter({ write, paint: painter(false), statusLine: false }).event(line);
    return text;
  }

  const cases: [Todo['status'][], string][] = [
    [['completed', 'in_progress', 'pending', 'cancelled'], '1 of 3 todos done, now: Step 1 ::error::x\n'],
    [['completed'], '1 of 1 todo done\n'],
    [[], ''],
  ];
  test.each(cases)('%j is one line', (statuses, expected) => {
    expect(said(todos(...statuses))).toBe(expected);
  });

  test('is in the status line as well', () => {
    const summary = new Summary();
    summary.add(todos('completed', 'pending'));
    expect(statusLine(summary, 1000)).toBe('turn 1, waiting for the model, 1 of 2 todos done, 1.0 s');
  });
});

describe('a request that is sent again', () => {
  const { v, seq, timestamp, session_id, prev } = lines[0] as (typeof lines)[number];
  const retry: TranscriptLine = {
    ...{ v, seq, timestamp, session_id, prev },
    type: 'retry',
    attempt: 2,
    wait_ms: 38_000,
    class: 'quota',
    model: 'm',
    message: 'HTTP 429:\nslow down; trying again in 38.0 s',
  };

  test('is in the status line until there is an answer', () => {
    const summary = new Summary();
    summary.add(retry);
    expect(statusLine(summary, 1000)).toBe('turn 1, trying again (quota, attempt 3), 1.0 s');
    for (const line of lines.slice(0, 3)) summary.add(line);
    expect(statusLine(summary, 1000)).not.toContain('trying again');
  });

  test('is a line of the log as well, where there is only a heartbeat', () => {
    const said: string[] = [];
    heartbeatReporter((line) => said.push(line)).event(retry);
    expect(said).toEqual(['HTTP 429: slow down; trying again in 38.0 s']);
  });
});

test('the heartbeat says where the run is until it ends', async () => {
  const said: string[] = [];
  const reporter = heartbeatReporter((line) => said.push(line), 5);
  for (const line of lines.slice(0, -1)) reporter.event(line);
  await until(() => said.length >= 2, 'two heartbeats');
  reporter.event(lines.at(-1) as (typeof lines)[number]);
  const count = said.length;
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(said).toHaveLength(count);
  expect(said[0]).toMatch(/^turn 5, waiting for the model, 9055 tokens, /);
});
