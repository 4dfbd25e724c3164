import { resolve } from 'node:path';
import { withoutUndefined } from '../lib/without-undefined.js';
import { isPresetName } from '../policy/preset-names.js';
import type { RunRequest } from '../runs/run-request.js';
import type { FlagsOf } from './flags/table.js';
import type { Terminal } from './terminal.js';

type RunFlags = FlagsOf<'run'>;

export function policiesIn({ policy = [] }: Pick<RunFlags, 'policy'>, terminal: Terminal): string[] {
  return policy.map((name) => (isPresetName(name) ? name : resolve(terminal.cwd, name)));
}

/** Flags about what a run may use. */
export type LimitFlags = Pick<RunFlags, 'maxTurns' | 'maxToolCalls' | 'maxTokens' | 'maxCost' | 'timeout'>;

export function limitsIn(flags: LimitFlags): NonNullable<RunRequest['limits']> {
  return withoutUndefined({
    turns: flags.maxTurns,
    tool_calls: flags.maxToolCalls,
    tokens: flags.maxTokens,
    cost_usd: flags.maxCost,
    time_ms: flags.timeout,
  });
}

/** Flags about when a run counts as done. */
export type SuccessFlags = Pick<RunFlags, 'dryRun' | 'verify' | 'requireChanges' | 'patchOut'>;

export function successIn(flags: SuccessFlags): SuccessFlags {
  const { dryRun = false, verify = [], requireChanges = false, patchOut } = flags;
  return { dryRun, verify, requireChanges, ...(patchOut !== undefined && { patchOut }) };
}

/** Flags about events that are recorded only on request. */
export type IncludeFlags = Pick<RunFlags, 'includeThoughts' | 'includeToolState' | 'includeToolOutput'>;

export function includedIn(flags: IncludeFlags): NonNullable<RunRequest['include']> {
  return {
    thoughts: flags.includeThoughts ?? false,
    toolState: flags.includeToolState ?? false,
    toolOutput: flags.includeToolOutput ?? false,
  };
}
