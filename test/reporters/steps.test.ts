import { describe, expect, test } from '@jest/globals';
import { painter } from '../../src/lib/paint.js';
import type { RunEvent, ToolResultEvent, TranscriptLine } from '../../src/protocol/event.js';
import { StepsReporter, type StepsOptions } from '../../src/reporters/steps.js';
import { until } from '../helpers/until.js';

type Said = [severity: string, line: string, fields: object];

function reporter(options: Partial<StepsOptions> = {}) {
  const said: Said[] = [];
  const say = (...line: Said) => void said.push(line);
  const steps = new StepsReporter({ say, paint: painter(false), records: false, ...options });
  return {
    said,
    event: (event: object) => steps.event(event as TranscriptLine),
    live: steps.live.bind(steps),
  };
}

/** The lines about these events. */
function lines(...events: object[]): string[] {
  const { said, event } = reporter();
  for (const one of events) event(one);
  return said.map(([severity, line]) => (severity === 'info' ? line : `${severity}: ${line}`));
}

const use = (title?: string, more: object = {}) => ({
  type: 'tool_use',
  tool_id: '1',
  tool_name: 'run_shell_command',
  parameters: { command: 'npm test' },
  ...(title && { title }),
  ...more,
});
const result = (more: Partial<ToolResultEvent> = {}): RunEvent => ({
  type: 'tool_result',
  tool_id: '1',
  status: 'success',
  duration_ms: 20,
  ...more,
});
const exited = (exit_code: number | null, signal: string | null = null) => ({
  process: { exit_code, signal },
});

describe('a call is one line with its outcome', () => {
  const cases: [string, Partial<ToolResultEvent>, string][] = [
    ['success', {}, '✓ Run npm test'],
    ['a long success', { duration_ms: 61_000 }, '✓ Run npm test (1m 01s)'],
    ['another exit code', exited(2), '✗ Run npm test (exit 2)'],
    [
      'another exit code after a while',
      { ...exited(2), duration_ms: 1500 },
      '✗ Run npm test (exit 2, 1.5 s)',
    ],
    ['a signal', exited(null, 'SIGKILL'), '✗ Run npm test (killed by SIGKILL)'],
    [
      'an error',
      { status: 'error', error: { type: 'file_not_found', message: 'a.txt\ndoes not exist.' } },
      '✗ Run npm test: a.txt does not exist.',
    ],
    ['a dry run', { suppressed: true }, '✓ Run npm test (suppressed)'],
  ];
  test.each(cases)('%s', (_what, more, expected) => {
    expect(lines(use('Run npm test'), result(more))).toEqual([expected]);
  });

  test('of an older transcript, by the tool and its argument', () => {
    expect(lines(use(), result())).toEqual(['✓ run_shell_command npm test']);
  });

  test.each([
    ['mcp:github/create_issue', 'github: create_issue'],
    ['discovered_tool_lint', 'lint (discovered tool)'],
    ['own:deploy', 'Deploy'],
  ])('of %s with its arguments', (tool_name, title) => {
    const called = { tool_name, parameters: { title: 'It breaks' } };
    expect(lines(use(title, called), result())).toEqual([`✓ ${title} {"title":"It breaks"}`]);
  });
});

describe('a denial is a warning that names the rule', () => {
  const decision = (more: object = {}) => ({
    ...{ type: 'policy_decision', tool_id: '1', decision: 'deny', reason: 'Not in CI.' },
    rule: { id: 'no-npm', file: '/home/x/policies/ci.yaml', line: 7 },
    ...more,
  });
  const denied = (type: 'policy_denied' | 'approval_denied') =>
    result({ status: 'error', error: { type, message: 'Denied by rule no-npm: words for the model.' } });

  test.each([
    [decision(), denied('policy_denied'), 'denied by rule no-npm (ci.yaml:7): Not in CI'],
    [decision({ rule: null }), denied('policy_denied'), 'denied: Not in CI'],
    [decision(), denied('approval_denied'), 'not approved, asked by rule no-npm (ci.yaml:7): Not in CI'],
    [decision({ rule: null }), denied('approval_denied'), 'not approved: Not in CI'],
  ])('%#', (first, second, expected) => {
    expect(lines(use('Run npm test'), first, second)).toEqual([`warn: ✗ Run npm test: ${expected}`]);
  });
});

describe('an edit has a short diff below it', () => {
  const edited = (diff: string) =>
    result({ change: { path: 'a.ts', diff, lines_added: 1, lines_removed: 2 } });
  const head = '--- a/a.ts\n+++ b/a.ts\n';

  test('only what changed, as it is indented', () => {
    const diff = `${head}@@ -1,3 +1,2 @@ function x() {\n around\n-  old\n---\n+  new\n`;
    expect(lines(use('Edit a.ts'), edited(diff))).toEqual([
      '✓ Edit a.ts +1 -2',
      '    @@ -1,3 +1,2 @@',
      '    -  old',
      '    ---',
      '    +  new',
    ]);
  });

  test('not too much of it', () => {
    const diff = `${head}@@ -0,0 +1,40 @@\n${'+x\n'.repeat(40)}`;
    const shown = lines(use('Write a.ts'), edited(diff));
    expect(shown).toHaveLength(14);
    expect(shown.at(-1)).toBe('    … and 29 more changed lines');
  });

  test('a record has it in a field', () => {
    const { said, event } = reporter({ records: true });
    event(use('Edit a.ts'));
    event(edited(`${head}@@ -1 +1 @@\n-a\n+b\n`));
    expect(said).toEqual([
      [
        'info',
        '✓ Edit a.ts +1 -2',
        {
          ...{ event: 'tool_result', tool_id: '1', tool_name: 'run_shell_command', status: 'success' },
          duration_ms: 20,
          diff: '@@ -1 +1 @@\n-a\n+b',
        },
      ],
    ]);
  });
});

describe('what else is told', () => {
  const verification = { type: 'verification', condition: 'verify', command: 'npm test', attempt: 1 };
  const retry = { type: 'retry', attempt: 1, wait_ms: 5000, class: 'quota', model: 'm' };
  const cases: [string, object, string[]][] = [
    [
      'what the model says in between, as its words',
      { type: 'message', role: 'assistant', phase: 'interim', content: '✓ verify\nall' },
      ['model: ✓ verify all'],
    ],
    ['not the answer', { type: 'message', role: 'assistant', phase: 'final', content: 'x' }, []],
    ['not the task', { type: 'message', role: 'user', content: 'x' }, []],
    [
      'a check that passed',
      { ...verification, ok: true, message: 'succeeded', duration_ms: 2000 },
      ['✓ verify npm test (2.0 s)'],
    ],
    [
      'a check that failed',
      { ...verification, ok: false, message: 'exited with 1', duration_ms: 10 },
      ['warn: ✗ verify npm test: exited with 1'],
    ],
    [
      'required changes',
      { type: 'verification', condition: 'require_changes', ok: false, message: 'nothing', duration_ms: 0 },
      ['warn: ✗ require changes: nothing'],
    ],
    ['a wait', { ...retry, message: 'HTTP 429; trying again in 5.0 s' }, ['HTTP 429; trying again in 5.0 s']],
    [
      'a limit that is nearly used up',
      { type: 'limit_notice', limit: 'turns', used: 8, value: 10, message: 'To the model.' },
      ['80 % of the limit turns is used; the model was told'],
    ],
    [
      'a loop',
      { type: 'loop_notice', calls: [{ tool_name: 'glob' }, { tool_name: 'glob' }], repeats: 5 },
      ['warn: the model repeats itself: glob, 5 times'],
    ],
    [
      'a host that was refused',
      {
        ...{ type: 'network_decision', decision: 'deny', host: 'x.org', port: 443 },
        ...{ reason: 'not allowed', count: 1 },
      },
      ['warn: ✗ network x.org:443: not allowed'],
    ],
    ['no warnings: they are said at the end', { type: 'error', severity: 'warning', message: 'x' }, []],
  ];
  test.each(cases)('%s', (_what, event, expected) => {
    expect(lines(event)).toEqual(expected);
  });

  test('how a wait goes on, however long the reason is', () => {
    const [line = ''] = lines({ ...retry, message: `${'x'.repeat(500)}; trying again in 38.0 s` });
    expect(line).toMatch(/^x{150,}…; trying again in 38\.0 s$/);
  });

  test('approvals that are asked for and given; a no is told with the result', () => {
    const request = { type: 'approval_request', tool_id: '1', tool_name: 'x', reason: 'Careful.' };
    const answer = { type: 'approval_response', tool_id: '1', source: 'command' };
    expect(
      lines(
        use('Run npm test'),
        request,
        { ...request, deferred: true },
        { ...answer, selected_option_id: 'proceed_always' },
        { ...answer, selected_option_id: 'cancel' },
        { ...answer, source: 'grant', selected_option_id: 'proceed_once' },
      ),
    ).toEqual([
      '? Run npm test needs an approval: Careful',
      '? Run npm test waits for bosun approve: Careful',
      'approved (proceed_always): Run npm test',
    ]);
  });

  test('the run itself, once there is something to tell of it', () => {
    const init = { type: 'init', model: 'm', mode: 'plan', policy: [{ file: '/x/ci.yaml' }], cwd: '/ws' };
    expect(lines(init)).toEqual([]);
    expect(lines(init, use('Run npm test'), result(), result())[0]).toBe(
      'm, mode plan, policy ci.yaml, in /ws',
    );
    expect(lines({ ...init, resumed_from: {}, dry_run: true }, use('Run x'), result())).toEqual([
      'continues with m, mode plan (dry run), policy ci.yaml, in /ws',
      '✓ Run x',
    ]);
  });
});

test('when nothing is said for a while, a heartbeat tells where the run is, until it ends', async () => {
  const { said, event, live } = reporter({ heartbeatMs: 5 });
  event(use('Run npm test'));
  live('first\nlast line\n');
  await until(() => said.length >= 2, 'two heartbeats');
  expect(said[0]).toEqual([
    'info',
    expect.stringMatching(/^turn 0, running: Run npm test, .* \| last line$/),
    { event: 'heartbeat' },
  ]);
  event({ type: 'result' });
  const count = said.length;
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(said).toHaveLength(count);
});

test('a line that was said puts the heartbeat off', async () => {
  const [every, half] = [400, 200];
  const { said, event } = reporter({ heartbeatMs: every });
  await new Promise((resolve) => setTimeout(resolve, half));
  event({ type: 'message', phase: 'interim', role: 'assistant', content: 'x' });
  const [started, before] = [performance.now(), said.length];
  await until(() => said.length > before, 'a heartbeat');
  event({ type: 'result' });
  // Without that line the heartbeat would have been due after the other half.
  expect(performance.now() - started).toBeGreaterThan(1.3 * half);
  expect(said[before - 1]?.[1]).toBe('model: x');
});
