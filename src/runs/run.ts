import { onAbort, orAbort } from '../lib/or-abort.js';
import type { Redactor } from '../lib/redact/redactor.js';
import { OutputRoom } from '../lib/output-room.js';
import { sizeOfOutputs } from '../lib/stored-output.js';
import { withoutUndefined } from '../lib/without-undefined.js';
import { limitOutcome } from '../agent/limits.js';
import { runAgent } from '../agent/loop.js';
import { fold, type EffectivePolicy } from '../policy/fold.js';
import { loadPolicies } from '../policy/load.js';
import { mayChange } from '../policy/may-change.js';
import { withCallback } from '../policy/on-ask.js';
import type { ResultEvent } from '../protocol/event.js';
import { cancelOutcome, type Outcome } from '../protocol/outcome.js';
import { compose, type Composed } from './compose.js';
import { defaultRedactor } from './default-redactor.js';
import { weighDenials } from '../scheduler/denials.js';
import { problemOutcome } from '../agent/outcomes.js';
import type { Conclusion } from '../success/patch.js';
import { policyFlags } from './policy-flags.js';
import { redactorFor } from './redaction.js';
import type { ResumedRun } from './resumed.js';
import { openSession, type Session, type SessionOptions } from '../transcript/session.js';
import type { RunRequest } from './run-request.js';
import { resolveWorkspace } from '../decisions/workspace.js';
import { leaseWorkspace } from '../transcript/workspace-lease.js';
import { wrapUp } from './wrap-up.js';
import { warning } from '../protocol/warning.js';

/**
 * One run from its request to its result. Throws a Problem only if no transcript could be opened; every other end,
 * planned or not, is a result.
 */
export async function run(request: RunRequest): Promise<ResultEvent> {
  return runOrResume(request, resolveWorkspace(request.cwd));
}

/** `run`, also for a run that is resumed: opens the policy and the transcript, runs to the end, and reports the result. */
export async function runOrResume(
  request: RunRequest,
  workspace: string,
  resumed?: ResumedRun,
): Promise<ResultEvent> {
  const stop = new AbortController();
  const policy = await openPolicy(request, resumed);
  const session = await sessionFor(request, workspace, {
    before: resumed?.session,
    redactor: policy.redactor,
    onBroken: (outcome) => stop.abort(outcome),
  });
  const unlisten = onAbort(request.signal, (reason) => stop.abort(cancelOutcome(reason)));
  const active: ActiveRun = { request, workspace, session, stop, resumed };
  const unregister = request.underWay?.add(() => abandon(active));
  const { outcome, report, changes } = await runToEnd(active, policy);
  unlisten();
  unregister?.();
  const { denials, pending } = active.composed?.leftovers ?? NOTHING_LEFT;
  const finalOutcome = weighDenials(outcome, denials, policy.effective?.onDenied ?? 'fail', session.emit);
  await removeOldRuns(active, policy);
  const learnt = await learnRules(active, policy, finalOutcome, changes);
  return session.finish(finalOutcome, {
    denials,
    pending,
    ...(report && { patch: report }),
    ...(changes && { changes }),
    ...(learnt && { learnt }),
  });
}

const NOTHING_LEFT: Composed['leftovers'] = { denials: [], pending: [] };

/** A run in progress. */
interface ActiveRun {
  readonly request: RunRequest;
  readonly workspace: string;
  readonly session: Session;
  readonly stop: AbortController;
  readonly resumed: ResumedRun | undefined;
  /** Its parts, once they exist. */
  composed?: Composed;
}

/** What a run may do, or why that is unknown; and what redacts everything that it reports. */
interface OpenedPolicy {
  readonly effective?: EffectivePolicy;
  readonly problem?: unknown;
  readonly redactor: Redactor;
}

/** Policies that cannot be read end the run, and are reported like any other end. Called before the first event. */
async function openPolicy(request: RunRequest, resumed: ResumedRun | undefined): Promise<OpenedPolicy> {
  try {
    const effective = resumed?.effective ?? request.effective ?? (await loadPolicy(request));
    if (request.learn !== undefined)
      (await import('../decisions/learn-run.js')).checkLearnFile(request.learn);
    if (request.policyLock !== undefined && !resumed)
      await (await import('../policy/lock-file.js')).checkLock(request.policyLock, effective, request.cwd);
    return { effective, redactor: await redactorFor(request.variables, effective) };
  } catch (problem) {
    return { problem, redactor: defaultRedactor(request.variables) };
  }
}

async function loadPolicy(request: RunRequest): Promise<EffectivePolicy> {
  const { policies = [], mode, cwd } = request;
  const documents = await loadPolicies({ policies, mode, folder: cwd });
  return fold(withCallback(documents, request.approve !== undefined), policyFlags(request));
}

function sessionFor(
  { transcript, waitMs, signal, reporters = [] }: RunRequest,
  workspace: string,
  {
    before,
    ...more
  }: Pick<SessionOptions, 'redactor' | 'onBroken'> & {
    readonly before: SessionOptions['before'] | undefined;
  },
): Promise<Session> {
  return openSession({
    ...more,
    workspace,
    reporters,
    ...withoutUndefined({ before, transcript, waitMs, signal }),
  });
}

/** Takes a run to its end, and ends everything that it started. */
async function runToEnd(active: ActiveRun, policy: OpenedPolicy): Promise<Conclusion> {
  const { session, stop, resumed } = active;
  let outcome: Outcome;
  try {
    if (!policy.effective) throw policy.problem;
    active.composed = await composeParts(active, policy.effective);
    outcome = await runAgent(active.composed.start, active.composed.agent);
  } catch (error) {
    outcome = stop.signal.aborted ? (stop.signal.reason as Outcome) : problemOutcome(error);
  } finally {
    session.clock.clearAlarm();
  }
  if (active.composed) return wrapUp(active.composed, outcome, session);
  // Until its parts exist a run cannot change anything.
  return { outcome, ...(!resumed && { changes: [] }) };
}

/** Reserves the workspace, starts the clock, and puts the parts together. */
async function composeParts(active: ActiveRun, effective: EffectivePolicy): Promise<Composed> {
  const { request, workspace, session, stop, resumed } = active;
  const { limits } = effective;
  const { waitMs, log } = request;
  if (needsWorkspace(request, effective))
    await leaseWorkspace({ workspace, session, signal: stop.signal, waitMs, log });
  const timeUp = () => stop.abort(limitOutcome('time', limits.time_ms, limits.time_ms));
  session.clock.setAlarm(limits.time_ms, timeUp);
  const end = (ending: Outcome) => stop.abort(ending);
  const outputRoom = new OutputRoom(limits.stored_output, resumed ? sizeOfOutputs(session.outputs) : 0);
  const base = { workspace, effective, limits, session, outputRoom };
  return orAbort(compose(request, { ...base, signal: stop.signal, end, resumed }), stop.signal);
}

/** Whether the run may change something, or reports changes. */
function needsWorkspace({ dryRun, patchOut }: RunRequest, { success, ruleSets }: EffectivePolicy): boolean {
  return !dryRun && (patchOut !== undefined || success.requireChanges || mayChange(ruleSets));
}

/** As the policy says, if the runs are in their usual place. */
async function removeOldRuns(
  { request: { transcript }, workspace, session }: ActiveRun,
  { effective }: OpenedPolicy,
): Promise<void> {
  const keep = effective?.runs?.keep;
  if (keep === undefined || transcript !== undefined) return;
  await (await import('./kept-runs.js')).keepNewest(workspace, keep, session);
}

/** The rules that the run needed, if asked for. */
async function learnRules(
  { request, session }: ActiveRun,
  { effective }: OpenedPolicy,
  { status }: Outcome,
  changes: ResultEvent['changes'],
): Promise<ResultEvent['learnt']> {
  const { learn: file, cwd, variables } = request;
  if (file === undefined || !effective || session.transcript === undefined) return undefined;
  const { learnFromRun } = await import('../decisions/learn-run.js');
  const transcript = session.transcript;
  const warn = (message: string) => session.emit(warning('learn', message));
  const { redactor } = session;
  return learnFromRun({ file, transcript, effective, cwd, variables, status, changes, redactor, warn });
}

/** Writes the result of a run that must stop because its process has to leave now. Returns its exit code. */
function abandon({ request: { signal }, session, stop, composed }: ActiveRun): number {
  // Time may have been up before the user asked to end at once: the later reason gives the exit code.
  const reason: unknown = signal?.aborted ? signal.reason : stop.signal.reason;
  return session.finishNow(cancelOutcome(reason), composed?.leftovers).exit_code;
}
