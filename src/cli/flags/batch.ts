import { InvalidArgumentError } from 'commander';
import { fileArgument } from './parsers.js';
import type { FlagTable, FlagValues } from './row.js';
import { FLAGS, type FlagsOf } from './table.js';
import { FILE, FOLDER, manyValues, oneOf, SOME, SWITCH, text, type Takes } from './takes.js';

interface Shard {
  readonly index: number;
  readonly count: number;
}

const SHARD: Takes<Shard> = {
  shown: '<i/n>',
  read(words) {
    const [, index = '', count = ''] = /^(\d{1,6})\/(\d{1,6})$/.exec(words) ?? [];
    const shard = { index: Number(index), count: Number(count) };
    if (shard.index < 1 || shard.count < 1 || shard.index > shard.count)
      throw new InvalidArgumentError('Give I/N with I from 1 to N, such as 2/8.');
    return shard;
  },
};

/** Flags that only `bosun batch run` has, or that mean something else there. */
const OWN_FLAGS = {
  each: {
    takes: manyValues(text('glob')),
    group: 'The task:',
    in: { 'batch run': 'without a batch file: one task for each file, {{file}} (repeatable)' },
  },
  tasks: {
    takes: FILE,
    group: 'The task:',
    in: {
      'batch run': 'without a batch file: tasks from a .jsonl, .csv or .yaml file (- for JSONL on stdin)',
    },
  },
  'untrusted-value': {
    takes: manyValues(text('name')),
    group: 'The task:',
    in: { 'batch run': 'a value that is untrusted: attached, never part of the prompt (repeatable)' },
  },
  name: {
    takes: text('name'),
    group: 'The batch:',
    in: { 'batch run': 'without a batch file: the name of the batch' },
  },
  out: {
    takes: { ...FOLDER, read: fileArgument },
    group: 'The batch:',
    in: { 'batch run': 'the folder of the batch (default: .bosun/batches/<name>)' },
  },
  only: {
    takes: manyValues(text('glob')),
    group: 'The batch:',
    in: { 'batch run': 'only tasks whose id matches (repeatable)' },
  },
  estimate: {
    takes: SWITCH,
    group: 'The batch:',
    in: { 'batch run': 'send nothing: say what would run, and what it may cost' },
  },
  'retry-failed': { takes: SWITCH, group: 'The batch:', in: { 'batch run': 'run failed tasks again' } },
  redo: {
    takes: manyValues(text('glob')),
    group: 'The batch:',
    in: { 'batch run': 'run tasks again whose id matches, even completed ones (repeatable)' },
  },
  shard: { takes: SHARD, group: 'The batch:', in: { 'batch run': 'run only part i of n of the tasks' } },
  queue: {
    takes: text('url'),
    group: 'The batch:',
    in: {
      'batch run':
        'let workers run the tasks (bosun worker): redis://HOST:PORT, rediss://…, postgres://HOST/DATABASE',
    },
    conflicts: ['shard', 'estimate'],
  },
  sign: {
    takes: FILE,
    group: 'The batch:',
    in: { 'batch run': 'with --queue: sign the tasks with this private ed25519 key (PEM)' },
  },
  isolation: {
    takes: oneOf('kind', ['clone', 'none']),
    group: 'The batch:',
    in: { 'batch run': 'clone: each task in its own clone; none: all in the workspace' },
  },
  base: {
    takes: text('commit'),
    group: 'The batch:',
    in: { 'batch run': 'the commit to clone (default: HEAD)' },
  },
  concurrency: {
    takes: SOME,
    group: 'The batch:',
    in: { 'batch run': 'how many tasks run at once (default: 8)' },
  },
  attempts: {
    takes: SOME,
    group: 'The batch:',
    in: { 'batch run': 'how often a task is tried (default: 3)' },
  },
  reporter: {
    takes: manyValues(text('name=file')),
    group: 'What comes out:',
    in: { 'batch run': 'also write a report: github, junit=FILE, markdown=FILE, html=FILE (repeatable)' },
  },
} as const satisfies FlagTable;

export const BATCH_FLAGS: FlagTable = { ...OWN_FLAGS, ...FLAGS, reporter: OWN_FLAGS.reporter };
export type BatchRunFlags = FlagsOf<'batch run'> & FlagValues<typeof OWN_FLAGS, 'batch run'>;

const REPORTS = 'also write a report: github, junit=FILE, markdown=FILE, html=FILE (repeatable)';

/** Flags of the commands about the folder of a batch. */
export const FOLDER_FLAGS = {
  json: { takes: SWITCH, in: { 'batch status': 'print one JSON object' } },
  queue: { takes: text('url'), in: { 'batch status': 'show a queue instead of a folder' } },
  watch: { takes: SWITCH, in: { 'batch status': 'with --queue: repeat every two seconds' } },
  out: { takes: { ...FOLDER, read: fileArgument }, in: { 'batch merge': 'the folder to create' } },
  reporter: {
    takes: manyValues(text('name=file')),
    group: 'What comes out:',
    in: { 'batch report': REPORTS, 'batch merge': REPORTS },
  },
  'output-format': {
    short: 'o',
    takes: oneOf('format', ['text', 'json']),
    group: 'What comes out:',
    in: { 'batch merge': 'what goes to stdout' },
    default: { value: 'text' },
  },
} as const satisfies FlagTable;

export type StatusFlags = FlagValues<typeof FOLDER_FLAGS, 'batch status'>;
export type FolderReportFlags = FlagValues<typeof FOLDER_FLAGS, 'batch report'>;
export type MergeFlags = FlagValues<typeof FOLDER_FLAGS, 'batch merge'>;
