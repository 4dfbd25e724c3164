import type { RunRequest } from './settings.js';

/** Flags that say the same for a run that goes on. None of them can widen what it may do. */
export const KEPT_FLAGS = [
  ...(['variables', 'verify', 'requireChanges', 'patchOut', 'waitMs', 'include', 'patience'] as const),
  ...(['reporters', 'approve', 'approveTimeoutMs', 'tools', 'protect', 'admit', 'tier'] as const),
  ...(['connections', 'signal', 'underWay', 'log'] as const),
];

/** What the run goes on under is decided from these and from the transcript. */
type Decided = 'policies' | 'policyLock' | 'mode' | 'limits' | 'replay' | 'dryRun';

export interface ResumeRequest extends Pick<RunRequest, (typeof KEPT_FLAGS)[number] | Decided> {
  readonly transcript: string;
  /** The workspace, if it is not where it was. */
  readonly cwd?: string;
  /** Where relative names of policies count from. */
  readonly folder: string;
  /** The task that the transcript has to be of. */
  readonly task?: string;
}
