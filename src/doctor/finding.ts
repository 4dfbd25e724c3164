import { EXIT_CODES, type Status } from '../protocol/outcome.js';
import { Problem } from '../protocol/problem.js';

/** What one check has found. */
export interface Finding {
  readonly check: string;
  /** `warn`: a run works, but not as well as it could. `fail`: a run would fail. */
  readonly status: 'ok' | 'warn' | 'fail';
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
  /** The exit code of a run that fails because of it. */
  readonly exit_code?: number;
}

export function ok(check: string, message: string): Finding {
  return { check, status: 'ok', message };
}

export function warn(check: string, message: string, hint?: string): Finding {
  return { check, status: 'warn', message, ...(hint !== undefined && { hint }) };
}

export function fail(check: string, status: Status, message: string, hint?: string): Finding {
  return { ...warn(check, message, hint), status: 'fail', exit_code: EXIT_CODES[status] };
}

/** A problem that a run would end with. Anything else is a bug of ours. */
export function failureOf(check: string, error: unknown): Finding {
  if (!(error instanceof Problem)) throw error;
  return fail(check, error.status, error.message, error.hint);
}

/** The exit code for all of them: with several failures the lowest, which a run would meet first. */
export function exitCodeFor(findings: readonly Finding[]): number {
  const codes = findings.flatMap(({ exit_code }) => exit_code ?? []);
  return codes.length > 0 ? Math.min(...codes) : EXIT_CODES.completed;
}
