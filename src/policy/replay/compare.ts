import { canonicalJson } from '../../lib/canonical-json.js';
import type { OnAsk, RuleReference, DecisionWord } from '../../protocol/decision.js';
import type { EvidenceCall } from '../../protocol/evidence.js';

/** What a policy says of a recorded call. */
export interface Judged {
  readonly decision: DecisionWord;
  readonly rule: RuleReference | null;
  readonly reason: string;
  /** Who would be asked, where that is the decision. */
  readonly onAsk?: OnAsk;
}

/** A recorded call and where it stands. */
export interface CallPlace {
  readonly transcript: string;
  readonly call: EvidenceCall;
}

/** A call with what was said of it before and what is said now, or why nothing is. */
export type Comparison = CallPlace &
  (
    | { readonly notJudged: string }
    | {
        readonly notJudged?: undefined;
        readonly change: 'same' | 'stricter' | 'looser';
        /** It was allowed and succeeded, and would be refused now. */
        readonly refused: boolean;
        readonly before: Judged;
        readonly after: Judged;
      }
  );

export type Difference = Exclude<Comparison, { readonly notJudged: string }>;

const STRICTNESS: readonly DecisionWord[] = ['allow', 'ask', 'deny'];

/** Compares what is said of a call now with what was said of it before. */
export function compare(place: CallPlace, before: Judged, after: Judged): Difference {
  const steps =
    STRICTNESS.indexOf(after.decision) - STRICTNESS.indexOf(before.decision) || askSteps(before, after);
  return {
    ...place,
    change: steps === 0 ? 'same' : steps > 0 ? 'stricter' : 'looser',
    refused: steps > 0 && place.call.succeeded && isRefusal(after),
    before,
    after,
  };
}

/** Whether another way of asking lets more through: nobody, people later, a function or program. Recorded calls do not tell. */
function askSteps({ decision, onAsk: old }: Judged, { onAsk: now }: Judged): number {
  if (decision !== 'ask' || old === undefined || now === undefined) return 0;
  const steps = mercyOf(old) - mercyOf(now);
  // What another program answers is not known: somebody has to look.
  return steps === 0 && canonicalJson(old) !== canonicalJson(now) && typeof now === 'object' ? -1 : steps;
}

function mercyOf(onAsk: OnAsk): number {
  if (onAsk === 'deny' || onAsk === 'fail') return 0;
  return onAsk === 'defer' ? 1 : 2;
}

/** Where nobody can answer, to ask is to refuse. */
function isRefusal({ decision, onAsk }: Judged): boolean {
  if (decision !== 'ask') return decision === 'deny';
  return onAsk === undefined || onAsk === 'deny' || onAsk === 'fail';
}
