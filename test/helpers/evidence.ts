import { join } from 'node:path';
import type { InitEvent, ResultEvent, RunEvent, TranscriptLine } from '../../src/protocol/event.js';
import type { DecisionWord } from '../../src/protocol/decision.js';
import type { Kind } from '../../src/protocol/kind.js';
import { TranscriptWriter } from '../../src/transcript/writer.js';

/** A call as a test tells of it. What it leaves out is what an ordinary call is like. */
export interface ToldCall {
  readonly tool?: string;
  readonly kind?: Kind;
  readonly args: Readonly<Record<string, unknown>>;
  readonly id?: string;
  readonly decision?: DecisionWord;
  readonly exit?: number;
  readonly status?: 'success' | 'error';
  /** Somebody was asked, and answered so. */
  readonly answer?: 'proceed_once' | 'cancel';
}

export interface ToldRun {
  readonly calls: readonly ToldCall[];
  readonly cwd: string;
  readonly exit?: number;
  readonly untrusted?: boolean;
  readonly sandboxed?: boolean;
  readonly dryRun?: boolean;
  readonly changes?: readonly string[];
  readonly hosts?: readonly string[];
}

export const sh = (command: string, more: Partial<ToldCall> = {}): ToldCall => ({
  tool: 'run_shell_command',
  kind: 'execute',
  args: { command },
  ...more,
});
export const wrote = (path: string, more: Partial<ToldCall> = {}): ToldCall => ({
  tool: 'write_file',
  kind: 'edit',
  args: { file_path: path, content: 'x' },
  ...more,
});

let made = 0;

/** Writes a transcript that verifies, of a run that went as it is told. */
export function tellRun(folder: string, run: ToldRun, name = `run-${++made}.jsonl`): string {
  const path = join(folder, name);
  const writer = new TranscriptWriter(path, `session-${name}-${++made}`);
  const lines: TranscriptLine[] = [];
  const emit = (event: RunEvent) => void lines.push(writer.stamp(event, lines.at(-1)));
  emit(initOf(run));
  emit({ type: 'message', role: 'user', content: 'do it', ...(run.untrusted && { untrusted: true }) });
  for (const [i, call] of run.calls.entries())
    for (const event of callEvents(call, call.id ?? `c${i}`)) emit(event);
  for (const host of run.hosts ?? [])
    emit({
      ...{ type: 'network_decision', host, port: 443, scheme: 'https' },
      ...{ decision: 'allow', reason: 'listed', count: 1 },
    });
  emit(resultOf(run));
  writer.append(...lines);
  writer.close();
  return path;
}

function callEvents(call: ToldCall, tool_id: string): RunEvent[] {
  const { tool = 'run_shell_command', kind = 'execute', args, decision = 'allow', exit = 0, answer } = call;
  const runs = decision === 'allow' || answer === 'proceed_once';
  const status = call.status ?? (runs ? 'success' : 'error');
  return [
    { type: 'tool_use', tool_name: tool, tool_id, parameters: args, kind, turn: 0 },
    { type: 'policy_decision', tool_id, decision, rule: null, reason: `mode says ${decision}` },
    ...(answer
      ? [
          {
            ...{ type: 'approval_response', tool_id, tool_call_id: tool_id, source: 'command' },
            selected_option_id: answer,
          } as RunEvent,
        ]
      : []),
    {
      type: 'tool_result',
      tool_id,
      status,
      duration_ms: 1,
      ...(status === 'success'
        ? { output: 'fine' }
        : { error: { type: 'policy_denied', message: 'no' } as const }),
      ...(runs && kind === 'execute' && { process: { exit_code: exit, signal: null } }),
    },
  ];
}

function initOf({ cwd, sandboxed = false, dryRun }: ToldRun): InitEvent {
  return {
    type: 'init',
    ...{ version: '0.1.0', schema_version: 1, model: 'm', provider: 'gemini', auth: 'api_key' },
    ...{ cwd, git_head: null, policy: [], mode: 'yolo', tools: [], mcp_servers: [], system: '' },
    limits: {
      ...{ turns: 1, tool_calls: 1, time_ms: 1, retry_time_ms: 1, parallel: 1, tool_output: 1, denials: 1 },
    },
    sandbox: {
      mode: 'auto',
      active: sandboxed,
      backend: sandboxed ? 'bubblewrap' : null,
      reason: 'told',
    },
    ...(dryRun && { dry_run: true as const }),
    effective_policy: [],
  };
}

function resultOf({ exit = 0, changes }: ToldRun): ResultEvent {
  return {
    type: 'result',
    status: exit === 0 ? 'completed' : 'denied',
    exit_code: exit,
    response: '',
    stats: {
      ...{ turns: 1, retries: 0, tool_calls: 1, tools: {}, models: {}, duration_ms: 1 },
      ...{ model_duration_ms: 1, retry_wait_ms: 0, tool_duration_ms: 1 },
    },
    ...{ denials: [], pending: [], warnings: [] },
    ...(changes && {
      changes: changes.map((path) => ({ path, kind: 'modified', added: 1, removed: 0, by: 'tool' }) as never),
    }),
  };
}
