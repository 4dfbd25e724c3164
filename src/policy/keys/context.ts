import type { FromSchema } from '../../protocol/from-schema.js';
import type { NamedFile } from '../../protocol/named-files.js';
import { positionOf, type PolicySource } from '../place.js';
import { key } from './row.js';
import { object, text, texts, integer } from './schemas.js';

const LOOPS = {
  description: 'When a model that repeats itself is warned and stopped: a table, or off.',
  anyOf: [
    { const: 'off' },
    object('When a model that repeats itself is warned and stopped.', {
      repeats: integer('The same call with the same result this often in a row (5).', 2),
      cycle: integer('The longest cycle of calls that is looked for (4).', 1),
      cycle_repeats: integer('A cycle that is repeated this often (4).', 2),
      more: integer('How many rounds after the notice end the run (3).', 1),
    }),
  ],
} as const;
type Loops = FromSchema<typeof LOOPS>;
const USUAL_LOOPS = { repeats: 5, cycle: 4, cycle_repeats: 4, more: 3 };

/** What the model is given to read, how long that is kept, and when it repeats itself. */
export const CONTEXT = {
  context: key(
    texts('Files for the first message, relative to the workspace.', { examples: [['GEMINI.md']] }),
    {
      key: 'context.files',
      read: (paths, source) => paths.map((path, i) => namedFile(path, source, ['context', 'files', i])),
      empty: [],
      extend: 'append',
      combine: 'own',
    },
  ),
  compressAt: key(
    {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 1,
      description: 'How full the context window may get before the history is compressed.',
    },
    { key: 'context.compress_at', default: 0.7, extend: 'override', combine: 'smallest' },
  ),
  loops: key(LOOPS, {
    key: 'loops',
    extend: (base: Loops, over: Loops) =>
      typeof base === 'object' && typeof over === 'object' ? { ...base, ...over } : over,
    combine: { words: 'the strictest of each value', of: strictestLoops },
  }),
  memory: key(
    text('The file it is kept in, relative to the workspace.', {
      pattern: '\\S',
      examples: ['.bosun/memory.md'],
    }),
    {
      key: 'memory.file',
      required: true,
      read: (path, source) => namedFile(path, source, ['memory', 'file']),
      extend: 'override',
      combine: 'own',
    },
  ),
} as const;

function namedFile(path: string, source: PolicySource, at: readonly (string | number)[]): NamedFile {
  return { path, place: positionOf(source, at) };
}

/** The strictest of all policies' loop settings, value by value. */
function strictestLoops(said: readonly Loops[]): Required<Exclude<Loops, 'off'>> | 'off' {
  const tables = said.flatMap((loops) => (loops === 'off' ? [] : [{ ...USUAL_LOOPS, ...loops }]));
  if (tables.length === 0) return said.length > 0 ? 'off' : USUAL_LOOPS;
  return tables.reduce((a, b) => ({
    repeats: Math.min(a.repeats, b.repeats),
    cycle: Math.max(a.cycle, b.cycle),
    cycle_repeats: Math.min(a.cycle_repeats, b.cycle_repeats),
    more: Math.min(a.more, b.more),
  }));
}
