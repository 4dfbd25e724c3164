import type { EffectivePolicy } from '../policy/fold.js';
import { policyToPlay } from '../policy/recorded.js';
import type { ApprovalAnswer } from '../protocol/approval.js';
import type { Approve } from '../protocol/approve.js';
import type { InitEvent, TranscriptLine } from '../protocol/event.js';
import { caseProblem, type Case } from './case.js';

type InitLine = TranscriptLine & InitEvent;

/** How a run was started, from the first line of its transcript. */
export function initOf({ transcript }: Pick<Case, 'transcript'>, lines: readonly TranscriptLine[]): InitLine {
  const init = lines.find((line): line is InitLine => line.type === 'init');
  if (!init) throw caseProblem(`${transcript} does not say how the run was started`);
  return init;
}

/** The policy to play a case under: its own file, or else what the transcript recorded. */
export function policyOf(
  { policy: file, transcript }: Case,
  init: InitEvent,
  approve: Approve | undefined,
): Promise<EffectivePolicy> {
  if (file === undefined && init.redacted)
    throw caseProblem(
      `${transcript} does not have the whole policy: a secret was removed from it`,
      'Put the policy into the folder of the case as policy.yaml.',
    );
  return policyToPlay(init, { file, isAnswered: approve !== undefined });
}

/** Gives the answers that were given then. Undefined if nobody was asked. */
export function recordedAnswers(lines: readonly TranscriptLine[]): Approve | undefined {
  const answers = new Map<string, ApprovalAnswer>();
  for (const line of lines) {
    if (line.type !== 'approval_response' || line.source === 'grant') continue;
    const { tool_call_id, selected_option_id, file_details, reason } = line;
    answers.set(tool_call_id, {
      ...{ tool_call_id, selected_option_id },
      ...(file_details && { file_details }),
      ...(reason !== undefined && { reason }),
    });
  }
  if (answers.size === 0) return undefined;
  return ({ tool_call_id }) => answers.get(tool_call_id) ?? { tool_call_id, selected_option_id: 'cancel' };
}
