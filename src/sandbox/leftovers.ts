import { readdirSync, readFileSync } from 'node:fs';

/** Set in the environment of every command, so that its descendants can be found wherever they went. */
export const MARKER = 'BOSUN_COMMAND_ID';

/**
 * The living processes of a command: of its group or session, or with its marker, which finds those that called
 * `setsid`. Zombies do not count: where nobody reaps them they would stay for ever. Undefined where there is no
 * /proc to look at.
 */
export function membersOf(leader: number, marker: string): number[] | undefined {
  return lookFor(leader, marker)?.members;
}

/** `unsure` if a process was just becoming another program: its environment is then empty for a moment. */
export function lookFor(
  leader: number,
  marker: string,
): { readonly members: number[]; readonly unsure: boolean } | undefined {
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return undefined;
  }
  const oldest = wrappedSince(leader) ? 0 : leader;
  const members: number[] = [];
  let unsure = false;
  for (const name of names) {
    const pid = Number(name);
    if (!(pid >= oldest) || pid === process.pid) continue;
    const verdict = belongs(name, leader, marker);
    if (verdict === 'yes') members.push(pid);
    unsure ||= verdict === 'unsure';
  }
  return { members, unsure };
}

/** Process ids are handed out in order: unless they began anew, a descendant's is greater than its leader's. */
function wrappedSince(leader: number): boolean {
  const newest = Number(read('/proc/loadavg')?.trim().split(' ').at(-1));
  return !(newest >= leader);
}

function belongs(pid: string, leader: number, marker: string): 'yes' | 'no' | 'unsure' {
  const stat = read(`/proc/${pid}/stat`) ?? '';
  // The name in parentheses may contain anything; the fields we want come after it.
  const [state, parent, group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const isKernel = parent === '2' || parent === '0';
  if (!state || state === 'Z' || state === 'X' || isKernel) return 'no';
  if (Number(group) === leader || Number(session) === leader) return 'yes';
  const environment = read(`/proc/${pid}/environ`);
  if (environment === '') return 'unsure';
  return environment?.includes(`${MARKER}=${marker}`) ? 'yes' : 'no';
}

/** Undefined if it cannot be read: the process is gone, or somebody else's. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
