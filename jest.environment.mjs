import asyncHooks, { AsyncLocalStorage } from 'node:async_hooks';
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { TestEnvironment } from 'jest-environment-node';
import { bosunHere, closeStdin } from './test/helpers/here.mjs';

/** What jest tells a worker that is no longer needed. */
const END = 2;

// Whatever some hundred suites have left behind, in memory or open, is not worth the time to put it away: jest waits half a
// second, and then says that a worker has failed to exit.
if (process.send) process.on('message', ([what]) => what === END && process.kill(process.pid, 'SIGKILL'));
// Suites find the same stdin whichever ran before them.
if (process.send) closeStdin();

// Each suite loads a jest of its own, which keeps an AsyncLocalStorage. Before Node 24 every promise of the worker pays for each of
// them that was ever used, so that the hundredth suite is slower than the first.
/** @type {AsyncLocalStorage<unknown>[]} */
const storages = [];
asyncHooks.AsyncLocalStorage = class extends AsyncLocalStorage {
  constructor() {
    super();
    storages.push(this);
  }
};

/** A file to which the processor time of each suite is added, if this is set. */
const COSTS = process.env.BOSUN_TEST_COSTS;

/** The processor time of this worker, and of the processes it has started and seen end, in milliseconds. */
function used() {
  const { user, system } = process.cpuUsage();
  const fields = readFileSync('/proc/self/stat', 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  return { own: (user + system) / 1000, children: (Number(fields[13]) + Number(fields[14])) * 10 };
}

/** Where suites run. */
export default class Environment extends TestEnvironment {
  #path;
  #before;

  constructor(config, context) {
    super(config, context);
    this.global.bosunHere = bosunHere;
    this.global.bosunLibrary = () => import('./dist/index.js');
    if (!COSTS) return;
    this.#path = relative(config.projectConfig.rootDir, context.testPath);
    this.#before = { ...used(), at: performance.now() };
  }

  async teardown() {
    await super.teardown();
    for (const storage of storages.splice(0)) storage.disable();
    if (!COSTS) return;
    const { own, children } = used();
    const costs = {
      suite: this.#path,
      own: Math.round(own - this.#before.own),
      children: children - this.#before.children,
      clock: Math.round(performance.now() - this.#before.at),
    };
    appendFileSync(COSTS, `${JSON.stringify(costs)}\n`);
  }
}
