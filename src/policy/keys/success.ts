import { key } from './row.js';
import { texts, integer, booleanKey } from './schemas.js';

export const SUCCESS = {
  rows: {
    verify: key(
      texts('Command lines that must succeed when the model is done.', { examples: [['npm test']] }),
      {
        key: 'success.verify',
        empty: [],
        extend: 'add',
        combine: 'union',
        flag: { name: '--verify', may: 'add' },
      },
    ),
    requireChanges: key(booleanKey('Whether something in the workspace must have changed.'), {
      key: 'success.require_changes',
      default: false,
      extend: 'override',
      combine: 'any',
      flag: { name: '--require-changes', may: 'demand' },
    }),
    repairs: key(integer('How often the model may fix what failed.'), {
      key: 'success.repairs',
      default: 2,
      extend: 'override',
      combine: 'smallest',
    }),
  },
} as const;

export const PATCH = {
  at: 'patch',
  each: true,
  rows: {
    maxFiles: key(integer('How many files a run may change; a renamed file counts twice.'), {
      key: 'patch.max_files',
      extend: 'override',
      combine: 'each',
    }),
    maxBytes: key(integer('Size of the patch in bytes.'), {
      key: 'patch.max_bytes',
      extend: 'override',
      combine: 'each',
    }),
    paths: key(
      texts('Globs of the files that a run may change, relative to the workspace.', {
        examples: [['src/**', 'test/**']],
      }),
      { key: 'patch.paths', empty: [], extend: 'add', combine: 'each' },
    ),
  },
} as const;
