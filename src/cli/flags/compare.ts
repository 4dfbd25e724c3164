import type { FlagTable, FlagValues } from './row.js';
import { FILE, NEW_FILE, SWITCH } from './takes.js';

/** Flags of `bosun compare`. */
export const COMPARE_FLAGS = {
  gate: {
    takes: FILE,
    in: { compare: 'a file with limits, such as cost_usd: +10%; a broken one is exit 5' },
  },
  json: { takes: SWITCH, in: { compare: 'as JSON' } },
  markdown: { takes: NEW_FILE, in: { compare: 'also write a Markdown report' } },
  html: { takes: NEW_FILE, in: { compare: 'also write an HTML page' } },
} as const satisfies FlagTable;

export type CompareFlags = FlagValues<typeof COMPARE_FLAGS, 'compare'>;
