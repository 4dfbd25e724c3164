import asyncHooks, { AsyncLocalStorage } from 'node:async_hooks';
import { appendFileSync, closeSync, openSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { TestEnvironment } from 'jest-environment-node';
import * as unbash from 'unbash';
import yaml from 'yaml';
import { sharedAjv } from './jest.ajv.mjs';
import { besideId, bosunBeside } from './test/helpers/beside.mjs';
import { compileOnce } from './test/helpers/compiled-once.mjs';

/** What jest tells a worker that is no longer needed. */
const END = 2;

// Whatever some hundred suites have left behind, in memory or open, is not worth the time to put it away: jest waits half a
// second, and then says that a worker has failed to exit.
if (process.send) process.on('message', ([what]) => what === END && process.kill(process.pid, 'SIGKILL'));
// Workers have a pipe as stdin, of which a command line would say that nobody reads it, and /dev/stdin leads to it.
if (process.send) {
  closeSync(0);
  openSync('/dev/null', 'r');
}

// Each suite loads a jest of its own, which keeps an AsyncLocalStorage. Before Node 24 every promise of the worker pays for each of
// them that was ever used, so that the hundredth suite is slower than the first.
/** @type {AsyncLocalStorage<unknown>[]} */
const storages = [];
class CountedStorage extends AsyncLocalStorage {
  constructor() {
    super();
    storages.push(this);
  }
}
if (Number.parseInt(process.versions.node, 10) < 24)
  Object.defineProperty(asyncHooks, 'AsyncLocalStorage', { value: CountedStorage });

/** A file to which the processor time of each suite is added, if this is set. */
const COSTS = process.env.BOSUN_TEST_COSTS;

/** The processor time of a process, and of those that it has started and seen end, in milliseconds. */
function timeOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  const [user, system, childrensUser, childrensSystem] = fields
    .slice(11, 15)
    .map((ticks) => Number(ticks) * 10);
  return { own: user + system, children: childrensUser + childrensSystem };
}

/** That of this worker; the program beside it is one of its children. */
function used() {
  const { own, children } = timeOf('self');
  const beside = besideId() === undefined ? { own: 0, children: 0 } : timeOf(besideId());
  return { own, children: children + beside.own + beside.children };
}

/** Where suites run. */
export default class Environment extends TestEnvironment {
  #path;
  #before;

  constructor(config, context) {
    super(config, context);
    // Only what is compiled while it is counted is counted.
    if (!config.globalConfig.collectCoverage) compileOnce();
    this.global.bosunBeside = bosunBeside;
    this.global.bosunAjv = sharedAjv;
    this.global.bosunUnbash = { ...unbash };
    this.global.bosunYaml = yaml;
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
