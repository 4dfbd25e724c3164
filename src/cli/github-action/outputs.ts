import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import type { BatchResultEvent } from '../../batch/journal/event.js';
import type { ResultEvent } from '../../protocol/event.js';
import { EXIT_CODES, type OutcomeError } from '../../protocol/outcome.js';
import type { StepStatus } from './fail-on.js';

/** Longer values go to files: GitHub takes one megabyte of outputs in all. */
const MAX_BYTES = 32 * 1024;

/** Reported only by batches. */
type BatchFacts = Pick<BatchResultEvent, 'tasks' | 'cost_usd' | 'tokens' | 'message'>;

/** What is read of a run's result; if it never began, everything but the status may be missing. */
export type RunResult = { readonly status: StepStatus } & Partial<BatchFacts> &
  Partial<
    Pick<ResultEvent, 'response' | 'structured_output' | 'stats' | 'denials' | 'transcript' | 'patch'>
  > & {
    readonly error?: Pick<OutcomeError, 'message' | 'hint'>;
  };

export interface RunEnd {
  readonly exitCode: number;
  /** Absent if the run was killed before it could report its end. */
  readonly result: RunResult | undefined;
}

export function stepStatus({ result }: RunEnd): StepStatus {
  return result?.status ?? 'internal_error';
}

interface Ending extends RunEnd {
  readonly responseFile: string;
  readonly transcript: string | undefined;
  readonly patch: string | undefined;
  /** Set for a batch. */
  readonly results: string | undefined;
}

/** The outputs of the step. */
export function outputsOf({
  responseFile,
  transcript,
  patch,
  results,
  ...end
}: Ending): Record<string, string> {
  const { response = '', structured_output: structured, stats, denials = [], tasks } = end.result ?? {};
  const cost = stats?.cost_usd ?? end.result?.cost_usd ?? undefined;
  return {
    status: stepStatus(end),
    'exit-code': String(end.exitCode),
    response: short(response),
    'response-file': responseFile,
    'structured-output': structured === undefined ? '' : short(JSON.stringify(structured)),
    transcript: existing(transcript),
    'cost-usd': cost === undefined ? '' : plainNumber(cost),
    tokens: String(stats?.total_tokens ?? end.result?.tokens ?? ''),
    denials: String(denials.length),
    patch: existing(patch),
    ...(tasks && {
      completed: String(tasks.completed),
      failed: String(tasks.failed),
      pending: String(tasks.pending),
      results: existing(results),
    }),
  };
}

/** The outputs that remain if this process itself is killed, and can write no more. */
export function outputsBefore(responseFile: string): Record<string, string> {
  return {
    status: 'internal_error',
    'exit-code': String(EXIT_CODES.internal_error),
    'response-file': responseFile,
    denials: '0',
  };
}

/** Outputs as GitHub reads them from a file: each between two lines that the value cannot contain. */
export function renderOutputs(outputs: Readonly<Record<string, string>>): string {
  return Object.entries(outputs)
    .map(([name, value]) => {
      const mark = markFor(value);
      return `${name}<<${mark}\n${value}\n${mark}\n`;
    })
    .join('');
}

function markFor(value: string): string {
  const mark = `bosun-${randomBytes(16).toString('hex')}`;
  return value.includes(mark) ? markFor(value) : mark;
}

/** Without an exponent, which not every reader understands. */
function plainNumber(value: number): string {
  return value.toFixed(9).replace(/\.?0+$/, '');
}

function short(text: string): string {
  return Buffer.byteLength(text) > MAX_BYTES ? '' : text;
}

function existing(path: string | undefined): string {
  return path !== undefined && (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0 ? path : '';
}
