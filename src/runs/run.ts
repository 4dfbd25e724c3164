import { orAbort } from '../lib/or-abort.js';
import { OutputRoom } from '../lib/output-room.js';
import { killPrograms } from '../lib/run-program.js';
import { sizeOfOutputs } from '../lib/stored-output.js';
import { limitOutcome } from '../agent/limits.js';
import { runAgent } from '../agent/loop.js';
import { fold, type EffectivePolicy } from '../policy/fold.js';
import type { ResultEvent } from '../protocol/event.js';
import { cancelOutcome, type Outcome } from '../protocol/outcome.js';
import { killAllCommands } from '../sandbox/groups.js';
import { withCallback } from './callback-approver.js';
import { compose, type Composed } from './compose.js';
import { defaultRedactor } from './default-redactor.js';
import { problemOutcome, weigh } from './endings.js';
import type { PatchEnd } from '../success/patch.js';
import { loadPolicies, policyFlags } from './policies.js';
import { redactorFor } from './redaction.js';
import type { ResumedRun } from './resumed.js';
import { openSession } from './session.js';
import { resolveWorkspace, type RunRequest } from './settings.js';
import { leaseWorkspace } from './workspace-lease.js';
import { wrapUp } from './wrap-up.js';

/**
 * One run from its request to its result. Throws a Problem only where no transcript could be opened; every other
 * end, planned or not, is a result.
 */
export async function run(request: RunRequest): Promise<ResultEvent> {
  return conduct(request, resolveWorkspace(request.cwd));
}

/** The same for a run that was begun before. */
export async function conduct(
  request: RunRequest,
  workspace: string,
  resumed?: ResumedRun,
): Promise<ResultEvent> {
  const { signal } = request;
  const stop = new AbortController();
  const session = await openSession({
    workspace,
    ...(resumed && { before: resumed.session }),
    ...(request.transcript !== undefined && { transcript: request.transcript }),
    redactor: defaultRedactor(request.variables),
    reporters: request.reporters ?? [],
    onBroken: (outcome) => stop.abort(outcome),
    ...(request.waitMs !== undefined && { waitMs: request.waitMs }),
    ...(signal && { signal }),
  });
  const onSignal = () => stop.abort(cancelOutcome(signal?.reason));
  if (signal?.aborted) onSignal();
  else signal?.addEventListener('abort', onSignal, { once: true });
  let composed: Composed | undefined;
  // Time may have been up before somebody wanted it to end at once: the later wish is what the process leaves with.
  const abandon = () => {
    const reason: unknown = signal?.aborted ? signal.reason : stop.signal.reason;
    return session.finish(cancelOutcome(reason), composed?.leftovers).exit_code;
  };
  underWay.add(abandon);
  let outcome: Outcome;
  let weight: EffectivePolicy['onDenied'] = 'fail';
  try {
    const effective = resumed?.effective ?? request.effective ?? (await policyOf(request));
    session.redactor = await redactorFor(request.variables, effective);
    await leaseWorkspace(request, { workspace, effective, session, signal: stop.signal });
    const { limits } = effective;
    const timeUp = () => stop.abort(limitOutcome('time', limits.time_ms, limits.time_ms));
    session.clock.setAlarm(limits.time_ms, timeUp);
    weight = effective.onDenied;
    const end = (ending: Outcome) => stop.abort(ending);
    const outputRoom = new OutputRoom(limits.stored_output, resumed ? sizeOfOutputs(session.outputs) : 0);
    const base = { workspace, effective, limits, session, outputRoom };
    const parts = { ...base, signal: stop.signal, end, resumed };
    composed = await orAbort(compose(request, parts), stop.signal);
    outcome = await runAgent(composed.start, composed.agent);
  } catch (error) {
    outcome = stop.signal.aborted ? (stop.signal.reason as Outcome) : problemOutcome(error);
  } finally {
    session.clock.clearAlarm();
  }
  // Before its parts were together nothing of the run could change anything.
  const nothing: PatchEnd = { outcome, ...(!resumed && { changes: [] }) };
  const { report, changes, ...end } = composed ? await wrapUp(composed, outcome, session) : nothing;
  signal?.removeEventListener('abort', onSignal);
  underWay.delete(abandon);
  const { denials = [], pending = [] } = composed?.leftovers ?? {};
  const left = { denials, pending, ...(report && { patch: report }), ...(changes && { changes }) };
  return session.finish(weigh(end.outcome, denials, weight, session), left);
}

async function policyOf(request: RunRequest): Promise<EffectivePolicy> {
  const { policies = [], mode, cwd } = request;
  const documents = await loadPolicies({ policies, mode, folder: cwd });
  return fold(withCallback(documents, request), policyFlags(request));
}

/** Runs that have no result yet, and how each would be ended at once. */
const underWay = new Set<() => number>();

/**
 * For a process that has to leave now: kills whatever is running, and writes the results. Gives the exit code
 * that they tell, if there are any.
 */
export function abandonRuns(): number | undefined {
  killAllCommands();
  killPrograms();
  return [...underWay].map((abandon) => abandon()).at(-1);
}
