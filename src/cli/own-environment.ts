import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { attempt } from '../lib/attempt.js';
import { environEntries, environOf, statOf } from '../lib/environ.js';
import { MODEL_CREDENTIALS } from '../protocol/model-credentials.js';
import { secretsIn } from '../lib/redact/secrets.js';

/** Contains the action's inputs, including the key. */
const ACTION_INPUTS = 'BOSUN_ACTION_INPUTS';
/** May contain a password. */
const QUEUE = 'BOSUN_QUEUE';
/** Build servers use these to find the processes of a build that they have to end. */
const TRACKED_BY = /^(JENKINS|HUDSON)_(NODE_|SERVER_)?COOKIE$/;

/** The field of /proc/PID/stat where the environment begins, from the third. */
const ENV_START = 47;

/**
 * On Linux, every process of the same user can read the environment that another was started with, and so can commands
 * that run outside a sandbox. So secrets are removed from that memory. Bosun itself keeps all variables: only the copy
 * that the kernel shows is blanked.
 */
export function hideOwnEnvironment(variables: NodeJS.ProcessEnv): void {
  if (process.platform !== 'linux') return;
  const isNamed = (name: string) => [...MODEL_CREDENTIALS, ACTION_INPUTS, QUEUE].includes(name);
  const names = new Set(secretsIn(variables, isNamed).map(({ name }) => name));
  for (const name of [...names].filter((one) => TRACKED_BY.test(one))) names.delete(name);
  // A variable that is set again moves to other memory.
  Object.assign(variables, Object.fromEntries([...names].map((name) => [name, variables[name]])));
  attempt(() => blank(names));
}

function blank(names: ReadonlySet<string>): void {
  const bytes = environOf('self');
  const start = Number(statOf('self')[ENV_START]);
  if (!bytes || !Number.isSafeInteger(start) || start <= 0) return;
  const entries = [...environEntries(bytes)].filter(({ name }) => names.has(name));
  if (entries.length === 0) return;
  const memory = openSync('/proc/self/mem', 'r+');
  try {
    // Nothing is overwritten unless it is what we expect.
    const found = Buffer.alloc(bytes.length);
    if (readSync(memory, found, 0, found.length, start) !== found.length || !found.equals(bytes)) return;
    for (const { from, to } of entries)
      writeSync(memory, Buffer.alloc(to - from), 0, to - from, start + from);
  } finally {
    closeSync(memory);
  }
}
