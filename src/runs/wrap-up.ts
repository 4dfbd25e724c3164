import { errorMessage } from '../lib/errors.js';
import { orTimeout } from '../lib/or-abort.js';
import type { Outcome } from '../protocol/outcome.js';
import type { Composed } from './compose.js';
import { problemOutcome } from './endings.js';
import type { PatchEnd } from '../success/patch.js';
import { LEASE_LOST, type Session } from '../transcript/session.js';

/** Servers have half a second to end by themselves, and are killed then. */
const CLOSING_MS = 5000;

/**
 * Ends all that a run has begun, and judges what came of it. How the run ended is known by now: what fails here is a
 * warning, except that nothing is a success that could not be judged.
 */
export async function wrapUp(
  composed: Pick<Composed, 'close' | 'conclude'>,
  outcome: Outcome,
  { emit }: Pick<Session, 'emit'>,
): Promise<PatchEnd> {
  const warn = (message: string) => emit({ type: 'error', severity: 'warning', class: 'wrap_up', message });
  try {
    await orTimeout(composed.close(), CLOSING_MS, 'it takes too long');
  } catch (error) {
    warn(`what the run started could not be stopped cleanly: ${errorMessage(error)}`);
  }
  // Another works there by now: what is found is not this run's, and files may be the other's.
  if (outcome.reason === LEASE_LOST) return { outcome };
  try {
    return await composed.conclude(outcome);
  } catch (error) {
    if (outcome.status === 'completed') return { outcome: problemOutcome(error) };
    warn(`the work could not be checked: ${errorMessage(error)}`);
    return { outcome };
  }
}
