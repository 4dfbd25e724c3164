import { canonicalJson } from '../../lib/canonical-json.js';
import type { OnAsk, RuleReference, DecisionWord } from '../../protocol/decision.js';
import type { EvidenceCall } from '../../protocol/evidence.js';

/** The decision of a policy about a recorded call. */
export interface Judged {
  readonly decision: DecisionWord;
  readonly rule: RuleReference | null;
  readonly reason: string;
  /** Who would be asked, if the decision is ask. */
  readonly onAsk?: OnAsk;
}

/** A recorded call and where it is in its transcript. */
export interface CallPlace {
  readonly transcript: string;
  readonly call: EvidenceCall;
}

/** A call with the decisions before and now, or why there is none. */
export type Comparison = CallPlace &
  (
    | { readonly notJudged: string }
    | {
        readonly notJudged?: undefined;
        readonly change: 'same' | 'stricter' | 'looser';
        /** It was allowed and succeeded, and would be denied now. */
        readonly refused: boolean;
        readonly before: Judged;
        readonly after: Judged;
      }
  );

export type Difference = Exclude<Comparison, { readonly notJudged: string }>;

const STRICTNESS: readonly DecisionWord[] = ['allow', 'ask', 'deny'];

/** Compares the decision about a call now with the one before. */
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

/** Whether a new way of asking lets more through: nobody, people later, a function or program. No recording tells. */
function askSteps({ decision, onAsk: old }: Judged, { onAsk: now }: Judged): number {
  if (decision !== 'ask' || old === undefined || now === undefined) return 0;
  const steps = mercyOf(old) - mercyOf(now);
  // What another program answers is not known: a person has to look.
  return steps === 0 && canonicalJson(old) !== canonicalJson(now) && typeof now === 'object' ? -1 : steps;
}

function mercyOf(onAsk: OnAsk): number {
  if (onAsk === 'deny' || onAsk === 'fail') return 0;
  return onAsk === 'defer' ? 1 : 2;
}

/** If nobody can answer, ask means deny. */
function isRefusal({ decision, onAsk }: Judged): boolean {
  if (decision !== 'ask') return decision === 'deny';
  return onAsk === undefined || onAsk === 'deny' || onAsk === 'fail';
}
