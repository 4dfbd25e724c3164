import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { UNBOUNDED } from '../../src/lib/output-room.js';
import { Redactor } from '../../src/lib/redact/redactor.js';
import type { Call } from '../../src/protocol/call.js';
import type { Decision, DecisionRequest, Policy } from '../../src/protocol/decision.js';
import type { RunEvent } from '../../src/protocol/event.js';
import type { Kind } from '../../src/protocol/kind.js';
import type { ExecuteContext, Tool, ToolReport } from '../../src/protocol/tool.js';
import { Denials } from '../../src/scheduler/denials.js';
import { createScheduler, type SchedulerDeps } from '../../src/scheduler/scheduler.js';
import { bound } from '../helpers/bounds.js';

const folder = mkdtempSync(join(tmpdir(), 'bosun-scheduler-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Execute = (params: Record<string, unknown>, context: ExecuteContext) => Promise<ToolReport>;

function tool(name: string, kind: Kind, execute: Execute): Tool {
  return {
    name,
    displayName: name,
    aliases: [],
    kind,
    description: name,
    parameters: {},
    prepare: () => {},
    build: async (raw) => {
      const params = raw as Record<string, unknown>;
      if (params['bad']) return { ok: false, error: { type: 'invalid_tool_params', message: 'bad' } };
      return {
        ok: true,
        invocation: {
          params,
          paths: [],
          describe: () => name,
          confirmation: async () => ({ type: 'info', description: name }),
          execute: (context) => execute(params, context),
        },
      };
    },
  };
}

const call = (name: string, args: object = {}, id = name): Call => ({ id, wireId: id, name, args, turn: 0 });
const allow: Decision = { decision: 'allow', rule: null, reason: 'ok' };

function setUp(
  tools: Tool[],
  overrides: Partial<SchedulerDeps> = {},
  decide: (request: DecisionRequest) => Decision = () => allow,
) {
  const events: RunEvent[] = [];
  const policy: Policy = {
    decide: async (request) => decide(request),
    shellText: async (line) => line,
    admits: () => true,
    mayOffer: () => true,
    boundary: { hides: () => false, protects: () => false },
    network: { fault: () => undefined, allowsPrivate: () => false },
    summary: 'Do nothing.',
    describe: () => undefined,
  };
  const denials = new Denials(10);
  const scheduler = createScheduler({
    findTool: (name) => tools.find((candidate) => candidate.name === name),
    absentTool: () => undefined,
    toolNames: tools.map(({ name }) => name),
    dryRun: false,
    isLost: () => false,
    redactor: new Redactor({ secrets: () => [] }),
    policy,
    denials,
    ask: async () => ({ type: 'refused', error: { type: 'approval_denied', message: 'nobody' } }),
    admitCall: () => undefined,
    parallel: 8,
    emit: (event) => events.push(event),
    onState: () => {},
    onLive: () => {},
    outputCap: 1000,
    outputRoom: UNBOUNDED,
    outputPath: (id) => ({ path: join(folder, id), shown: `shown/${id}` }),
    ...overrides,
  });
  return { scheduler, events, denials };
}

/** Tools that say when they start and end, and end only when told to. */
function traced() {
  const trace: string[] = [];
  const execute: Execute = async ({ name, ticks = 1 }) => {
    trace.push(`+${String(name)}`);
    for (let i = 0; i < Number(ticks); i++) await new Promise(setImmediate);
    trace.push(`-${String(name)}`);
    return { ok: true, content: String(name) };
  };
  return { trace, tools: [tool('look', 'search', execute), tool('change', 'edit', execute)] };
}
const look = (name: string, ticks = 1) => call('look', { name, ticks }, name);
const change = (name: string, ticks = 1) => call('change', { name, ticks }, name);
const idle = new AbortController().signal;

test('reads run side by side, mutators alone and in order, results in call order', async () => {
  const { trace, tools } = traced();
  const { scheduler } = setUp(tools);
  const calls = [look('a', 9), look('b', 1), change('c', 3), change('d', 1), look('e', 5), look('f', 1)];
  const results = await scheduler.run(calls, idle);
  expect(results.map(({ output }) => output)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  expect(trace.join(' ')).toBe('+a +b -b -a +c -c +d -d +e +f -f -e');
});

const beside = (names: readonly string[]) => (request: DecisionRequest) =>
  names.includes(String(request.params['name'])) ? { ...allow, parallel: true as const } : allow;

test('mutators that may run beside others do, up to one that may not', async () => {
  const { trace, tools } = traced();
  const { scheduler } = setUp(tools, {}, beside(['a', 'c', 'e']));
  const calls = [change('a', 9), look('b', 5), change('c', 1), change('d', 2), change('e', 3), look('f', 1)];
  const results = await scheduler.run(calls, idle);
  expect(results.map(({ output }) => output)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  expect(trace.join(' ')).toBe('+a +b +c -c -b -a +d -d +e +f -f -e');
});

test('calls that touch the same file keep their order, whatever they may do', async () => {
  const { trace, tools } = traced();
  const touching = tools.map((one): Tool => ({
    ...one,
    build: async (raw) => {
      const built = await one.build(raw);
      const { path } = raw as { path: string };
      const access = one.kind === 'edit' ? 'write' : 'read';
      return built.ok
        ? { ok: true, invocation: { ...built.invocation, paths: [{ path, real: path, access }] } }
        : built;
    },
  }));
  const { scheduler } = setUp(touching, {}, () => ({ ...allow, parallel: true }));
  const on = (tool: string, name: string, path: string, ticks = 1) => call(tool, { name, path, ticks }, name);
  await scheduler.run(
    [
      on('change', 'a', '/w/x', 9),
      on('change', 'b', '/w/y', 5),
      on('look', 'c', '/w/x'),
      on('look', 'd', '/w'),
      on('change', 'e', '/w/z'),
    ],
    idle,
  );
  expect(trace.join(' ')).toBe('+a +b -b -a +c +d -c -d +e -e');
});

test('no more than the limit run at a time', async () => {
  let running = 0;
  let most = 0;
  const execute: Execute = async () => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    running--;
    return { ok: true, content: '' };
  };
  const { scheduler } = setUp([tool('look', 'read', execute)], { parallel: 3 });
  await scheduler.run(
    Array.from({ length: 20 }, (_, i) => look(String(i))),
    idle,
  );
  expect(most).toBe(3);
});

test('all calls are decided before the first one starts', async () => {
  const order: string[] = [];
  const execute: Execute = async () => {
    order.push('run');
    return { ok: true, content: '' };
  };
  const { scheduler } = setUp([tool('look', 'read', execute)], {}, () => {
    order.push('decide');
    return allow;
  });
  await scheduler.run([look('a'), look('b')], idle);
  expect(order).toEqual(['decide', 'decide', 'run', 'run']);
});

describe('one failure does not touch another call', () => {
  const cases: [string, Execute, string][] = [
    [
      'a report',
      async () => ({ ok: false, error: { type: 'file_not_found', message: 'gone' } }),
      'file_not_found',
    ],
    ['an exception', () => Promise.reject(new Error('boom')), 'unhandled_exception'],
    [
      'a synchronous exception',
      () => {
        throw new TypeError('boom');
      },
      'unhandled_exception',
    ],
  ];
  test.each(cases)('%s', async (_what, execute, type) => {
    const { tools } = traced();
    const { scheduler } = setUp([...tools, tool('broken', 'edit', execute)]);
    const results = await scheduler.run([look('a'), call('broken'), change('b')], idle);
    expect(results.map(({ status, error }) => error?.type ?? status)).toEqual(['success', type, 'success']);
  });
});

test('every way a call can be refused has its own type, and only denials are denials', async () => {
  const { tools } = traced();
  const { scheduler, events, denials } = setUp(tools, {}, ({ params }) => ({
    ...allow,
    decision: (params['want'] as 'ask') ?? 'allow',
  }));
  const results = await scheduler.run(
    [
      call('lok'),
      call('look', { bad: true }, '2'),
      call('look', { want: 'deny' }, '3'),
      call('look', { want: 'ask' }, '4'),
    ],
    idle,
  );
  expect(results.map(({ error }) => error?.type)).toEqual([
    'tool_not_registered',
    'invalid_tool_params',
    'policy_denied',
    'approval_denied',
  ]);
  expect(results[0]?.error?.message).toContain('Did you mean look?');
  expect(denials.all.map(({ tool_id }) => tool_id)).toEqual(['3', '4']);
  expect(events.filter(({ type }) => type === 'tool_result')).toHaveLength(4);
});

test('an abort reaches the running call, cancels the queued ones, and starts nothing any more', async () => {
  const stop = new AbortController();
  const started: unknown[] = [];
  const execute: Execute = (params, { signal }) => {
    started.push(params['name']);
    return new Promise((resolve) =>
      signal.addEventListener('abort', () =>
        resolve({ ok: false, error: { type: 'cancelled', message: 'stopped' } }),
      ),
    );
  };
  const { scheduler } = setUp([tool('change', 'execute', execute)]);
  const running = scheduler.run([change('a'), change('b')], stop.signal);
  setImmediate(() => stop.abort());
  expect((await running).map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
  expect(started).toEqual(['a']);
});

test('a call that changes something is announced before it begins, and does not begin if that fails', async () => {
  const { trace, tools } = traced();
  const stop = new AbortController();
  const said: string[] = [];
  const { scheduler } = setUp(tools, {
    emit: (event) => {
      if (event.type === 'tool_start') said.push(`${event.tool_id} after ${trace.join(' ')}`);
      // As a transcript does that cannot be written any more.
      if (event.type === 'tool_start' && event.tool_id === 'c') stop.abort();
    },
  });
  const results = await scheduler.run([look('a'), change('b'), change('c')], stop.signal);
  expect(results.map(({ status }) => status)).toEqual(['success', 'success', 'cancelled']);
  expect(said).toEqual(['b after +a -a', 'c after +a -a +b -b']);
  expect(trace).not.toContain('+c');
});

test('a tool that does not listen is left behind', async () => {
  const stop = new AbortController();
  const { scheduler } = setUp([tool('deaf', 'execute', () => new Promise(() => {}))]);
  const running = scheduler.run([call('deaf')], stop.signal);
  setImmediate(() => stop.abort());
  const started = performance.now();
  expect((await running)[0]?.status).toBe('cancelled');
  bound(performance.now() - started, 4000);
});

test('long output is cut in the middle, and the whole of it is on disk', async () => {
  const long = `HEAD${'x'.repeat(5000)}TAIL`;
  const { scheduler } = setUp([tool('look', 'read', async () => ({ ok: true, content: long }))]);
  const [result] = await scheduler.run([call('look', {}, 'long')], idle);
  const output = String(result?.output);
  expect(output).toMatch(/^HEADx{196}\n\[… about 4008 bytes cut; full output: shown\/long …\]\nx{796}TAIL$/);
  expect(result?.full_output).toBe('shown/long');
  expect(readFileSync(join(folder, 'long'), 'utf8')).toBe(long);
});

test('output is made valid for the model', async () => {
  const odd = 'a\0b\u001b[31mred\u001b[0m \ud800 end';
  const { scheduler } = setUp([tool('look', 'read', async () => ({ ok: true, content: odd }))]);
  const [result] = await scheduler.run([call('look')], idle);
  expect(result?.output).toBe('abred \ufffd end');
});

test('live output comes in bundles, and none of it is lost', async () => {
  const pieces: string[] = [];
  const execute: Execute = async (_params, { onOutput }) => {
    for (let i = 0; i < 100; i++) onOutput(`${i},`);
    return { ok: true, content: '' };
  };
  const { scheduler } = setUp([tool('look', 'read', execute)], { onLive: (_id, text) => pieces.push(text) });
  await scheduler.run([call('look')], idle);
  expect(pieces.length).toBeLessThan(4);
  expect(pieces.join('')).toBe(Array.from({ length: 100 }, (_, i) => `${i},`).join(''));
});

test('a command that comes after a change is decided about again when it starts, and only a denial counts', async () => {
  const { trace, tools } = traced();
  const shell = tool('shell', 'execute', async () => ({ ok: true, content: 'ran' }));
  const asked: string[] = [];
  const decide = ({ tool: name }: DecisionRequest): Decision => {
    asked.push(name);
    if (name !== 'shell' || !trace.includes('-made')) return allow;
    return { decision: 'deny', rule: null, reason: 'there is a link now' };
  };
  const { scheduler, events, denials } = setUp([...tools, shell], {}, decide);
  const calls = [call('shell', {}, 'before'), change('made'), call('shell', {}, 'after')];
  const results = await scheduler.run(calls, idle);
  expect(asked).toEqual(['shell', 'change', 'shell', 'shell']);
  expect(results.map(({ status }) => status)).toEqual(['success', 'success', 'error']);
  expect(results[2]?.error).toMatchObject({
    type: 'policy_denied',
    message: expect.stringContaining('there is a link now'),
  });
  expect(denials.all).toEqual([expect.objectContaining({ tool_id: 'after' })]);
  const decisions = events.filter((event) => event.type === 'policy_decision');
  expect(decisions.map((event) => 'decision' in event && event.decision)).toEqual([
    'allow',
    'allow',
    'allow',
    'deny',
  ]);
  expect(events.some((event) => event.type === 'tool_start' && event.tool_id === 'after')).toBe(false);
});
