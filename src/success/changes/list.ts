import { errorMessage } from '../../lib/errors.js';
import type { Outcome } from '../../protocol/outcome.js';
import type { NetChange } from '../../protocol/success.js';
import type { ChangeWatch } from './watch.js';
import { lookDeadline } from '../look-deadline.js';
import type { SuccessSession } from '../settings.js';
import { warning } from '../../protocol/warning.js';

export interface ListSettings {
  readonly changes: ChangeWatch;
  readonly session: SuccessSession;
  /** Fires when the run is asked to end. */
  readonly cancel: AbortSignal | undefined;
}

const PATIENCE_MS = 15_000;
/** After the time limit: users wait no longer than for a cancelled run. */
const LATE_MS = 3000;

/** What the run has changed in the end, if that can be determined in time. Says nothing about how it ended. */
export async function listChanges(
  outcome: Outcome,
  { changes, session, cancel }: ListSettings,
): Promise<{ readonly changes?: readonly NetChange[] }> {
  const isLate = outcome.status === 'limit' && outcome.reason === 'time';
  const { stop, release } = lookDeadline(outcome, cancel, isLate ? LATE_MS : PATIENCE_MS);
  try {
    return { changes: (await changes.look(stop, false)).changes };
  } catch (error) {
    const why = stop.aborted ? 'it took too long' : errorMessage(error);
    const message = `it is not known what the run has changed: ${why}`;
    session.emit(warning('changes', message));
    return {};
  } finally {
    release();
  }
}
