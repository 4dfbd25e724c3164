// Runs a program once and tells how long it took, what it cost the processor, and how much memory it had at the most.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const POLL_MS = 10;
/** Linux counts what processes have cost in hundredths of a second. */
const TICK_MS = 10;

/**
 * @param {string[]} command
 * @param {{cwd?: string, env?: Record<string, string>, memory?: boolean, onStart?: (pid: number) => void}} [options]
 */
export async function measure(command, { cwd, env, memory = true, onStart } = {}) {
  const [program, ...args] = command;
  const before = childrenCpu();
  const startedAt = performance.now();
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  onStart?.(child.pid);
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += chunk));
  let own = 0;
  let tree = 0;
  const poll = () => {
    own = Math.max(own, statusOf(child.pid, 'VmHWM'));
    tree = Math.max(tree, treeOf(child.pid));
  };
  const timer = memory ? setInterval(poll, POLL_MS) : undefined;
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  clearInterval(timer);
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${stderr}`);
  const ms = performance.now() - startedAt;
  return { startedAt, ms, cpu: childrenCpu() - before, own, tree: Math.max(tree, own) };
}

/** What all children that have ended have cost, and theirs: user and system time in milliseconds. */
function childrenCpu() {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}

/** What the threads of a process have cost until now, in milliseconds. */
export function cpuOf(pid) {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const times = tasks.map((task) =>
    Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
  );
  return times.reduce((sum, one) => sum + one, 0) / 1e6;
}

/** Kilobytes of one field of /proc/PID/status. */
function statusOf(pid, field) {
  try {
    const line = readFileSync(`/proc/${pid}/status`, 'utf8').match(new RegExp(`^${field}:\\s+(\\d+)`, 'm'));
    return line ? Number(line[1]) : 0;
  } catch {
    return 0;
  }
}

function treeOf(root) {
  const parents = new Map();
  for (const name of readdirSync('/proc')) {
    if (/^\d+$/.test(name)) parents.set(Number(name), statusOf(name, 'PPid'));
  }
  const members = new Set([root]);
  for (let size = 0; size !== members.size;) {
    size = members.size;
    for (const [pid, parent] of parents) if (members.has(parent)) members.add(pid);
  }
  return [...members].reduce((sum, pid) => sum + statusOf(pid, 'VmRSS'), 0);
}

export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function mean(numbers) {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}
