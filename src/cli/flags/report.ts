import { STDERR_FLAGS } from './output.js';
import type { FlagTable, FlagValues } from './row.js';
import { BYTES, FILE, many, maybe, oneOf, text } from './takes.js';

/** Flags of `bosun report`, two of which mean something else than those of runs. */
export const REPORT_FLAGS = {
  'output-format': {
    short: 'o',
    takes: oneOf('format', ['summary', 'text', 'json', 'stream-json']),
    group: 'What comes out:',
    in: { report: 'a summary for people, or what bosun run prints' },
    default: { value: 'summary' },
  },
  reporter: {
    takes: many(text('name=file')),
    group: 'What comes out:',
    in: { report: 'write this report: github, junit=FILE, markdown=FILE, html=FILE (repeatable)' },
  },
  junit: { takes: maybe(FILE), in: { report: 'the same as --reporter junit=FILE' } },
  markdown: { takes: maybe(FILE), in: { report: 'the same as --reporter markdown=FILE' } },
  'max-bytes': { takes: BYTES, in: { report: 'cut the Markdown report to this size: 65536 for a comment' } },
  html: { takes: maybe(FILE), in: { report: 'the same as --reporter html=FILE' } },
  color: STDERR_FLAGS.color,
} as const satisfies FlagTable;

export type ReportFlags = FlagValues<typeof REPORT_FLAGS, 'report'>;
