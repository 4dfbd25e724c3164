import { formatDuration } from '../lib/duration.js';
import { errorMessage } from '../lib/errors.js';
import { newRunId } from '../lib/ids.js';
import { orAbort } from '../lib/or-abort.js';
import { limitOutcome } from '../agent/budget.js';
import { runAgent } from '../agent/loop.js';
import { SCHEMA_VERSION, type Denial, type ResultEvent, type TranscriptLine } from '../protocol/event.js';
import { CANCEL_CODES, failure, type CancelReason, type Outcome } from '../protocol/outcome.js';
import { Problem } from '../protocol/problem.js';
import { Summary } from '../reporters/summary.js';
import { killAllCommands } from '../sandbox/local.js';
import { compose, type Composed } from './compose.js';
import { loadPolicies, onDenied, tightest } from './policies.js';
import { resultOf, Session } from './session.js';
import { NO_PREVIOUS } from '../transcript/writer.js';
import { limitsOf, resolveWorkspace, type RunRequest } from './settings.js';

/**
 * One run from its request to its result. Throws a Problem only where no transcript could be opened; every other
 * end, planned or not, is a result.
 */
export async function run(request: RunRequest): Promise<ResultEvent> {
  const workspace = resolveWorkspace(request.cwd);
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
  let deadline: NodeJS.Timeout | undefined;
  let composed: Composed | undefined;
  const abandon = () => session.finish(cancelOutcome(stop.signal.reason), composed?.denials ?? []);
  underWay.add(abandon);
  let outcome: Outcome;
  let weight: ReturnType<typeof onDenied> = 'fail';
  try {
    const { policies = [], mode, cwd } = request;
    const documents = await loadPolicies({ policies, mode, folder: cwd });
    const limits = limitsOf(request.limits, tightest(documents));
    const timeUp = () => stop.abort(limitOutcome('time', formatDuration(limits.time_ms)));
    deadline = setTimeout(timeUp, limits.time_ms);
    weight = onDenied(documents);
    const parts = { workspace, documents, limits, session, signal: stop.signal };
    composed = await orAbort(compose(request, parts), stop.signal);
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
  return session.finish(weigh(outcome, denials, weight, session), denials);
}

/** The model came to its end, but not everything it wanted was done: how much that weighs the policy says. */
function weigh(
  outcome: Outcome,
  denials: readonly Denial[],
  weight: ReturnType<typeof onDenied>,
  session: Session,
): Outcome {
  if (outcome.status !== 'completed' || denials.length === 0 || weight === 'ignore') return outcome;
  const what = denials.length === 1 ? '1 call was refused' : `${denials.length} calls were refused`;
  if (weight === 'warn') {
    session.emit({ type: 'error', severity: 'warning', class: 'denied', message: what });
    return outcome;
  }
  const hint = 'See denials in the result; allow what is needed in the policy, or by --mode.';
  return { ...failure('denied', 'calls_refused', what, { hint }), response: outcome.response ?? '' };
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
