import type { Status } from './outcome.js';

type ProblemStatus = Exclude<Status, 'completed'>;

interface ProblemDetails {
  readonly hint?: string;
  readonly cause?: unknown;
}

/**
 * The one exception we throw on purpose: input at a door that cannot be used. `message` is a single line that
 * names the offending value; `hint` says what to do about it.
 */
export class Problem extends Error {
  readonly status: ProblemStatus;
  readonly code: string;
  readonly hint: string | undefined;

  constructor(status: ProblemStatus, code: string, message: string, details: ProblemDetails = {}) {
    super(message, { cause: details.cause });
    this.name = 'Problem';
    this.status = status;
    this.code = code;
    this.hint = details.hint;
  }
}

export function configProblem(code: string, message: string, details: ProblemDetails = {}): Problem {
  return new Problem('config_error', code, message, details);
}

/** What the machine ran out of, if an exception says so: that is not a bug in Bosun. */
export function shortageProblem(error: unknown): Problem | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    const full = { hint: 'Free some space, and try again.', cause: error };
    return new Problem('tool_infra_error', 'no_space_left', `the disk is full: ${String(error)}`, full);
  }
  if (code !== 'EMFILE' && code !== 'ENFILE') return undefined;
  const details = { hint: 'Raise the limit, for example with ulimit -n 1024.', cause: error };
  return new Problem('tool_infra_error', 'open_files', 'too many files are open', details);
}
