import type { FlagTable, FlagValues } from './row.js';
import type { FlagsOf } from './table.js';
import { FOLDER, manyValues, NEW_FILE, SOME, SWITCH, text } from './takes.js';

/** Flags of `bosun test` and `bosun test init`. */
export const TEST_FLAGS = {
  only: { takes: manyValues(text('glob')), in: { test: 'play only cases with such a name (repeatable)' } },
  update: { takes: SWITCH, in: { test: 'record again what is different' } },
  concurrency: {
    takes: SOME,
    in: { test: 'how many cases are played at a time (default: the number of processors)' },
  },
  json: { takes: SWITCH, in: { test: 'as JSON' } },
  junit: { takes: NEW_FILE, in: { test: 'also write a JUnit report' } },
  out: { takes: FOLDER, in: { 'test init': 'the folder of the new case (default: bosun-tests/RUN-ID)' } },
  workspace: {
    takes: FOLDER,
    in: { 'test init': 'the files as they were before the run, if they are not in the commit it began with' },
  },
} as const satisfies FlagTable;

export type TestFlags = FlagsOf<'test'> & FlagValues<typeof TEST_FLAGS, 'test'>;
export type TestInitFlags = FlagsOf<'test init'> & FlagValues<typeof TEST_FLAGS, 'test init'>;
