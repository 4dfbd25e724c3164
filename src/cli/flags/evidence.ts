import type { FlagTable } from './row.js';
import { many, NEW_FILE, POLICY, SWITCH } from './takes.js';

/** Flags of the policy commands that go by what runs have done. */
export const REPLAY_FLAGS = {
  against: {
    takes: many(POLICY),
    in: { 'policy replay': 'compare with this policy instead of what was decided then (repeatable)' },
  },
  json: { takes: SWITCH, in: { 'policy replay': 'as JSON' } },
  junit: { takes: NEW_FILE, in: { 'policy replay': 'also write a JUnit report' } },
} as const satisfies FlagTable;
