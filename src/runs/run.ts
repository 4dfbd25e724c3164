import { formatDuration } from '../lib/duration.js';
import { errorMessage } from '../lib/files.js';
import { newRunId } from '../lib/ids.js';
import { limitOutcome } from '../agent/budget.js';
import { runAgent } from '../agent/loop.js';
import { SCHEMA_VERSION, type ResultEvent, type TranscriptLine } from '../protocol/event.js';
import { CANCEL_CODES, failure, type CancelReason, type Outcome } from '../protocol/outcome.js';
import { Problem } from '../protocol/problem.js';
import { Summary } from '../reporters/summary.js';
import { killAllCommands } from '../sandbox/local.js';
import { compose, type Composed } from './compose.js';
import { resultOf, Session } from './session.js';
import { NO_PREVIOUS } from '../transcript/writer.js';
import { limitsOf, resolveWorkspace, type RunRequest } from './settings.js';

/**
 * One run from its request to its result. Throws a Problem only where no transcript could be opened; every other
 * end, planned or not, is a result.
 */
export async function run(request: RunRequest): Promise<ResultEvent> {
  const workspace = resolveWorkspace(request.cwd);
  const limits = limitsOf(request.limits);
  const stop = new AbortController();
  const session = new Session({
    workspace,
    ...(request.transcript !== undefined && { transcript: request.transcript }),
    reporters: request.reporters ?? [],
    onBroken: (outcome) => stop.abort(outcome),
  });
  const { signal } = request;
  const onSignal = () => stop.abort(cancelOutcome(signal?.reason));
  if (signal?.aborted) onSignal();
  else signal?.addEventListener('abort', onSignal, { once: true });
  const timeUp = () => stop.abort(limitOutcome('time', formatDuration(limits.time_ms)));
  const deadline = setTimeout(timeUp, limits.time_ms);

  const parts = { workspace, limits, session, signal: stop.signal };
  let composed: Composed | undefined;
  const abandon = () => session.finish(cancelOutcome(stop.signal.reason), composed?.denials ?? []);
  underWay.add(abandon);
  let outcome: Outcome;
  try {
    composed = await orStop(compose(request, parts), stop.signal);
    outcome = await runAgent(composed.task, composed.agent);
  } catch (error) {
    outcome = stop.signal.aborted ? (stop.signal.reason as Outcome) : problemOutcome(error);
  } finally {
    clearTimeout(deadline);
    signal?.removeEventListener('abort', onSignal);
  }
  composed?.close();
  const denials = composed?.denials ?? [];
  underWay.delete(abandon);
  return session.finish(denials.length > 0 ? deniedOutcome(outcome, denials.length) : outcome, denials);
}

/** The only line of a run that did not even get a transcript. */
export function bareResult(error: unknown): TranscriptLine & ResultEvent {
  return {
    v: SCHEMA_VERSION,
    seq: 0,
    timestamp: new Date().toISOString(),
    session_id: newRunId(new Date()),
    ...resultOf(problemOutcome(error), new Summary().stats(0)),
    prev: NO_PREVIOUS,
  };
}

/** Waits for something that knows nothing of the signal. */
function orStop<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Outcome);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** The model came to its end, but not everything it wanted was done. */
function deniedOutcome(outcome: Outcome, refused: number): Outcome {
  if (outcome.status !== 'completed') return outcome;
  const what = refused === 1 ? '1 call was refused' : `${refused} calls were refused`;
  const hint = 'See denials in the result; allow what is needed with --mode.';
  return { ...failure('denied', 'calls_refused', what, { hint }), response: outcome.response ?? '' };
}

function cancelOutcome(reason: unknown): Outcome {
  if (typeof reason === 'object' && reason !== null && 'status' in reason) return reason as Outcome;
  const known = typeof reason === 'string' && reason in CANCEL_CODES;
  const name = known ? (reason as CancelReason) : 'SIGTERM';
  return failure('cancelled', name, name === 'stdout_closed' ? 'stdout was closed' : `stopped by ${name}`);
}

export function problemOutcome(error: unknown): Outcome {
  if (error instanceof Problem) {
    return failure(error.status, error.code, error.message, error.hint ? { hint: error.hint } : {});
  }
  const where = error instanceof Error && error.stack ? ` ${error.stack.split('\n')[1]?.trim() ?? ''}` : '';
  return failure('internal_error', 'bug', `${errorMessage(error)}${where}`, {
    hint: 'This is a bug in Bosun; please report it with the transcript.',
  });
}

/** Runs that have no result yet, and how each would be ended at once. */
const underWay = new Set<() => void>();

/** For a process that has to leave now: kills whatever tools are running, and writes the results. */
export function abandonRuns(): void {
  killAllCommands();
  for (const abandon of underWay) abandon();
}
