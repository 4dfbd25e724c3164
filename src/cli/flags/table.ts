import { LIMIT_FLAGS } from './limits.js';
import { OUTPUT_FLAGS, STDERR_FLAGS } from './output.js';
import { PERMISSION_FLAGS } from './permissions.js';
import type { FlagValues } from './row.js';
import { SUCCESS_FLAGS } from './success.js';
import { TASK_FLAGS } from './task.js';

/**
 * Flags of runs, and of commands that share some with them. Options, `BOSUN_…` variables, inputs of the action, help,
 * completion and the types of the values come from here; flags of one other command are kept with that command.
 */
export const FLAGS = {
  ...TASK_FLAGS,
  ...PERMISSION_FLAGS,
  ...OUTPUT_FLAGS,
  ...SUCCESS_FLAGS,
  ...LIMIT_FLAGS,
  ...STDERR_FLAGS,
} as const;

export type FlagsOf<C extends string> = FlagValues<typeof FLAGS, C>;
export type StderrFlags = Pick<FlagsOf<'run'>, 'logLevel' | 'logFormat' | 'quiet' | 'color'>;
