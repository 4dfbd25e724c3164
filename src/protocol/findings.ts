import type { JsonSchema } from './tool.js';

/** How bad a finding is, as SARIF calls it. */
export const SEVERITIES = ['error', 'warning', 'note'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Something that a model has found in a file. */
export interface CodeFinding {
  /** Relative to the workspace. */
  readonly file: string;
  /** From 1 on. */
  readonly line: number;
  readonly end_line?: number;
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
  /** What stays the same if the lines above it change; without it, Bosun makes one. */
  readonly fingerprint?: string;
}

/** Readers of reports count lines with 32 bits, and reject a report with a higher number as a whole. */
export const LAST_LINE = 2 ** 31 - 1;

const LINE = { type: 'integer', minimum: 1, maximum: LAST_LINE };
const WORDS = { type: 'string', minLength: 1 };

/** What `--output-schema findings` stands for. */
export const FINDINGS_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Findings of a review by Bosun',
  type: 'object',
  properties: {
    findings: {
      type: 'array',
      description: 'All problems that were found; empty if there are none.',
      items: {
        type: 'object',
        properties: {
          file: { ...WORDS, description: 'The path of the file, relative to the workspace.' },
          line: { ...LINE, description: 'The line that it begins at, from 1 on.' },
          end_line: { ...LINE, description: 'The line that it ends at, if that is another.' },
          rule: { ...WORDS, description: 'A short name for this kind of problem: unused-variable.' },
          severity: { type: 'string', enum: SEVERITIES },
          message: { ...WORDS, description: 'What is wrong and what to do, in a sentence or two.' },
          fingerprint: { ...WORDS, description: 'Optional: what identifies it even if lines move.' },
        },
        required: ['file', 'line', 'rule', 'severity', 'message'],
        additionalProperties: false,
      },
    },
  },
  required: ['findings'],
  additionalProperties: false,
} as const;

/** Schemas that `--output-schema` knows by name. A file of such a name is `./findings`. */
export const SHIPPED_SCHEMAS: Readonly<Record<string, JsonSchema>> = { findings: FINDINGS_SCHEMA };

export function isShippedSchema(name: string): boolean {
  return Object.hasOwn(SHIPPED_SCHEMAS, name);
}
