import { createAsk } from '../approvals/ask.js';
import { callbackApprover } from '../approvals/callback.js';
import { Deferred, NO_ANSWERS } from '../approvals/defer.js';
import { Grants } from '../approvals/grants.js';
import type { WatchedApprover } from '../approvals/watched-approver.js';
import { absentTool } from '../policy/foreign.js';
import type { Ask } from '../protocol/approval.js';
import { resumeCalls } from '../resume/calls.js';
import { pastOf, withoutRepeats } from '../resume/restore.js';
import { childEnvironment } from '../sandbox/environment.js';
import { outputPlace } from '../scheduler/output-place.js';
import { createScheduler, type Scheduler } from '../scheduler/scheduler.js';
import { withoutSecrets } from '../scheduler/without-secrets.js';
import type { ChangeWatch } from '../success/changes/watch.js';
import { redactRequest } from '../transcript/redact-event.js';
import type { ComposedTools } from './compose-tools.js';
import { answersOf, grantsOf } from './resumed.js';
import type { RunModel } from './run-model.js';
import type { RunBase } from './run-base.js';
import type { RunRequest } from './run-request.js';

export interface CallParts {
  readonly model: RunModel;
  readonly tools: ComposedTools;
  readonly approver: WatchedApprover;
  /** Notified of calls that may change something. */
  readonly changes: ChangeWatch;
}

export interface ComposedCalls {
  readonly runCalls: Scheduler['run'];
  /** Calls that wait for an answer. */
  readonly deferred: Deferred;
}

/** What decides about the calls of a run, and runs them. */
export function composeCalls(request: RunRequest, base: RunBase, callParts: CallParts): ComposedCalls {
  const { session, resumed } = base;
  const deferred = new Deferred();
  const { run } = schedulerFor(request, base, callParts, askFor(request, base, callParts, deferred));
  if (!resumed) return { runCalls: run, deferred };
  // What was recorded elsewhere may hold a secret of this one.
  const past = (call: Parameters<typeof pastOf>[1]) => {
    const known = pastOf(resumed, call);
    if (known.type !== 'finished') return known;
    return { ...known, result: withoutSecrets(known.result, session.redactor) };
  };
  return { runCalls: resumeCalls(run, past, session.emit), deferred };
}

/** Who answers where the policy says "ask". */
function askFor(
  { variables, approve, approveTimeoutMs }: RunRequest,
  { workspace, session, resumed }: RunBase,
  { tools, approver }: CallParts,
  deferred: Deferred,
): Ask {
  const grants = new Grants();
  if (resumed) for (const grant of grantsOf(resumed)) grants.add(grant);
  return createAsk({
    grants,
    deferred,
    answers: resumed ? answersOf(resumed) : NO_ANSWERS,
    allowed: tools.policy.summary,
    emit: session.emit,
    redact: (asked) => redactRequest(asked, session.redactor),
    runCommand: tools.programs.runOutside,
    directory: workspace,
    environment: (command) => childEnvironment(variables, command),
    tampered: approver.tampered,
    ...(approve && { callback: callbackApprover(approve, approveTimeoutMs) }),
  });
}

function schedulerFor(
  { include, dryRun = false }: RunRequest,
  { workspace, effective, limits, session, outputRoom, resumed }: RunBase,
  { model: { opened, budget, denials }, tools: { offer, policy }, changes }: CallParts,
  ask: Ask,
): Scheduler {
  const { redactor, outputs } = session;
  return createScheduler({
    ...{ policy, denials, ask, dryRun, redactor, changes, outputRoom },
    findTool: offer.find,
    absentTool: (name) => absentTool(effective.ruleSets, name),
    get toolNames() {
      return offer.declarations().map(({ name }) => name);
    },
    isLost: (call) => opened.isLost(call) || (resumed?.isLost(call) ?? false),
    admitCall: () => budget.admitCall(),
    parallel: limits.parallel,
    outputCap: limits.tool_output,
    outputPath: (callId) => outputPlace(outputs, workspace, redactor.known(callId)),
    emit: resumed ? withoutRepeats(resumed, session.emit) : session.emit,
    onState: (tool_id, state) => include?.toolState && session.emit({ type: 'tool_state', tool_id, state }),
    onLive: (tool_id, content) => {
      session.live(content);
      if (include?.toolOutput) session.emit({ type: 'tool_output', tool_id, content });
    },
  });
}
