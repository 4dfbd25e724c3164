import { readdirSync, readFileSync } from 'node:fs';

/** Set in the environment of every command, so that its descendants can be found wherever they went. */
export const MARKER = 'BOSUN_COMMAND_ID';

/**
 * The living processes of a command: of its group or session, or with its marker, which finds those that called
 * `setsid`. Zombies do not count: where nobody reaps them they would stay for ever. Undefined where there is no
 * /proc to look at.
 */
export function membersOf(leader: number, marker: string): number[] | undefined {
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return undefined;
  }
  const oldest = wrappedSince(leader) ? 0 : leader;
  const found: number[] = [];
  for (const name of names) {
    const pid = Number(name);
    if (pid >= oldest && pid !== process.pid && belongs(name, leader, marker)) found.push(pid);
  }
  return found;
}

/** Process ids are handed out in order: unless they began anew, a descendant's is greater than its leader's. */
function wrappedSince(leader: number): boolean {
  const newest = Number(read('/proc/loadavg').trim().split(' ').at(-1));
  return !(newest >= leader);
}

function belongs(pid: string, leader: number, marker: string): boolean {
  const stat = read(`/proc/${pid}/stat`);
  // The name in parentheses may contain anything; the fields we want come after it.
  const [state, , group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (!state || state === 'Z' || state === 'X') return false;
  if (Number(group) === leader || Number(session) === leader) return true;
  return read(`/proc/${pid}/environ`).includes(`${MARKER}=${marker}`);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
