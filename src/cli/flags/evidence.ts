import type { FlagTable } from './row.js';
import { COUNT, FILE, many, NEW_FILE, oneOf, POLICY, SWITCH } from './takes.js';

/** Flags of the policy commands that go by what runs have done. */
export const REPLAY_FLAGS = {
  against: {
    takes: many(POLICY),
    in: { 'policy replay': 'compare with this policy instead of what was decided then (repeatable)' },
  },
  json: { takes: SWITCH, in: { 'policy replay': 'as JSON' } },
  junit: { takes: NEW_FILE, in: { 'policy replay': 'also write a JUnit report' } },
} as const satisfies FlagTable;

/** Flags of `bosun verify`. */
export const VERIFY_FLAGS = {
  sign: {
    takes: FILE,
    in: { verify: 'sign transcripts that are valid with this private ed25519 key (PEM): TRANSCRIPT.sig' },
    conflicts: ['trusted-key'],
  },
  'trusted-key': {
    takes: many(FILE),
    in: { verify: 'they must be signed by this public ed25519 key (repeatable)' },
  },
} as const satisfies FlagTable;

export const LOCK_FLAGS = {
  json: { takes: SWITCH, in: { 'policy lock': 'print the lock as JSON' } },
} as const satisfies FlagTable;

export const LEARN_FLAGS = {
  ceiling: {
    takes: many(POLICY),
    in: { 'policy learn': 'learn nothing beyond this policy: a preset or a file (repeatable)' },
  },
  output: { short: 'o', takes: NEW_FILE, in: { 'policy learn': 'write it there (default: to stdout)' } },
  'min-runs': {
    takes: COUNT,
    in: { 'policy learn': 'what fewer runs show is only a comment' },
    default: { value: 3 },
  },
  from: {
    takes: oneOf('what', ['denials']),
    in: { 'policy learn': 'propose rules for calls that were refused, as comments' },
    conflicts: ['merge'],
  },
  merge: {
    takes: FILE,
    in: { 'policy learn': 'add what is missing to this policy, and show it as a diff' },
  },
  'trusted-key': {
    takes: many(FILE),
    in: { 'policy learn': 'count only transcripts that this public key has signed (repeatable)' },
  },
  json: { takes: SWITCH, in: { 'policy learn': 'as JSON' } },
} as const satisfies FlagTable;
