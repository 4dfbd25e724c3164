import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { attempt } from './attempt.js';
import { errorCode } from './errors.js';

/** Identifies a process, and tells it from a later one with the same number. */
export interface ProcessMark {
  readonly pid: number;
  /** The boot and the namespaces in which the number is valid. */
  readonly where: string;
  /** The name of the machine, for people. */
  readonly host: string;
  /** When the process began, as the system counts; absent if unknown. */
  readonly birth?: string;
}

let own: ProcessMark | undefined;

export function ownMark(): ProcessMark {
  const { pid } = process;
  if (own?.pid === pid) return own;
  const birth = birthOf(pid);
  own = { pid, where: here(), host: hostname(), ...(birth !== undefined && { birth }) };
  return own;
}

/** Whether a process still runs. `unknown`: it belongs elsewhere, or the mark is invalid. */
export function lifeOf({ pid, where, birth }: Partial<ProcessMark>): 'alive' | 'dead' | 'unknown' {
  if (!Number.isSafeInteger(pid) || (pid as number) <= 0 || where !== here()) return 'unknown';
  if (isGone(pid as number)) return 'dead';
  // Process numbers are reused, in containers always in the same order.
  const now = birthOf(pid as number);
  return birth !== undefined && now !== undefined && birth !== now ? 'dead' : 'alive';
}

/** A zombie counts as gone: perhaps nothing will reap it. */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'ESRCH';
  }
  return /^[ZX]/.test(statOf(pid)?.[0] ?? '');
}

function birthOf(pid: number): string | undefined {
  return statOf(pid)?.[19];
}

/** What the system says about a process, from its state on; undefined if nothing. */
function statOf(pid: number): string[] | undefined {
  return attempt(() => {
    // In the /proc of another namespace, these numbers are other processes.
    if (readlinkSync('/proc/self') !== String(process.pid)) return undefined;
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may contain anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  });
}

let place: string | undefined;

/** Host names are no proof: containers share them, and a machine may change its own. */
function here(): string {
  place ??= [
    attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()) ?? hostname(),
    attempt(() => readlinkSync('/proc/self/ns/pid')),
    // A time namespace counts births differently.
    attempt(() => readlinkSync('/proc/self/ns/time')),
  ]
    .filter(Boolean)
    .join(' ');
  return place;
}
