import { signalProcess } from './kill-tree.js';
import { membersOf } from './leftovers.js';

/** Leaders of the process groups that are alive now, and their markers. */
export const liveGroups = new Map<number, string>();

/** The last resort of a process that must end at once: kills without waiting. */
export function killAllCommands(): void {
  for (const [leader, marker] of liveGroups) {
    for (const pid of [-leader, ...(membersOf(leader, marker) ?? [])]) signalProcess(pid, 'SIGKILL');
  }
}
