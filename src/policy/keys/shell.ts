import { GIT_TRUST } from '../../protocol/sandbox.js';
import { passedVariables, PASS, SET } from './environment.js';
import { key } from './row.js';
import { duration, milliseconds, oneOf } from './schemas.js';

export const SHELL = {
  rows: {
    timeoutMs: key(duration('How long a command may take.'), {
      key: 'shell.timeout',
      parse: milliseconds,
      default: '10m',
      silent: 'default',
      extend: 'override',
      combine: 'smallest',
    }),
    idleTimeoutMs: key(duration('How long it may be silent.'), {
      key: 'shell.idle_timeout',
      parse: milliseconds,
      default: '5m',
      silent: 'default',
      extend: 'override',
      combine: 'smallest',
    }),
    readScope: key(oneOf(['any', 'workspace'], 'Whether paths in commands must be inside the workspace.'), {
      key: 'shell.read_scope',
      default: 'any',
      empty: 'any',
      extend: 'override',
      combine: 'own',
    }),
    git: key(
      oneOf(
        GIT_TRUST,
        'hardened: git runs no program that a repository names. repository: git obeys the repository.',
      ),
      {
        key: 'shell.git',
        default: 'hardened',
        silent: 'default',
        extend: 'override',
        combine: 'strictest',
        order: ['repository', 'hardened'],
      },
    ),
    pass: key(PASS, {
      key: 'shell.env.pass',
      read: (names, source) => passedVariables(names, source, ['shell', 'env', 'pass']),
      empty: [],
      extend: 'add',
      combine: 'shared',
    }),
    set: key(SET, { key: 'shell.env.set', empty: {}, extend: 'merge', combine: 'merge' }),
  },
} as const;
