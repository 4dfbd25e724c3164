// The built program in one process beside the suites of a worker, which lasts as long as the worker. A worker grows with each
// suite, and starting a program takes the longer the more memory there is to be forked: 1 ms at 50 MB, 11 ms at 450 MB.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { LEAN } from '../tiers.mjs';

/** @typedef {{code: number, signal: null, stdout: string, stderr: string}} End */
/** @typedef {{resolve: (end: End) => void, reject: (error: Error) => void}} Waiting */

const PROGRAM = fileURLToPath(new URL('beside-program.mjs', import.meta.url));

/** @type {import('node:child_process').ChildProcess | undefined} */
let beside;
/** @type {Map<number, Waiting>} */
const waiting = new Map();
let count = 0;

function start() {
  // The other flags of a worker are no business of the program.
  const options = {
    execArgv: LEAN,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  };
  const child = spawn(process.execPath, [PROGRAM], /** @type {any} */ (options));
  child.on('message', (/** @type {any} */ { id, end, error }) => {
    const one = waiting.get(id);
    forget(id);
    if (end) one?.resolve(end);
    else one?.reject(new Error(error));
  });
  child.once('exit', (code, signal) => {
    beside = undefined;
    for (const [id, { reject }] of waiting) {
      forget(id);
      reject(new Error(`the process beside the suite has ended: ${code ?? signal}`));
    }
  });
  child.unref();
  return child;
}

/** @param {number} id */
function forget(id) {
  waiting.delete(id);
  // Nobody has to stay for it while it has nothing to do.
  if (waiting.size === 0) beside?.channel?.unref();
}

/** Its process id, once there is one. */
export const besideId = () => beside?.pid;

/**
 * Runs `bosun ARGS` there, with an environment, a directory, streams and an end of its own.
 * @param {readonly string[]} args
 * @param {import('./here.mjs').Surroundings} surroundings
 * @returns {Promise<End>}
 */
export function bosunBeside(args, { env, cwd, input, stop }) {
  beside ??= start();
  const child = beside;
  const id = ++count;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    child.channel?.ref();
    const say = (/** @type {object} */ what) => void (child.connected && child.send({ id, ...what }));
    stop?.addEventListener('abort', () => say({ stop: true }), { once: true });
    say({ run: { args: [...args], env: { ...env }, cwd, input } });
    if (stop?.aborted) say({ stop: true });
  });
}
