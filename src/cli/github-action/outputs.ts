import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import type { ResultEvent } from '../../protocol/event.js';
import { EXIT_CODES, type OutcomeError, type Status } from '../../protocol/outcome.js';

/** Longer values are for files: GitHub takes one megabyte of outputs in all. */
const MAX_BYTES = 32 * 1024;

/** What is read of a run's result; all but the status may be missing if it never began. */
export type RunResult = Pick<ResultEvent, 'status'> &
  Partial<
    Pick<ResultEvent, 'response' | 'structured_output' | 'stats' | 'denials' | 'transcript' | 'patch'>
  > & {
    readonly error?: Pick<OutcomeError, 'message' | 'hint'>;
  };

export interface RunEnd {
  readonly exitCode: number;
  /** Absent if the run was killed before it could say how it ended. */
  readonly result: RunResult | undefined;
}

export function statusOf({ result }: RunEnd): Status {
  return result?.status ?? 'internal_error';
}

interface Ending extends RunEnd {
  readonly responseFile: string;
  readonly transcript: string | undefined;
  readonly patch: string | undefined;
}

/** The outputs of the step. */
export function outputsOf({ responseFile, transcript, patch, ...end }: Ending): Record<string, string> {
  const { response = '', structured_output: structured, stats, denials = [] } = end.result ?? {};
  return {
    status: statusOf(end),
    'exit-code': String(end.exitCode),
    response: short(response),
    'response-file': responseFile,
    'structured-output': structured === undefined ? '' : short(JSON.stringify(structured)),
    transcript: existing(transcript),
    'cost-usd': stats?.cost_usd === undefined ? '' : plainNumber(stats.cost_usd),
    tokens: String(stats?.total_tokens ?? ''),
    denials: String(denials.length),
    patch: existing(patch),
  };
}

/** What stands there if nothing more can be said, because this process itself was killed. */
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

/** Without an exponent, which not every reader takes. */
function plainNumber(value: number): string {
  return value.toFixed(9).replace(/\.?0+$/, '');
}

function short(text: string): string {
  return Buffer.byteLength(text) > MAX_BYTES ? '' : text;
}

function existing(path: string | undefined): string {
  return path !== undefined && (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0 ? path : '';
}
