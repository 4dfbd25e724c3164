import { sameHelp, type FlagTable, type FlagValues } from './row.js';
import type { FlagsOf } from './table.js';
import { AGE, COUNT, SWITCH } from './takes.js';

/** Flags of `bosun runs …` besides those that runs share with it. */
export const RUNS_FLAGS = {
  keep: { takes: COUNT, in: { 'runs prune': 'keep this many of the newest runs, however old' } },
  'older-than': {
    takes: AGE,
    in: { 'runs prune': 'remove only runs last written longer ago than this, such as 30d' },
  },
  'dry-run': { takes: SWITCH, in: { 'runs prune': 'only say which runs would be removed' } },
  json: { takes: SWITCH, in: sameHelp('as JSON', 'runs list', 'runs prune') },
} as const satisfies FlagTable;

export type RunsFlags = FlagsOf<'runs prune'> & FlagValues<typeof RUNS_FLAGS, 'runs prune'>;
