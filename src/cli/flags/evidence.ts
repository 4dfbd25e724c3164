import type { FlagTable } from './row.js';
import { FILE, manyValues, NEW_FILE, oneOf, POLICY, SOME, SWITCH } from './takes.js';

/** Flags of the policy commands that use evidence of runs. */
export const REPLAY_FLAGS = {
  against: {
    takes: manyValues(POLICY),
    in: { 'policy replay': 'compare with this policy instead of the recorded decisions (repeatable)' },
  },
  json: { takes: SWITCH, in: { 'policy replay': 'as JSON' } },
  junit: { takes: NEW_FILE, in: { 'policy replay': 'also write a JUnit report' } },
} as const satisfies FlagTable;

/** Flags of `bosun verify`. */
export const VERIFY_FLAGS = {
  sign: {
    takes: FILE,
    in: { verify: 'sign valid transcripts with this private ed25519 key (PEM), in TRANSCRIPT.sig' },
    conflicts: ['trusted-key'],
  },
  'trusted-key': {
    takes: manyValues(FILE),
    in: { verify: 'require a signature that this public ed25519 key verifies (repeatable)' },
  },
} as const satisfies FlagTable;

export const LOCK_FLAGS = {
  json: { takes: SWITCH, in: { 'policy lock': 'print the lock as JSON' } },
} as const satisfies FlagTable;

export const LEARN_FLAGS = {
  ceiling: {
    takes: manyValues(POLICY),
    in: { 'policy learn': 'learn nothing that this policy does not allow: a preset or a file (repeatable)' },
  },
  output: {
    short: 'o',
    takes: NEW_FILE,
    in: { 'policy learn': 'where to write the policy (default: stdout)' },
  },
  'min-runs': {
    takes: SOME,
    in: { 'policy learn': 'make a rule only of what this many runs needed, and a comment of the rest' },
    default: { value: 3 },
  },
  from: {
    takes: oneOf('what', ['denials']),
    in: { 'policy learn': 'propose rules for denied calls, as comments' },
    conflicts: ['merge'],
  },
  merge: {
    takes: FILE,
    in: { 'policy learn': 'add what is missing to this policy, and print the diff' },
  },
  'trusted-key': {
    takes: manyValues(FILE),
    in: { 'policy learn': 'use only transcripts whose signature this public key verifies (repeatable)' },
  },
  json: { takes: SWITCH, in: { 'policy learn': 'as JSON' } },
} as const satisfies FlagTable;
