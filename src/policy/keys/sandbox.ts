import { SANDBOX_MODES } from '../../protocol/sandbox.js';
import { key } from './row.js';
import { bytes, oneOf, size, textsOrNone, integer } from './schemas.js';

const SMALLEST = { extend: 'override', combine: 'smallest' } as const;

export const SANDBOX = {
  at: 'sandbox',
  rows: {
    mode: key(
      {
        ...oneOf(
          SANDBOX_MODES,
          'auto: where it works. required: without it, the run does not begin (exit 12). off: never.',
        ),
        // Only for readers: a flag may be wider than this, but not wider than a policy.
        default: 'auto',
      },
      {
        key: 'sandbox.mode',
        extend: 'override',
        combine: 'strictest',
        order: SANDBOX_MODES,
        flag: { name: '--sandbox', may: 'narrow' },
      },
    ),
    // Two policies mean the same path if it really leads to the same place.
    bindRo: key(
      textsOrNone('Paths outside the workspace to show read-only; ~ is the home.', {
        examples: [['~/.npm']],
      }),
      { key: 'sandbox.bind_ro', empty: [], extend: 'add', combine: 'each' },
    ),
    bindRw: key(textsOrNone('Paths outside the workspace to show writable.'), {
      key: 'sandbox.bind_rw',
      empty: [],
      extend: 'add',
      combine: 'each',
    }),
    limits: {
      rows: {
        processes: key(integer('Processes at a time (4096; not for root).', 1), {
          key: 'sandbox.limits.processes',
          ...SMALLEST,
        }),
        memory: key(size('Memory of one process.'), {
          key: 'sandbox.limits.memory',
          parse: bytes,
          ...SMALLEST,
        }),
        file_size: key(size('Size of one file that it writes.'), {
          key: 'sandbox.limits.file_size',
          parse: bytes,
          ...SMALLEST,
        }),
      },
    },
  },
} as const;
