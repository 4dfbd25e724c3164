import type { RunRequest } from './run-request.js';

/** Flags that mean the same for a resumed run. None of them can widen what it may do. */
export const KEPT_FLAGS = [
  ...(['variables', 'verify', 'requireChanges', 'patchOut', 'waitMs', 'include', 'patience'] as const),
  ...(['reporters', 'approve', 'approveTimeoutMs', 'tools', 'protect', 'admit', 'tier'] as const),
  ...(['connections', 'signal', 'underWay', 'log'] as const),
];

/** Decided from the request and from the transcript. */
type Decided = 'policies' | 'policyLock' | 'mode' | 'limits' | 'replay' | 'dryRun';

export interface ResumeRequest extends Pick<RunRequest, (typeof KEPT_FLAGS)[number] | Decided> {
  readonly transcript: string;
  /** The workspace, if it was moved. */
  readonly cwd?: string;
  /** The folder of relative policy names. */
  readonly folder: string;
  /** The task that the transcript must be of. */
  readonly task?: string;
}
