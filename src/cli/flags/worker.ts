import { InvalidArgumentError } from 'commander';
import { SANDBOX_MODES } from '../../protocol/sandbox.js';
import { STDERR_FLAGS } from './output.js';
import { duration } from './parsers.js';
import type { FlagTable, FlagValues } from './row.js';
import {
  DURATION,
  FILE,
  FOLDER,
  manyValues,
  oneOf,
  POLICY,
  SOME,
  SWITCH,
  text,
  type Takes,
} from './takes.js';

const LEAST_LOCK_MS = 5000;

const LOCK: Takes<number> = {
  ...DURATION,
  read(words) {
    const ms = duration(words);
    if (ms < LEAST_LOCK_MS) throw new InvalidArgumentError('Give at least 5s.');
    return ms;
  },
};

/** Flags that only `bosun worker` has, or that mean something else there. */
const OWN_FLAGS = {
  queue: {
    takes: text('url'),
    in: { worker: 'where the tasks are: redis://HOST:PORT, rediss://…, postgres://HOST/DATABASE' },
  },
  concurrency: {
    takes: SOME,
    in: { worker: 'how many tasks run at once' },
    default: { value: 4 },
  },
  'until-empty': { takes: SWITCH, in: { worker: 'exit when no task waits or runs any more' } },
  grace: {
    takes: DURATION,
    in: { worker: 'after SIGTERM: how long running tasks may take to finish' },
    default: { value: 30_000, shown: '30s' },
  },
  lock: {
    takes: LOCK,
    in: { worker: 'how long a worker may be silent before its task goes to another one' },
    default: { value: 60_000, shown: '60s' },
  },
  policy: {
    takes: manyValues(POLICY),
    group: 'What it may do:',
    in: { worker: 'a policy that every task must also obey (repeatable)' },
  },
  sandbox: {
    takes: oneOf('mode', SANDBOX_MODES),
    group: 'What it may do:',
    in: { worker: 'whether programs run in a sandbox; a batch cannot turn it off' },
  },
  'trusted-key': {
    takes: manyValues(FILE),
    group: 'What it may do:',
    in: { worker: 'run only tasks whose signature this public ed25519 key verifies (repeatable)' },
  },
  repository: {
    takes: manyValues(FOLDER),
    group: 'What it may do:',
    in: { worker: 'a repository that tasks may start from, if it has their commit (repeatable)' },
  },
  'allow-url': {
    takes: manyValues(text('glob')),
    group: 'What it may do:',
    in: { worker: 'URLs that repositories may be fetched from; * matches anything (repeatable)' },
  },
} as const satisfies FlagTable;

export const WORKER_FLAGS = { ...OWN_FLAGS, ...STDERR_FLAGS } as const satisfies FlagTable;
export type WorkerFlags = FlagValues<typeof WORKER_FLAGS, 'worker'>;
