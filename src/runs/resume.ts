import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Lease } from '../lib/lease.js';
import { stricterSandbox } from '../policy/fold.js';
import type { InitEvent, ResultEvent } from '../protocol/event.js';
import { configProblem } from '../protocol/problem.js';
import { fullName } from '../providers/registry.js';
import { foldTranscript } from '../resume/fold.js';
import { pausedRun } from '../resume/pause.js';
import { beginningOf, checkTask } from '../resume/check-transcript.js';
import { readChecked } from './read-checked.js';
import { redactorFor } from './redaction.js';
import { KEPT_FLAGS, type ResumeRequest } from './resume-request.js';
import { resumedPolicy } from './resumed-policy.js';
import { conversationSteps, type ResumedRun } from './resumed.js';
import { runOrResume } from './run.js';
import type { RunRequest } from './run-request.js';
import { resolveWorkspace } from '../decisions/workspace.js';
import { leaseExisting } from '../transcript/lease.js';

/**
 * Resumes a run that was interrupted or waits for approvals, in the same transcript. Throws a Problem, and changes
 * nothing, if it cannot be resumed.
 */
export async function resume(request: ResumeRequest): Promise<ResultEvent> {
  const path = resolve(request.transcript);
  const lease = await leaseExisting(path, {
    name: 'bosun resume',
    ...(request.waitMs !== undefined && { waitMs: request.waitMs }),
    ...(request.signal && { signal: request.signal }),
  });
  let resumed: ResumedRun;
  let workspace: string;
  try {
    resumed = await prepare(request, path, lease);
    workspace = resumedWorkspace(request, resumed.recorded.init);
  } catch (error) {
    lease?.release();
    throw error;
  }
  return runOrResume(runRequest({ ...request, transcript: path }, workspace, resumed), workspace, resumed);
}

async function prepare(request: ResumeRequest, path: string, lease: Lease | undefined): Promise<ResumedRun> {
  const transcript = await readChecked(path);
  const recorded = foldTranscript(transcript.lines);
  const { init, first } = beginningOf(transcript, recorded);
  const policy = await resumedPolicy({ transcript, recorded, init, request });
  const { text } = await redactorFor(request.variables, policy.effective);
  checkTask(path, first.content, request.task && text(request.task));
  const paused = pausedRun({ transcript, recorded, init, first }, conversationSteps());
  return { ...paused, ...policy, session: { ...paused.session, runningMs: recorded.runningMs, lease } };
}

/** What a caller may set; the transcript decides the rest. */
function kept(request: ResumeRequest): Pick<ResumeRequest, (typeof KEPT_FLAGS)[number]> {
  const flags = KEPT_FLAGS.flatMap((name) => (name in request ? [[name, request[name]] as const] : []));
  return Object.fromEntries(flags) as unknown as ResumeRequest;
}

/** The run as it was asked for, with the flags given now, and the policy and limits for resuming it. */
function runRequest(request: ResumeRequest, cwd: string, { effective, recorded }: ResumedRun): RunRequest {
  const { init } = recorded;
  const { replay = init.replay } = request;
  return {
    ...kept(request),
    transcript: request.transcript,
    cwd,
    readTask: async () => undefined,
    model: fullName(init.provider, init.model),
    ...(init.tool_protocol && { toolProtocol: init.tool_protocol }),
    ...(replay !== undefined && { replay }),
    sandbox: stricterSandbox(init.sandbox.mode, effective.sandbox.mode),
    dryRun: init.dry_run ?? request.dryRun ?? false,
  };
}

function resumedWorkspace({ cwd }: ResumeRequest, init: InitEvent): string {
  if (cwd !== undefined) return resolveWorkspace(cwd);
  if (statSync(init.cwd, { throwIfNoEntry: false })?.isDirectory()) return resolveWorkspace(init.cwd);
  throw configProblem('cwd', `the workspace ${init.cwd} does not exist here`, {
    hint: 'Say where it is with --cwd.',
  });
}
