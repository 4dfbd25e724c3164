import { setTimeout as wait } from 'node:timers/promises';
import { leftNothing, lookFor, membersOf } from './leftovers.js';

const POLL_MS = 20;
/** After SIGTERM, before SIGKILL. */
const GRACE_MS = 300;
/** The grace of a command that did nothing wrong: the run was stopped. */
export const ABORT_GRACE_MS = 2000;
/** After this we give up on a process that forks faster than we kill. */
const LIMIT_MS = 2500;
/**
 * What a shell does not wait for (`>(tee log)`) may still be writing its last lines. Looks are counted as well: where many wait
 * for a processor, it gets none for longer than this, and looking takes longer, too.
 */
const STRAGGLER_MS = 100;
const STRAGGLER_POLL_MS = 5;
const STRAGGLER_LOOKS = 20;
const MAX_LOOKS = 10;

export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/**
 * Ends everything a command started, politely at first. In a sandbox the leader is the sandbox itself: it ends with the
 * rest, or the rest with it.
 */
export async function killTree(
  leader: number,
  marker: string,
  { graceMs = GRACE_MS, isSandbox = false } = {},
): Promise<void> {
  const started = performance.now();
  // A process that loses its parent can no longer be found by it.
  const known = new Set<number>();
  const findAlive = () => {
    const alive = living(leader, marker, known);
    for (const pid of alive) known.add(pid);
    return alive;
  };
  let sent: NodeJS.Signals | undefined;
  for (let alive = findAlive(); alive.length > 0; alive = findAlive()) {
    const elapsed = performance.now() - started;
    if (elapsed > LIMIT_MS) return;
    const signal = elapsed > graceMs ? 'SIGKILL' : 'SIGTERM';
    // SIGKILL is sent again and again: a fork may have slipped through.
    const targets =
      isSandbox && signal === 'SIGTERM' ? alive.filter((pid) => pid !== leader) : [-leader, ...alive];
    if (sent !== signal || signal === 'SIGKILL') for (const pid of targets) signalProcess(pid, signal);
    sent = signal;
    await wait(POLL_MS);
  }
}

/** After its shell has ended: gives stragglers a moment, then ends and returns those that stayed. */
export async function endLeftovers(leader: number, marker: string): Promise<number[]> {
  // The usual case. Listing all processes takes longer than the command did.
  if (leftNothing(leader, marker)) return [];
  const started = performance.now();
  let left = await surelyLiving(leader, marker);
  if (left.length === 0) return left;
  for (let looks = 0; left.length > 0; looks++) {
    if (looks >= STRAGGLER_LOOKS && performance.now() - started >= STRAGGLER_MS) break;
    await wait(STRAGGLER_POLL_MS);
    left = living(leader, marker);
  }
  await killTree(leader, marker);
  return left;
}

/** Looks again if a process is just becoming another program. */
async function surelyLiving(leader: number, marker: string): Promise<number[]> {
  for (let i = 0; i < MAX_LOOKS; i++) {
    const found = lookFor(leader, marker);
    if (!found) break;
    if (!found.unsure) return found.members;
    await wait(STRAGGLER_POLL_MS);
  }
  return living(leader, marker);
}

/** Without /proc only the group as a whole can be checked. */
function living(leader: number, marker: string, known?: ReadonlySet<number>): number[] {
  return membersOf(leader, marker, known) ?? (signalProcess(-leader, 0) ? [leader] : []);
}
