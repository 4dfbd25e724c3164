import { closeSync, openSync, writeSync } from 'node:fs';
import { sha256 } from '../../src/lib/ids.js';
import { toJsonLine } from '../../src/lib/jsonl.js';
import type { InitEvent, ResultEvent, RunEvent, RunStats, TranscriptLine } from '../../src/protocol/event.js';
import { NO_PREVIOUS } from '../../src/transcript/writer.js';

const BEGIN = Date.UTC(2026, 10, 16, 7, 11, 1);

/** An event, and when it was: milliseconds since the run began. */
export type Timed = readonly [at: number, event: RunEvent];

/** Events as a run would have stamped them, each chained to the one before. */
export function* stamped(events: Iterable<Timed>): Generator<TranscriptLine> {
  let seq = 0;
  let prev = NO_PREVIOUS;
  for (const [at, event] of events) {
    const timestamp = new Date(BEGIN + at).toISOString();
    const line: TranscriptLine = {
      v: 1,
      seq: seq++,
      timestamp,
      session_id: '20261116T071101-0badcafe',
      ...event,
      prev,
    };
    prev = sha256(toJsonLine(line));
    yield line;
  }
}

/** Writes them down as a transcript; gives back its size. */
export function record(path: string, events: Iterable<Timed>): number {
  const file = openSync(path, 'w');
  let bytes = 0;
  for (const line of stamped(events)) bytes += writeSync(file, `${toJsonLine(line)}\n`);
  closeSync(file);
  return bytes;
}

export const INIT: InitEvent = {
  type: 'init',
  version: '0.1.0',
  schema_version: 1,
  model: 'gemini-2.5-pro',
  provider: 'gemini',
  auth: 'api_key',
  cwd: '/home/runner/work/shop/shop',
  git_head: '4eeab32c1d0f5b7f4f8f0d6a8e7b6c5d4e3f2a1b',
  policy: [
    { file: 'ci/bosun.yaml', sha256: 'd3cf8368ca162d9e57ee782ba485d244c5009f6cfb9f8ac5725f99167ca59869' },
  ],
  mode: 'auto_edit',
  limits: {
    turns: 600,
    tool_calls: 2000,
    time_ms: 3_600_000,
    retry_time_ms: 300_000,
    parallel: 8,
    tool_output: 40_000,
    stored_output: 268_435_456,
    denials: 10,
  },
  tools: ['read_file', 'run_shell_command'],
  mcp_servers: [],
  sandbox: { mode: 'off', active: false, backend: null, reason: 'not asked for' },
  effective_policy: [],
  system: 'You are Bosun.',
};

export const STATS: RunStats = {
  turns: 0,
  retries: 0,
  tool_calls: 0,
  tools: {},
  models: {},
  duration_ms: 0,
  model_duration_ms: 0,
  retry_wait_ms: 0,
  tool_duration_ms: 0,
  files_changed: 0,
  lines_added: 0,
  lines_removed: 0,
};

export function result(extra: Partial<ResultEvent> = {}): ResultEvent {
  return {
    type: 'result',
    status: 'completed',
    exit_code: 0,
    response: 'Done.',
    stats: STATS,
    denials: [],
    pending: [],
    warnings: [],
    ...extra,
  };
}

const TOOLS = ['read_file', 'search_file_content', 'run_shell_command', 'replace', 'glob'] as const;
const WORDS = 'cart total price tax item order test expect return const export function import await'.split(
  ' ',
);

export interface LongRun {
  readonly calls: number;
  /** Characters of each output. */
  readonly output: number;
}

/** A run of many calls, two in a turn: the same one each time. Some fail, some are refused, some turns are retried. */
export function* longRun({ calls, output }: LongRun): Generator<Timed> {
  const next = numbers();
  let at = 0;
  yield [at, INIT];
  yield [at, { type: 'message', role: 'user', content: 'Move the whole shop to integers for money.' }];
  const turns = Math.ceil(calls / 2);
  for (let turn = 0; turn < turns; turn++) {
    if (turn % 60 === 17) {
      yield [at, retry(next(4000))];
      at += 4000;
    }
    const latency_ms = 400 + next(2600);
    at += latency_ms;
    yield [at, turnEvent(turn, latency_ms, next)];
    for (let i = turn * 2; i < Math.min(calls, turn * 2 + 2); i++)
      yield* callEvents(i, turn, at, output, next);
    at += 700;
  }
  at += 900;
  const stats = {
    ...STATS,
    turns,
    tool_calls: calls,
    duration_ms: at,
    total_tokens: 9_200_000,
    cost_usd: 4.31,
  };
  yield [at, result({ response: 'All amounts are integers now.', stats })];
}

function retry(wait_ms: number): RunEvent {
  const message = 'the server is overloaded (503); asking again';
  return { type: 'retry', attempt: 1, wait_ms, class: 'unavailable', model: INIT.model, message };
}

function turnEvent(index: number, latency_ms: number, next: (below: number) => number): RunEvent {
  const prompt = 4000 + index * 180;
  const output = 40 + next(400);
  return {
    type: 'turn',
    index,
    model: INIT.model,
    finish_reason: 'STOP',
    latency_ms,
    usage: { prompt, cached: Math.floor(prompt * 0.8), output, thoughts: next(300), total: prompt + output },
    cost_usd: prompt * 4e-7 + output * 1e-5,
    content: { role: 'model', parts: [{ text: `Step ${index + 1}: look further.` }] },
  };
}

function* callEvents(
  i: number,
  turn: number,
  at: number,
  output: number,
  next: (below: number) => number,
): Generator<Timed> {
  const tool_id = `call_${i + 1}`;
  const tool_name = TOOLS[i % TOOLS.length] as string;
  const isShell = tool_name === 'run_shell_command';
  const refused = i % 97 === 42;
  const duration_ms = refused ? 0 : 3 + next(600);
  const parameters = isShell ? { command: `npm test -- part-${i}` } : { file_path: `src/part-${i}.ts` };
  yield [at, { type: 'tool_use', tool_name, tool_id, parameters, kind: isShell ? 'execute' : 'read', turn }];
  const rule = { id: 'tests', file: 'ci/bosun.yaml', line: 7 };
  const reason = refused ? 'the network is not to be used' : 'tests may be run';
  yield [at, { type: 'policy_decision', tool_id, decision: refused ? 'deny' : 'allow', rule, reason }];
  const end = at + duration_ms;
  if (refused) {
    const error = { type: 'policy_denied', message: `Denied by rule tests: ${reason}.` } as const;
    yield [end, { type: 'tool_result', tool_id, status: 'error', error, duration_ms }];
    return;
  }
  const process = isShell ? { process: { exit_code: i % 31 === 2 ? 1 : 0, signal: null } } : {};
  const text = sentence(output, next);
  yield [end, { type: 'tool_result', tool_id, status: 'success', output: text, duration_ms, ...process }];
}

/** Text that packs about as well as source code does. */
function sentence(length: number, next: (below: number) => number): string {
  let text = '';
  while (text.length < length) {
    text += `${WORDS[next(WORDS.length)]}${next(5) === 0 ? `_${next(1e6).toString(36)};\n` : ' '}`;
  }
  return text.slice(0, length);
}

/** Numbers that look random and are the same in every run. */
function numbers(): (below: number) => number {
  let state = 42;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
