import { key } from './row.js';
import { bytes, dollars, duration, milliseconds, size, integer } from './schemas.js';

const STRICTEST = { extend: 'override', combine: 'smallest' } as const;
const tightens = <const Name extends string>(name: Name) => ({ name, may: 'tighten' }) as const;

export const LIMITS = {
  rows: {
    turns: key(integer('Model responses.'), {
      key: 'limits.turns',
      default: 100,
      ...STRICTEST,
      flag: tightens('--max-turns'),
    }),
    tool_calls: key(integer('Tool calls.'), {
      key: 'limits.tool_calls',
      default: 1000,
      ...STRICTEST,
      flag: tightens('--max-tool-calls'),
    }),
    tokens: key(integer('Tokens.'), {
      key: 'limits.tokens',
      ...STRICTEST,
      flag: tightens('--max-tokens'),
    }),
    cost_usd: key(dollars('Dollars. The model needs a price: see docs/models.md.'), {
      key: 'limits.cost_usd',
      ...STRICTEST,
      flag: tightens('--max-cost'),
    }),
    time_ms: key(duration('Time.'), {
      key: 'limits.time',
      parse: milliseconds,
      default: '30m',
      ...STRICTEST,
      flag: tightens('--timeout'),
    }),
    retry_time_ms: key(duration('How long one failing request may be retried.'), {
      key: 'limits.retry_time',
      parse: milliseconds,
      default: '5m',
      ...STRICTEST,
      flag: { may: 'tighten' },
    }),
    denials: key(integer('How many denied calls end the run.', 1), {
      key: 'limits.denials',
      default: 10,
      ...STRICTEST,
    }),
    parallel: key(integer('Calls at a time.', 1), { key: 'limits.parallel', default: 8, ...STRICTEST }),
    tool_output: key(integer('How many characters of output the model gets from one call.', 100), {
      key: 'limits.tool_output',
      default: 40_000,
      ...STRICTEST,
    }),
    stored_output: key(size('How much disk space the full outputs of all calls may take.'), {
      key: 'limits.stored_output',
      parse: bytes,
      default: '256MiB',
      ...STRICTEST,
    }),
  },
} as const;
