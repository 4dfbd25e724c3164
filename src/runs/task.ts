import { configProblem } from '../protocol/problem.js';
import type { Task } from '../protocol/task.js';
import { redactParts } from '../transcript/redact-content.js';
import type { OpenedModel, RunBase } from './run-base.js';
import type { RunRequest } from './run-request.js';

export interface RunTask extends Task {
  readonly untrusted: boolean;
  /** Given now, not recorded: a recorded task already has what policies add. */
  readonly isNew: boolean;
}

/** What the run is asked to do, without the user's secrets. */
export async function taskOf(
  { readTask }: RunRequest,
  { session, resumed }: RunBase,
  { recordedTask }: OpenedModel,
): Promise<RunTask> {
  const given = await readTask();
  const asked = given ?? resumed?.task ?? recordedTask;
  if (!asked)
    throw configProblem('prompt', 'no prompt', { hint: 'Give one with -p, --prompt-file, or on stdin.' });
  // A recorded model repeats what untrusted text made it say.
  const untrusted = (asked.untrusted || recordedTask?.untrusted) ?? false;
  return {
    ...asked,
    untrusted,
    parts: redactParts(asked.parts, session.redactor),
    isNew: given !== undefined,
  };
}
