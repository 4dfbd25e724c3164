import { key } from './row.js';
import { integer } from './schemas.js';

/** What is kept of runs that have ended. */
export const RUNS = {
  rows: {
    keep: key(
      integer('How many of the newest runs to keep in .bosun/runs; older ones are removed (all).', 1),
      {
        key: 'runs.keep',
        extend: 'override',
        combine: 'smallest',
      },
    ),
  },
} as const;
