import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';
import { join, relative } from 'node:path';
import { makeFolders } from '../lib/folders.js';
import type { Admit } from '../protocol/admission.js';
import type { Reporter, ResultEvent } from '../protocol/event.js';
import { cancelOutcome, exitCodeOf, isFinished, type Outcome } from '../protocol/outcome.js';
import { problemOutcome } from '../agent/outcomes.js';
import { resume } from '../runs/resume.js';
import { run } from '../runs/run.js';
import type { RunRequest } from '../runs/run-request.js';
import type { Attachment } from '../protocol/task.js';
import type { TaskEndEvent } from './journal/event.js';
import type { BatchTask } from './prepare.js';
import { promptedTask } from './prompt.js';

/** How every task of a batch is run. */
export interface AttemptSettings {
  /** Names of values that are untrusted. */
  readonly untrusted: readonly string[];
  /** The folder of the batch. */
  readonly folder: string;
  readonly attachments: readonly Attachment[];
  /** The settings of a run that are the same for all tasks. */
  readonly request: Omit<
    RunRequest,
    'cwd' | 'readTask' | 'transcript' | 'patchOut' | 'signal' | 'admit' | 'reporters'
  >;
  /** Whether patches of a task's changes are possible and useful. */
  readonly makesPatches: boolean;
  /** A folder with a recording of the model for each task. */
  readonly recordings?: string;
}

export interface AttemptRequest {
  readonly task: BatchTask;
  readonly number: number;
  /** Relative to the folder of the batch. */
  readonly transcript: string;
  /** Where the run works. */
  readonly workspace: string;
  readonly resumed: boolean;
  readonly admit: Admit;
  readonly signal: AbortSignal;
  readonly reporter: Reporter;
}

/** Ends after which a task continues in the same attempt. */
const CUT_SHORT = ['cancelled', 'quota_exhausted', 'config_error', 'auth'];

/** Runs one attempt to its end, or resumes it. Throws a Problem if that is not possible. */
export async function runAttempt(
  { untrusted, folder, attachments, request, makesPatches, recordings }: AttemptSettings,
  attempt: AttemptRequest,
): Promise<ResultEvent> {
  const { task, workspace, signal, admit, reporter } = attempt;
  const transcript = join(folder, attempt.transcript);
  const patch = join(folder, patchOf(attempt.transcript));
  const own = {
    ...{ admit, signal, reporters: [reporter] },
    ...(makesPatches && { patchOut: patch }),
    ...(recordings !== undefined && { replay: join(recordings, `${task.name}.jsonl`) }),
  };
  makeFolders(join(transcript, '..'), 0o700);
  const result = attempt.resumed
    ? await resume({ ...request, ...own, transcript, cwd: workspace, folder: workspace })
    : await run({
        ...request,
        ...own,
        transcript,
        cwd: workspace,
        readTask: async () => promptedTask(task.prompt, untrusted, task.values, attachments),
      });
  // From now on the workspace may disappear, or the machine crash.
  if (result.patch && existsSync(result.patch.file)) flush(result.patch.file);
  return result;
}

function patchOf(transcript: string): string {
  return join(transcript, '..', 'changes.patch');
}

function flush(file: string): void {
  const opened = openSync(file, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

type Facts = Pick<TaskEndEvent, 'id' | 'key' | 'attempt' | 'run' | 'waited_ms' | 'requests' | 'estimated'>;

/** How an attempt ended, for the journal. */
export function taskEndOf(result: ResultEvent, facts: Facts, folder: string): TaskEndEvent {
  const { status, exit_code, reason, response, structured_output, stats, patch, error, transcript } = result;
  const { changes } = result as { changes?: unknown };
  const inFolder = (path: string | undefined) => (path === undefined ? null : relative(folder, path));
  const isCut = CUT_SHORT.includes(status) && !isFinished(status);
  return {
    type: 'task_end',
    ...facts,
    ended: !isCut,
    status,
    exit_code,
    reason: reason ?? null,
    response: response === '' ? null : response,
    ...(structured_output !== undefined && { structured_output }),
    ...(changes !== undefined && { changes }),
    patch: patch && patch.files > 0 ? inFolder(patch.file) : null,
    transcript: inFolder(transcript),
    cost_usd: stats.cost_usd ?? null,
    tokens: stats.total_tokens ?? null,
    turns: stats.turns,
    duration_ms: stats.duration_ms,
    ...errorField(error),
  };
}

/** The end of an attempt that did not even become a run. */
export function problemEnd(problem: unknown, facts: Facts): TaskEndEvent {
  return bareEnd(problemOutcome(problem), facts);
}

/** The end of an attempt that was told to stop before that. */
export function cutEnd(reason: unknown, facts: Facts): TaskEndEvent {
  return bareEnd(cancelOutcome(reason), facts);
}

function bareEnd({ status, reason, error }: Outcome, facts: Facts): TaskEndEvent {
  return {
    type: 'task_end',
    ...facts,
    ended: !CUT_SHORT.includes(status),
    status,
    exit_code: exitCodeOf({ status }),
    reason: reason ?? null,
    response: null,
    patch: null,
    transcript: null,
    cost_usd: null,
    tokens: null,
    turns: 0,
    duration_ms: 0,
    ...errorField(error),
  };
}

function errorField(error: Outcome['error']): Pick<TaskEndEvent, 'error'> {
  if (!error) return {};
  const { code, message, hint } = error;
  return { error: { code, message, ...(hint !== undefined && { hint }) } };
}
