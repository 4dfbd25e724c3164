import { MODES, type OnAsk } from '../../protocol/decision.js';
import type { FromSchema } from '../../protocol/from-schema.js';
import type { PolicySource } from '../place.js';
import { trustedKey } from '../trusted-key.js';
import { ENVIRONMENT, passedVariables } from './environment.js';
import { key } from './row.js';
import { duration, milliseconds, object, oneOf, texts } from './schemas.js';

const ON_ASK = {
  description: 'What happens on `ask` when nobody is watching.',
  anyOf: [
    { enum: ['deny', 'fail', 'defer'] },
    object(
      'A program that answers.',
      {
        command: texts('A program and its arguments.', { examples: [['./approve.sh']] }),
        timeout: duration('How long it may take (60s).'),
        env: ENVIRONMENT,
      },
      ['command'],
    ),
  ],
} as const;

/** What happens to calls that no rule matches, and to those that need approval. */
export const DECISIONS = {
  mode: key(oneOf(MODES, 'What happens to calls that no rule covers.'), {
    key: 'mode',
    default: 'plan',
    empty: 'plan',
    extend: 'override',
    combine: 'strictest',
    order: MODES.toReversed(),
    flag: { name: '--mode', may: 'narrow' },
  }),
  onAsk: key(ON_ASK, {
    key: 'on_ask',
    read: onAskIn,
    default: 'deny',
    empty: 'deny',
    extend: 'override',
    combine: 'own',
  }),
  trustedKeys: key(
    texts('Public ed25519 keys: answers of `bosun approve` must be signed by one of them.', {
      examples: [['keys/reviewers.pub.pem']],
    }),
    {
      key: 'approvals.trusted_keys',
      read: (keys, source) => keys.map((text, i) => trustedKey(text, source, i)),
      empty: [],
      extend: 'add',
      combine: {
        words: 'one of each policy that names some',
        of: (lists: readonly (readonly string[])[]) => lists.filter((keys) => keys.length > 0),
      },
    },
  ),
  onDenied: key(oneOf(['fail', 'warn', 'ignore'], 'What a denial does to the exit code.'), {
    key: 'on_denied',
    default: 'fail',
    empty: 'fail',
    extend: 'override',
    combine: 'strictest',
    order: ['ignore', 'warn', 'fail'],
  }),
} as const;

function onAskIn(written: FromSchema<typeof ON_ASK>, source: PolicySource): OnAsk {
  if (typeof written === 'string') return written;
  const { command, timeout = '60s', env } = written;
  const pass = passedVariables(env?.pass, source, ['on_ask', 'env', 'pass']);
  return { command, timeoutMs: milliseconds(timeout), pass, set: env?.set ?? {} };
}
