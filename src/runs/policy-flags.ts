import type { PolicyFlags } from '../policy/fold.js';
import type { RunRequest } from './run-request.js';

/** What the flags of a run set for keys of its policies. */
export function policyFlags({ limits = {}, verify = [], requireChanges }: FlagRequest): PolicyFlags {
  return { limits, success: { verify, requireChanges } };
}

type FlagRequest = Pick<RunRequest, 'limits' | 'verify' | 'requireChanges'>;
