import type { Review, Reviewer } from '../protocol/review.js';

/** Something that must be true when the model is done. */
export interface Condition {
  /** `attempt` counts from 1; each repair is followed by another. */
  check(attempt: number): Promise<Unmet | undefined>;
}

export interface Unmet {
  /** The `reason` of the result, if it is never met. */
  readonly reason: string;
  /** In a sentence without its full stop, for people. */
  readonly message: string;
  /** The message for the model, with all that helps to fix it. */
  readonly explanation: string;
}

/** Accepts an answer only if all conditions are met; each is checked only after the earlier ones are met. */
export function successReviewer(
  conditions: readonly Condition[],
  allowed: number,
  repairsBefore = 0,
): Reviewer {
  let repairs = repairsBefore;
  return async (response): Promise<Review> => {
    const missing = await firstUnmet(conditions, repairs + 1);
    if (!missing) return { type: 'accepted', response };
    const { reason, message, explanation } = missing;
    if (repairs >= allowed) {
      const after = repairs === 0 ? '' : `, after ${repairs === 1 ? '1 repair' : `${repairs} repairs`}`;
      return { type: 'given_up', reason, message: `${message}${after}` };
    }
    repairs++;
    const text = `Your work is not accepted yet. ${explanation}\n\nFix that with your tools, then end with your final message again; it will be checked again.`;
    return { type: 'again', ask: { role: 'user', parts: [{ text }] }, why: message, repair: reason };
  };
}

async function firstUnmet(conditions: readonly Condition[], attempt: number): Promise<Unmet | undefined> {
  for (const condition of conditions) {
    const missing = await condition.check(attempt);
    if (missing) return missing;
  }
  return undefined;
}
