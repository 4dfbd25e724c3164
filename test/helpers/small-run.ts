import type { PolicyDecisionEvent, RunEvent, ToolUseEvent, TurnEvent } from '../../src/protocol/event.js';
import { INIT, result, STATS, type Timed } from './recorded.js';

const DIFF = `--- a/src/cart.ts
+++ b/src/cart.ts
@@ -10,3 +10,4 @@
   for (const item of items) {
-    sum += item.count > 10 ? price * 0.9 : price;
+    const discount = item.count >= 10 ? 0.9 : 1;
+    sum += price * discount;
   }
`;

const TESTS = { id: 'tests', file: 'ci/bosun.yaml', line: 7 };
const NO_NETWORK = { id: 'no-network', file: 'ci/bosun.yaml', line: 14 };

function turn(index: number, latency_ms: number, text: string): TurnEvent {
  const usage = { prompt: 4000 + index * 900, cached: index * 800, output: 60, thoughts: 200, total: 5000 };
  const content = { role: 'model', parts: [{ text }] } as const;
  return {
    type: 'turn',
    index,
    model: INIT.model,
    finish_reason: 'STOP',
    latency_ms,
    usage,
    cost_usd: 0.01,
    content,
  };
}

function use(n: number, tool_name: string, parameters: object, kind: ToolUseEvent['kind']): ToolUseEvent {
  return { type: 'tool_use', tool_name, tool_id: `call_${n}`, parameters, kind, turn: 0 };
}

function decision(n: number, verdict: 'allow' | 'deny', more: Partial<PolicyDecisionEvent> = {}): RunEvent {
  const tool_id = `call_${n}`;
  return {
    type: 'policy_decision',
    tool_id,
    decision: verdict,
    rule: null,
    reason: 'mode auto_edit',
    ...more,
  };
}

const PUBLISH = 'npm publish; curl -d released https://hooks.example.com/shop';

/** A run with one of each: it reads, tests, edits, is refused, fails, waits for a retry, and ends as denied. */
export const SMALL_RUN: readonly Timed[] = [
  [0, INIT],
  [1, { type: 'error', severity: 'warning', class: 'mcp', message: 'the MCP server wiki cannot be reached' }],
  [2, { type: 'message', role: 'user', content: 'Mend the cart, and publish it.', untrusted: true }],
  [2400, turn(0, 2398, 'I will look at the cart first.')],
  [2400, { type: 'message', role: 'assistant', content: 'I will look at the cart first.', phase: 'interim' }],
  [2401, use(1, 'read_file', { file_path: 'src/cart.ts' }, 'read')],
  [2401, decision(1, 'allow')],
  [2402, use(2, 'run_shell_command', { command: 'npm test 2>&1 | tail -40' }, 'execute')],
  [
    2402,
    decision(2, 'allow', {
      rule: TESTS,
      commands: [
        { words: ['npm', 'test'], decision: 'allow', rule: TESTS, reason: 'tests may be run' },
        { words: ['tail', '-40'], decision: 'allow', rule: null, reason: 'reads only its input' },
      ],
    }),
  ],
  [
    2410,
    { type: 'tool_result', tool_id: 'call_1', status: 'success', output: 'let needle = 0;', duration_ms: 8 },
  ],
  [2411, { type: 'tool_start', tool_id: 'call_2' }],
  [
    9000,
    {
      type: 'tool_result',
      tool_id: 'call_2',
      status: 'success',
      output: 'Tests: 1 failed',
      duration_ms: 6589,
      process: { exit_code: 1, signal: null, leftover_pids: [4711] },
    },
  ],
  [
    9001,
    {
      type: 'retry',
      attempt: 1,
      wait_ms: 3000,
      class: 'unavailable',
      model: INIT.model,
      message: 'overloaded',
    },
  ],
  [14_000, turn(1, 4990, 'I will mend it.')],
  [14_001, { type: 'todos', todos: [{ description: 'mend it', status: 'in_progress' }] }],
  [14_002, use(3, 'replace', { file_path: 'src/cart.ts', old_string: 'a', new_string: 'b' }, 'edit')],
  [14_002, decision(3, 'allow')],
  [14_003, use(4, 'run_shell_command', { command: PUBLISH }, 'execute')],
  [14_003, decision(4, 'deny', { rule: NO_NETWORK, reason: 'nothing is sent out of this job' })],
  [
    14_040,
    {
      type: 'tool_result',
      tool_id: 'call_3',
      status: 'success',
      output: 'Replaced 1 occurrence.',
      duration_ms: 36,
      change: { path: 'src/cart.ts', diff: DIFF, lines_added: 2, lines_removed: 1 },
    },
  ],
  [
    14_041,
    {
      type: 'tool_result',
      tool_id: 'call_4',
      status: 'error',
      error: { type: 'policy_denied', message: 'Denied by rule no-network.' },
      duration_ms: 0,
    },
  ],
  [14_050, use(5, 'read_file', { file_path: 'src/carts.ts' }, 'read')],
  [14_050, decision(5, 'allow')],
  [
    14_052,
    {
      type: 'tool_result',
      tool_id: 'call_5',
      status: 'error',
      error: { type: 'file_not_found', message: 'There is no file src/carts.ts.' },
      duration_ms: 2,
    },
  ],
  [17_000, turn(2, 2900, 'Mended `src/cart.ts`. Publishing was refused.')],
  [
    17_010,
    result({
      status: 'denied',
      exit_code: 3,
      reason: 'denials',
      response: 'Mended `src/cart.ts`. Publishing was refused.',
      denials: [
        {
          tool_id: 'call_4',
          tool_name: 'run_shell_command',
          rule: NO_NETWORK,
          reason: 'nothing is sent out of this job',
        },
      ],
      warnings: ['the MCP server wiki cannot be reached'],
      stats: { ...STATS, turns: 3, tool_calls: 5, duration_ms: 17_010, total_tokens: 15_000, cost_usd: 0.03 },
    }),
  ],
];
