import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';

/** Set in the environment of every command, so that its descendants can always be found. */
export const MARKER = 'BOSUN_COMMAND_ID';

/**
 * The living processes of a command: of its group or session, with its marker, which finds those that called
 * `setsid`, and their children. Zombies do not count: if nobody reaps them they stay for ever. Undefined without
 * /proc.
 */
export function membersOf(leader: number, marker: string, known?: ReadonlySet<number>): number[] | undefined {
  return lookFor(leader, marker, known)?.members;
}

/** If no more processes than this began since a command did, each is checked by its number. */
const FEW = 32;

/**
 * Whether a command has certainly left nothing behind: no process that began after it belongs to it. Most commands
 * start few processes or none, and listing all of the machine takes longer than they do.
 */
export function leftNothing(leader: number, marker: string): boolean {
  const newest = newestProcess();
  if (!(newest >= leader && newest - leader <= FEW)) return false;
  for (let pid = leader + 1; pid <= newest; pid++) {
    const { membership, parent } = belongs(String(pid), leader, marker);
    if (membership === 'yes' || membership === 'unsure' || parent === leader) return false;
  }
  // A process not checked yet may be the child of one that has just ended.
  return newestProcess() === newest;
}

/**
 * `known` are earlier members. `unsure` if a process was just becoming another program: its environment is then
 * empty for a moment.
 */
export function lookFor(
  leader: number,
  marker: string,
  known: ReadonlySet<number> = new Set(),
): { readonly members: number[]; readonly unsure: boolean } | undefined {
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return undefined;
  }
  const oldest = wrappedSince(leader) ? 0 : leader;
  const members = new Set<number>();
  const others = new Map<number, number>();
  let unsure = false;
  for (const name of names) {
    const pid = Number(name);
    if (!(pid >= oldest) || pid === process.pid) continue;
    const { membership, parent } = belongs(name, leader, marker);
    if (membership === 'yes' || (membership !== 'dead' && known.has(pid))) members.add(pid);
    else if (membership !== 'dead') others.set(pid, parent);
    unsure ||= membership === 'unsure';
  }
  addChildren(members, others, leader);
  return { members: [...members], unsure };
}

/** `others` are processes with their parents. */
function addChildren(members: Set<number>, others: ReadonlyMap<number, number>, leader: number): void {
  for (let before = -1; before !== members.size;) {
    before = members.size;
    for (const [pid, parent] of others) {
      if (parent === leader || members.has(parent)) members.add(pid);
    }
  }
}

/** Process ids are assigned in order: unless they wrapped around, a descendant's is greater than its leader's. */
function wrappedSince(leader: number): boolean {
  return !(newestProcess() >= leader);
}

/** The process id assigned last; not a number if it is unknown. */
function newestProcess(): number {
  return Number(readProcess('/proc/loadavg')?.trim().split(' ').at(-1));
}

interface Belonging {
  readonly membership: 'yes' | 'no' | 'unsure' | 'dead';
  readonly parent: number;
}

function belongs(pid: string, leader: number, marker: string): Belonging {
  const stat = readProcess(`/proc/${pid}/stat`) ?? '';
  // The name in parentheses may contain anything; the fields we want come after it.
  const [state, parentId, group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const parent = Number(parentId);
  const isKernel = parent === 2 || parent === 0;
  if (!state || state === 'Z' || state === 'X' || isKernel) return { membership: 'dead', parent };
  if (Number(group) === leader || Number(session) === leader) return { membership: 'yes', parent };
  const environment = readProcess(`/proc/${pid}/environ`);
  if (environment === '') return { membership: 'unsure', parent };
  return { membership: environment?.includes(`${MARKER}=${marker}`) ? 'yes' : 'no', parent };
}

const room = Buffer.allocUnsafe(16 * 1024);

/** Undefined if it cannot be read: the process is gone, or another user's. Hundreds are read, most in one go. */
function readProcess(path: string): string | undefined {
  try {
    const file = openSync(path, 'r');
    try {
      const length = readSync(file, room);
      return length < room.length ? room.toString('latin1', 0, length) : readFileSync(path, 'latin1');
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}
