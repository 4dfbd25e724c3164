import { configProblem, Problem } from '../protocol/problem.js';
import type { SuccessConditions } from '../protocol/success.js';

interface Asked {
  readonly verify: readonly string[];
  readonly requireChanges?: boolean | undefined;
  readonly repairs: number;
}

/** What is asked for now, or was before the interruption; undefined if nothing. */
export function conditionsAsked(
  { verify, requireChanges, repairs }: Asked,
  before: SuccessConditions | undefined,
  flags: readonly string[] = [],
): SuccessConditions | undefined {
  if (flags.some((command) => command.trim() === ''))
    throw configProblem('verify', '--verify has an empty command', {
      hint: 'Give a command line, or leave it out.',
    });
  const conditions = {
    verify: [...new Set([...(before?.verify ?? []), ...verify])],
    require_changes: (before?.require_changes || requireChanges) ?? false,
    repairs: Math.min(before?.repairs ?? Infinity, repairs),
  };
  return conditions.verify.length > 0 || conditions.require_changes ? conditions : undefined;
}

/** A run whose end could not be judged does not begin. `denied` says why no program can be started. */
export function cannotVerifyProblem(denied: string): Problem {
  return new Problem('tool_infra_error', 'sandbox', `verify commands cannot be run: ${denied}`, {
    hint: 'docs/security.md explains what a sandbox needs.',
  });
}
