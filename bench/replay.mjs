// Judges 10,000 recorded calls again, all of them different: `npm run bench:replay`.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CALLS = 10_000;
const PER_RUN = 100;
const TARGET_S = 5;
const root = mkdtempSync(join(tmpdir(), 'bosun-bench-'));
const bin = fileURLToPath(new URL('../bin/bosun.js', import.meta.url));

function transcript(run) {
  const events = [init(), { type: 'message', role: 'user', content: 'go' }];
  for (let i = 0; i < PER_RUN; i++) events.push(...callEvents(`c${i}`, callOf(run, i)));
  events.push(result());
  let prev = '0'.repeat(64);
  return events
    .map((event, seq) => {
      const stamp = { v: 1, seq, timestamp: new Date(0).toISOString(), session_id: `s${run}` };
      const line = JSON.stringify({ ...stamp, ...event, prev });
      prev = createHash('sha256').update(line).digest('hex');
      return `${line}\n`;
    })
    .join('');
}

function callOf(run, i) {
  const name = `${run}-${i}`;
  if (i % 4 === 0) return ['write_file', 'edit', { file_path: `src/${name}.ts`, content: 'x' }];
  if (i % 4 === 1) return ['run_shell_command', 'execute', { command: `npm test -- ${name}` }];
  if (i % 4 === 2) return ['read_file', 'read', { file_path: `src/${name}.ts` }];
  return [
    'run_shell_command',
    'execute',
    { command: `cd src && git log --oneline -n ${i} ${name} | head -5` },
  ];
}

function callEvents(tool_id, [tool_name, kind, parameters]) {
  const process = kind === 'execute' && { process: { exit_code: 0, signal: null } };
  return [
    { type: 'tool_use', tool_name, tool_id, parameters, kind, turn: 0 },
    { type: 'policy_decision', tool_id, decision: 'allow', rule: null, reason: 'yolo' },
    { type: 'tool_result', tool_id, status: 'success', output: 'fine', duration_ms: 1, ...process },
  ];
}

function init() {
  const limits = { turns: 1, tool_calls: 1, time_ms: 1, retry_time_ms: 1, parallel: 1, tool_output: 1 };
  return {
    ...{ type: 'init', version: '0', schema_version: 1, model: 'm', provider: 'gemini', auth: 'api_key' },
    ...{ cwd: root, git_head: null, policy: [], mode: 'yolo', tools: [], mcp_servers: [], system: '' },
    limits: { ...limits, denials: 1 },
    sandbox: { mode: 'off', active: false, backend: null, reason: 'bench' },
    effective_policy: [],
  };
}

function result() {
  const stats = { turns: 1, retries: 0, tool_calls: 1, tools: {}, models: {}, duration_ms: 1 };
  return {
    ...{ type: 'result', status: 'completed', exit_code: 0, response: '' },
    stats: { ...stats, model_duration_ms: 1, retry_wait_ms: 0, tool_duration_ms: 1 },
    ...{ denials: [], pending: [], warnings: [] },
  };
}

try {
  for (let n = 0; n < CALLS / PER_RUN; n++) writeFileSync(join(root, `${n}.jsonl`), transcript(n));
  writeFileSync(
    join(root, 'policy.yaml'),
    'version: 1\nrules:\n  - {id: some, tool: run_shell_command, command: [npm test, git log, head], decision: allow}\n',
  );
  const started = performance.now();
  const command = '"$0" "$@"; code=$?; times; exit $code';
  const args = [bin, 'policy', 'replay', '--policy', join(root, 'policy.yaml'), root];
  const run = spawnSync('bash', ['-c', command, process.execPath, ...args], { encoding: 'utf8', cwd: root });
  const clock = (performance.now() - started) / 1000;
  if (run.status !== 3) throw new Error(run.stderr);
  const lines = run.stdout.trimEnd().split('\n');
  // What the processor was busy with it counts, whatever else the machine did: user and system time of the child.
  const processor = [...(lines.at(-1) ?? '').matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds),
    0,
  );
  process.stdout.write(
    `${lines[0]}\n${processor.toFixed(2)} s of a processor, ${clock.toFixed(2)} s on the clock (target ${TARGET_S} s)\n`,
  );
  process.exitCode = processor > TARGET_S ? 1 : 0;
} finally {
  rmSync(root, { recursive: true, force: true });
}
