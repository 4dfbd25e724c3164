import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { policyHash } from '../approvals/binding.js';
import type { Lease } from '../lib/lease.js';
import { oneLine } from '../lib/text.js';
import { fold, limitsSaid, stricterSandbox, type EffectivePolicy } from '../policy/fold.js';
import { SCHEMA_VERSION, type InitEvent, type ResultEvent } from '../protocol/event.js';
import { isFinished } from '../protocol/outcome.js';
import { configProblem, type Problem } from '../protocol/problem.js';
import { lineValidator } from '../transcript/line-validator.js';
import { readTranscript, type Transcript } from '../transcript/reader.js';
import { foldTranscript, type RecordedRun } from '../transcript/resume.js';
import { withCallback } from './callback-approver.js';
import { lostArguments } from './lost-arguments.js';
import { policyFlags } from './policies.js';
import { rebuild } from './rebuild.js';
import { redactorFor } from './redaction.js';
import type { ResumedRun } from './resumed.js';
import { conduct } from './run.js';
import { resolveWorkspace, type RunRequest, type Task } from './settings.js';
import { leaseExisting } from './transcript-lease.js';
import { policiesToGoOn, type Resumption } from './vouched.js';

/** Flags of a run that goes on: none of them can widen what it may do. */
export interface ResumeRequest extends Pick<
  RunRequest,
  | 'policies'
  | 'mode'
  | 'variables'
  | 'replay'
  | 'dryRun'
  | 'verify'
  | 'requireChanges'
  | 'patchOut'
  | 'limits'
  | 'waitMs'
  | 'include'
  | 'patience'
  | 'reporters'
  | 'approve'
  | 'approveTimeoutMs'
  | 'tools'
  | 'protect'
  | 'admit'
  | 'signal'
  | 'log'
> {
  readonly transcript: string;
  /** The workspace, if it is not where it was. */
  readonly cwd?: string;
  /** Where relative names of policies count from. */
  readonly folder: string;
  /** The task that the transcript has to be of. */
  readonly task?: string;
}

/**
 * Goes on with a run that was interrupted or waits for approvals, in the same transcript. Throws a Problem, and
 * changes nothing, if it cannot be resumed.
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
    workspace = workspaceOf(request, resumed.recorded.init);
  } catch (error) {
    lease?.release();
    throw error;
  }
  const { effective, recorded } = resumed;
  const { init } = recorded;
  const { replay = init.replay } = request;
  const run: RunRequest = {
    cwd: workspace,
    readTask: async () => undefined,
    variables: request.variables,
    model: init.provider === 'gemini' ? init.model : `${init.provider}/${init.model}`,
    transcript: path,
    ...(init.tool_protocol && { toolProtocol: init.tool_protocol }),
    ...(replay !== undefined && { replay }),
    sandbox: stricterSandbox(init.sandbox.mode, effective.sandbox.mode),
    dryRun: init.dry_run ?? request.dryRun ?? false,
    ...(request.verify && { verify: request.verify }),
    ...(request.requireChanges && { requireChanges: true }),
    ...(request.patchOut !== undefined && { patchOut: request.patchOut }),
    ...(request.waitMs !== undefined && { waitMs: request.waitMs }),
    ...(request.include && { include: request.include }),
    ...(request.patience && { patience: request.patience }),
    ...(request.reporters && { reporters: request.reporters }),
    ...(request.approve && { approve: request.approve }),
    ...(request.approveTimeoutMs !== undefined && { approveTimeoutMs: request.approveTimeoutMs }),
    ...(request.tools && { tools: request.tools }),
    ...(request.protect && { protect: request.protect }),
    ...(request.admit && { admit: request.admit }),
    ...(request.signal && { signal: request.signal }),
    ...(request.log && { log: request.log }),
  };
  return conduct(run, workspace, resumed);
}

async function prepare(request: ResumeRequest, path: string, lease: Lease | undefined): Promise<ResumedRun> {
  const transcript = await readSound(path);
  const recorded = foldTranscript(transcript.lines);
  const { init } = recorded;
  const [first] = recorded.steps;
  if (!init || first?.type !== 'message')
    throw problem(path, 'it ends before the model was asked anything', 'Start the run anew.');
  checkUnfinished(path, transcript.result);
  if (init.redacted)
    throw problem(
      path,
      'a secret stands in its policy or schema, and is not recorded',
      'Start the run anew, and keep secrets in the environment.',
    );
  const { effective, policySha256 } = await effectiveToGoOn({ transcript, recorded, init, request });
  const { text } = await redactorFor(request.variables, effective);
  checkTask(path, first.content, request.task && text(request.task));
  const [line] = transcript.lines;
  return {
    recorded: { ...recorded, init },
    rebuilt: rebuild(recorded, init.output_schema),
    session: {
      id: line?.session_id ?? '',
      lines: transcript.lines,
      end: transcript.end,
      runningMs: recorded.runningMs,
      lease,
    },
    from: { seq: transcript.end.seq - 1, status: transcript.result?.status ?? 'killed' },
    task: taskOf(recorded),
    effective,
    policySha256,
    isLost: lostArguments(transcript.lines),
  };
}

function problem(path: string, why: string, hint?: string): Problem {
  return configProblem('resume', `${path} cannot be resumed: ${why}`, hint === undefined ? {} : { hint });
}

/** A transcript that is what its writer wrote, line by line. */
export async function readSound(path: string): Promise<Transcript> {
  const transcript = readTranscript(path);
  const { lines, brokenAt } = transcript;
  const newer = lines.find(({ v }) => v > SCHEMA_VERSION);
  if (newer)
    throw problem(
      path,
      `it is of version ${newer.v}, and this Bosun knows ${SCHEMA_VERSION}`,
      'Update Bosun.',
    );
  if (brokenAt !== undefined)
    throw problem(path, `it was changed: its hash chain breaks at line ${brokenAt}`);
  if (lines.some(({ session_id }) => session_id !== lines[0]?.session_id))
    throw problem(path, 'it holds lines of different runs');
  const validate = await lineValidator();
  for (const [i, line] of lines.entries()) {
    const [fault] = validate(line);
    if (fault) throw problem(path, `line ${i + 1} is not valid: ${fault}`);
  }
  return transcript;
}

function checkUnfinished(path: string, result: ResultEvent | undefined): void {
  if (!result || !isFinished(result.status)) return;
  const { status, exit_code } = result;
  const why = status === 'limit' ? ', and what a limit allows stays spent' : '';
  throw problem(path, `the run is finished: ${status} (exit ${exit_code})${why}`, 'Start a new one.');
}

function checkTask(path: string, recorded: string, wanted: string | undefined): void {
  if (wanted === undefined || wanted === recorded) return;
  throw problem(path, `it is of another task: ${oneLine(recorded, 100)}`);
}

/**
 * What the run goes on under. Its limits are those that were recorded, lowered by what policies and flags say now; where
 * nobody vouches for them, by all defaults.
 */
async function effectiveToGoOn(
  resumption: Resumption & { readonly request: ResumeRequest },
): Promise<Pick<ResumedRun, 'effective' | 'policySha256'>> {
  const { init, request } = resumption;
  const { documents, isVouched } = await policiesToGoOn(resumption);
  const effective = fold(withCallback(documents, request), policyFlags(request));
  const said = isVouched ? limitsSaid(documents, request.limits) : effective.limits;
  // Transcripts of older versions do not tell all of them.
  const limits: Record<string, number> = { ...effective.limits, ...init.limits };
  for (const [name, value] of Object.entries(said)) limits[name] = Math.min(value, limits[name] ?? Infinity);
  return {
    effective: Object.freeze({ ...effective, limits: limits as unknown as EffectivePolicy['limits'] }),
    policySha256: policyHash(documents),
  };
}

function taskOf({ steps }: RecordedRun): Task {
  const [first] = steps;
  if (first?.type !== 'message') throw new Error('the run has no task');
  const { content, parts = [{ text: content }], untrusted } = first;
  return { text: content, parts, ...(untrusted && { untrusted }) };
}

function workspaceOf({ cwd }: ResumeRequest, init: InitEvent): string {
  if (cwd !== undefined) return resolveWorkspace(cwd);
  if (statSync(init.cwd, { throwIfNoEntry: false })?.isDirectory()) return resolveWorkspace(init.cwd);
  throw configProblem('cwd', `the workspace ${init.cwd} is not here`, {
    hint: 'Say where it is with --cwd.',
  });
}
