import { APPROVAL_OPTIONS } from '../../protocol/approval-options.js';
import type { FlagTable, FlagValues } from './row.js';
import { DURATION, FILE, oneOf, SWITCH, text } from './takes.js';

/** Flags of `bosun approve`. */
export const APPROVE_FLAGS = {
  call: { takes: text('id'), in: { approve: 'the call to answer (may be left out if only one waits)' } },
  all: {
    takes: SWITCH,
    in: { approve: 'answer every call that waits' },
    conflicts: ['call', 'answers'],
  },
  option: { takes: oneOf('option', APPROVAL_OPTIONS), in: { approve: 'the answer' } },
  'content-file': {
    takes: FILE,
    in: { approve: 'for modify: the content to use instead' },
    conflicts: ['all'],
  },
  reason: { takes: text('text'), in: { approve: 'a reason for the model' } },
  answers: {
    takes: FILE,
    in: { approve: 'a JSON array of answers (- for stdin)' },
    conflicts: ['call', 'option', 'content-file', 'reason'],
  },
  expires: {
    takes: DURATION,
    in: { approve: 'how long the answers are valid' },
    default: { value: 24 * 3_600_000, shown: '24h' },
  },
  key: { takes: FILE, in: { approve: 'sign with this private ed25519 key (PEM)' } },
  json: { takes: SWITCH, in: { approve: 'print JSON: what waits, or what was answered' } },
} as const satisfies FlagTable;

export type ApproveFlags = FlagValues<typeof APPROVE_FLAGS, 'approve'>;
