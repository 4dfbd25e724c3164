import { callNamer } from '../agent/loop.js';
import { compressed } from '../agent/compress.js';
import { append } from '../agent/history.js';
import { withNotice } from '../agent/loop-detector.js';
import { FORM_REPAIR } from '../agent/review.js';
import { isUsable } from '../agent/turn.js';
import { answerSignatureFault } from '../approvals/binding.js';
import { laterAnswers, type LaterAnswers } from '../approvals/defer.js';
import type { Grant } from '../protocol/approval.js';
import { hashesOf } from '../protocol/transcript.js';
import { recordedEnd } from '../providers/finish.js';
import type { Conversation } from '../resume/rebuild.js';
import { answersIn, grantsIn, type PausedRun } from '../resume/restore.js';
import { responseContent } from '../scheduler/response.js';
import type { ResumedPolicy } from './resumed-policy.js';
import type { SessionBefore } from '../transcript/session.js';

/** A run that is being resumed. */
export interface ResumedRun extends PausedRun, ResumedPolicy {
  readonly session: SessionBefore;
}

/** How the conversation is rebuilt: as the run itself builds it. */
export function conversationSteps(): Conversation {
  return {
    nameCalls: callNamer(),
    append,
    answer: responseContent,
    withNotice,
    compressed,
    wasUsable: ({ content, finish_reason, model }, history) => {
      const end = recordedEnd(finish_reason);
      return isUsable({ type: 'reply', content, end, finishReason: finish_reason, model }, history);
    },
    formRepair: FORM_REPAIR,
  };
}

/** Answers that `bosun approve` has written meanwhile. */
export function answersOf(run: ResumedRun): LaterAnswers {
  const { session, effective, policySha256 } = run;
  return laterAnswers(answersIn(run), {
    sessionId: session.id,
    policySha256,
    lines: hashesOf(session),
    trustedKeys: effective.trustedKeys,
    now: new Date(),
  });
}

/** What "always" answers cover. */
export function grantsOf(run: ResumedRun): Grant[] {
  return grantsIn(run, run.effective.trustedKeys, answerSignatureFault);
}
