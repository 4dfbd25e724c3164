import type { RunRequest } from './settings.js';

/** Flags of a run that goes on: none of them can widen what it may do. */
export interface ResumeRequest extends Pick<
  RunRequest,
  | 'policies'
  | 'policyLock'
  | 'mode'
  | 'variables'
  | 'replay'
  | 'dryRun'
  | 'verify'
  | 'requireChanges'
  | 'patchOut'
  | 'limits'
  | 'waitMs'
  | 'include'
  | 'patience'
  | 'reporters'
  | 'approve'
  | 'approveTimeoutMs'
  | 'tools'
  | 'protect'
  | 'admit'
  | 'tier'
  | 'connections'
  | 'signal'
  | 'underWay'
  | 'log'
> {
  readonly transcript: string;
  /** The workspace, if it is not where it was. */
  readonly cwd?: string;
  /** Where relative names of policies count from. */
  readonly folder: string;
  /** The task that the transcript has to be of. */
  readonly task?: string;
}
