// The built program in a process that is there already: see beside.mjs.
import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {object} Surroundings
 * @property {Readonly<Record<string, string>>} env
 * @property {string} cwd
 * @property {string | Buffer} [input]
 * @property {AbortSignal} [stop] Fires when it gets a SIGTERM.
 */

const BIN = fileURLToPath(new URL('../../bin/', import.meta.url));
const load = createRequire(import.meta.url);
/** @type {any} */
const real = globalThis.process;
/** What a command line takes for its process, also after its end: what it has left behind may still talk. */
const own = /** @type {AsyncLocalStorage<any>} */ (new AsyncLocalStorage());
const stand = new Proxy(real, {
  get(_, name) {
    const mine = own.getStore();
    return mine && name in mine ? mine[name] : real[name];
  },
  set(_, name, value) {
    (own.getStore() ?? real)[name] = value;
    return true;
  },
});

/**
 * There is one current directory: whoever needs another waits until nobody needs this one.
 * @type {{users: number, directory: string, before: string, waiting: (() => void)[]}}
 */
const current = { users: 0, directory: '', before: '', waiting: [] };

/** @param {string} directory */
async function enter(directory) {
  while (current.users > 0 && current.directory !== directory) {
    await /** @type {Promise<void>} */ (new Promise((resolve) => current.waiting.push(resolve)));
  }
  if (current.users++ > 0) return;
  Object.assign(current, { directory, before: real.cwd() });
  real.chdir(directory);
}

function leave() {
  if (--current.users > 0) return;
  real.chdir(current.before);
  for (const go of current.waiting.splice(0)) go();
}

function collector() {
  /** @type {Buffer[]} */
  const chunks = [];
  const stream = new Writable({
    write(chunk, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') };
}

/**
 * Runs `bosun ARGS` here, with an environment, a directory, streams and an end of its own.
 * @param {readonly string[]} args
 * @param {Surroundings} surroundings
 */
export async function bosunHere(args, { env, cwd, input, stop }) {
  const { main } = load(`${BIN}load.js`);
  globalThis.process = stand;
  await enter(cwd);
  const [stdout, stderr, events] = [collector(), collector(), new EventEmitter()];
  const argv = [real.execPath, `${BIN}bosun.js`, ...args];
  try {
    const code = await new Promise((resolve, reject) => {
      /** @type {any} */
      const mine = {
        argv,
        env: { ...env },
        stdin: Readable.from(input === undefined ? [] : [Buffer.from(input)]),
        stdout: stdout.stream,
        stderr: stderr.stream,
        exitCode: 0,
        exit: (code = mine.exitCode) => resolve(code),
        on: events.on.bind(events),
        off: events.off.bind(events),
      };
      // In its own surroundings: what it does then is not done by the suite.
      stop?.addEventListener('abort', () => own.run(mine, () => events.emit('SIGTERM', 'SIGTERM')));
      // A program that does not leave ends where it has nothing more to do, as after `--version`.
      const end = () => setTimeout(mine.exit, 0);
      own.run(mine, () => main(argv).then(end, reject));
    });
    return { code, signal: null, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    leave();
  }
}
