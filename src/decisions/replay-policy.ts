import { openPolicies, type PolicyRequest } from '../policy/load.js';
import { compareRuns } from '../policy/replay/compare-runs.js';
import type { ReplaySummary } from '../policy/replay/summary.js';
import { configProblem } from '../protocol/problem.js';
import { judgeUnder, type JudgeSettings } from './judge-calls.js';
import { readEvidence } from '../transcript/read-evidence.js';

export { replayJson } from '../policy/replay/json.js';
export { replayJunit } from '../policy/replay/junit.js';
export { replayText } from '../policy/replay/text.js';

export interface ReplayRequest extends PolicyRequest, JudgeSettings {
  readonly transcripts: readonly string[];
  /** The policy to compare the new one with, instead of the recorded decisions. */
  readonly against: readonly string[];
}

/** Judges every recorded call again, without model and tools. Throws if a transcript cannot be used. */
export async function replayPolicy(request: ReplayRequest): Promise<ReplaySummary> {
  const { against, transcripts, mode: _mode, ...rest } = request;
  if (request.policies.length === 0)
    throw configProblem('policy', 'no policy to judge with', { hint: 'Name one with --policy.' });
  const policy = judgeUnder(await openPolicies(request), request);
  const old =
    against.length > 0
      ? judgeUnder(await openPolicies({ ...rest, policies: against, mode: undefined }), request)
      : undefined;
  const { runs, unusable } = await readEvidence(transcripts);
  const [broken] = unusable;
  if (broken) throw configProblem('transcript', `${broken.path} cannot be used: ${broken.why}`);
  return compareRuns(runs, policy, old);
}
