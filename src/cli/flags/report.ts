import {
  DOCUMENT_NAMES,
  REPORTER_NAMES,
  reporterSyntax,
  type DocumentName,
} from '../../reporters/registry.js';
import { STDERR_FLAGS } from './output.js';
import type { FlagTable, FlagValues } from './row.js';
import { BYTES, FILE, manyValues, optionalValue, oneOf, text } from './takes.js';

/** Flags of `bosun report`; two of them mean something else than those of runs. */
const OWN_FLAGS = {
  'output-format': {
    short: 'o',
    takes: oneOf('format', ['summary', 'text', 'json', 'stream-json']),
    group: 'What comes out:',
    in: { report: 'a summary for people, or what bosun run prints' },
    default: { value: 'summary' },
  },
  reporter: {
    takes: manyValues(text('name=file')),
    group: 'What comes out:',
    in: { report: `write this report: ${REPORTER_NAMES.map(reporterSyntax).join(', ')} (repeatable)` },
  },
  'max-bytes': {
    takes: BYTES,
    in: { report: 'cut the Markdown report to this size, such as 65536 for a comment' },
  },
  color: STDERR_FLAGS.color,
} as const satisfies FlagTable;

/** `--junit FILE` is short for `--reporter junit=FILE`. */
const SHORTHANDS = Object.fromEntries(
  DOCUMENT_NAMES.map((name) => [
    name,
    { takes: optionalValue(FILE), in: { report: `the same as --reporter ${name}=FILE` } },
  ]),
);

export const REPORT_FLAGS: FlagTable = { ...OWN_FLAGS, ...SHORTHANDS };
export type ReportFlags = FlagValues<typeof OWN_FLAGS, 'report'> & {
  readonly [Name in DocumentName]?: string | boolean;
};
