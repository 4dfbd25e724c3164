import { nameTools } from './tool-patterns.js';
import { key } from './row.js';
import { texts, textsOrNone } from './schemas.js';

export const TOOLS = {
  rows: {
    offer: key(texts('Names; * for any.', { examples: [['*']] }), {
      key: 'tools.offer',
      read: (patterns, source) =>
        patterns.flatMap((pattern, i) => nameTools(pattern, source, ['tools', 'offer', i], { also: false })),
      empty: [],
      extend: 'add',
      combine: 'own',
    }),
    exclude: key(texts('Tools that are not offered, even if listed above.'), {
      key: 'tools.exclude',
      read: (patterns, source) =>
        patterns.flatMap((pattern, i) => nameTools(pattern, source, ['tools', 'exclude', i], { also: true })),
      empty: [],
      extend: 'add',
      combine: 'own',
    }),
  },
} as const;

export const WORKSPACE = {
  rows: {
    // Two policies mean the same folder if it is really in the same place.
    include: key(
      textsOrNone('Further directories, relative to the workspace.', { examples: [['../shared-lib']] }),
      { key: 'workspace.include', empty: [], extend: 'add', combine: 'each' },
    ),
    readDeny: key(texts('Globs of files that are never read.', { examples: [['**/secrets/**']] }), {
      key: 'workspace.read_deny',
      empty: [],
      extend: 'add',
      combine: 'union',
    }),
    writeDeny: key(texts('Globs of files that are never written.'), {
      key: 'workspace.write_deny',
      empty: [],
      extend: 'add',
      combine: 'union',
    }),
    writeAllow: key(textsOrNone('Globs of files whose built-in protection (.git and the like) is lifted.'), {
      key: 'workspace.write_allow',
      empty: [],
      extend: 'add',
      combine: 'own',
    }),
  },
} as const;
