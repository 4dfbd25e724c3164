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
  const steps = STRICTNESS.indexOf(after.decision) - STRICTNESS.indexOf(before.decision);
  return {
    ...place,
    change: steps === 0 ? 'same' : steps > 0 ? 'stricter' : 'looser',
    refused: steps > 0 && place.call.succeeded && isRefusal(after),
    before,
    after,
  };
}

/** Where nobody can answer, to ask is to refuse. */
function isRefusal({ decision, onAsk }: Judged): boolean {
  if (decision !== 'ask') return decision === 'deny';
  return onAsk === undefined || onAsk === 'deny' || onAsk === 'fail';
}
