import { errorMessage } from '../lib/errors.js';
import { orTimeout } from '../lib/or-abort.js';
import type { Outcome } from '../protocol/outcome.js';
import type { Composed } from './compose.js';
import { problemOutcome } from '../agent/outcomes.js';
import type { Conclusion } from '../success/patch.js';
import { LEASE_LOST, type Session } from '../transcript/session.js';
import { warning } from '../protocol/warning.js';

/** Servers have half a second to end by themselves, and are then killed. */
const CLOSING_MS = 5000;

/**
 * Ends everything that a run started, and judges what came of it. How the run ended is known by now: an error here is
 * a warning, except that what could not be judged is not a success.
 */
export async function wrapUp(
  composed: Pick<Composed, 'close' | 'conclude'>,
  outcome: Outcome,
  { emit }: Pick<Session, 'emit'>,
): Promise<Conclusion> {
  const warn = (message: string) => emit(warning('wrap_up', message));
  try {
    await orTimeout(composed.close(), CLOSING_MS, 'it takes too long');
  } catch (error) {
    warn(`what the run started could not be stopped cleanly: ${errorMessage(error)}`);
  }
  // Another run works there by now: changes found may be the other's.
  if (outcome.reason === LEASE_LOST) return { outcome };
  try {
    return await composed.conclude(outcome);
  } catch (error) {
    if (outcome.status === 'completed') return { outcome: problemOutcome(error) };
    warn(`the work could not be checked: ${errorMessage(error)}`);
    return { outcome };
  }
}
