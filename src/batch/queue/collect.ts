import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { compileSchema } from '../../lib/schema.js';
import type { Dispatch } from '../../fleet/dispatch.js';
import { MAX_TAKES, noteFault, type ResultNote } from '../../fleet/job.js';
import { unpackPieces } from '../../fleet/pack.js';
import { verifyTranscript } from '../../transcript/verify.js';
import { readTranscript } from '../../transcript/reader.js';
import { exitCodeOf } from '../../protocol/outcome.js';
import type { TaskEndEvent } from '../journal/event.js';
import { TASK_END_SCHEMA } from '../journal/schema.js';
import type { BatchTask } from '../prepare.js';
import { withSeal } from '../seal.js';

export interface Collected {
  readonly end: TaskEndEvent;
  readonly note: ResultNote;
}

const MAX_END_BYTES = 64 * 1024 * 1024;

/** What a worker says about its results, and what its task was. */
export interface Sent {
  readonly task: BatchTask;
  readonly name: string;
  readonly said: unknown;
  /** The number of the attempt that its job began with. */
  readonly first: number;
  /** Throws if the task may not have this patch. */
  readonly checked: (patch: string, task: BatchTask) => Promise<void>;
}

/**
 * Puts what a worker sent into the folder of the batch: in the place of this attempt, whatever the result claims.
 * Throws if it is not the result of this attempt at this task.
 */
export async function collect(
  dispatch: Dispatch,
  folder: string,
  { task, name, said, first, checked }: Sent,
): Promise<Collected> {
  const fault = await noteFault(said);
  if (fault) throw new Error(`the note about it cannot be used: ${fault}`);
  const note = said as ResultNote;
  if (note.job !== name) throw new Error('it belongs to another task');
  if (note.attempt < first || note.attempt >= first + MAX_TAKES)
    throw new Error('it belongs to another attempt');
  const place = join(folder, 'tasks', task.name, String(note.attempt));
  const part = `${place}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true, mode: 0o700 });
  try {
    await unpackPieces(dispatch.pieces(note), part);
    const end = await endIn(part, task, note);
    if (end.patch !== null) await checked(join(part, 'changes.patch'), task);
    rmSync(join(part, 'end.json'));
    rmSync(place, { recursive: true, force: true });
    renameSync(part, place);
    return { end, note };
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
}

async function endIn(part: string, task: BatchTask, { attempt }: ResultNote): Promise<TaskEndEvent> {
  const end = readEnd(join(part, 'end.json'));
  const [fault] = (await compileSchema(TASK_END_SCHEMA))(end);
  if (fault) throw new Error(`its end cannot be used: ${fault}`);
  if (end.id !== task.id || end.key !== task.key || end.attempt !== attempt)
    throw new Error('its end is that of another task');
  checkFiles(part, end);
  if (end.transcript !== null) await checkTranscript(join(part, 'transcript.jsonl'), task, end);
  const patch = end.patch === null ? null : 'changes.patch';
  const transcript = end.transcript === null ? null : 'transcript.jsonl';
  // By the files that arrived: a worker does not send outputs that are too large.
  const { seal: theirs, ...rest } = end;
  const { seal } = await withSeal(part, { ...rest, patch, transcript });
  if (theirs && (theirs.transcript !== seal?.transcript || theirs.patch !== seal.patch))
    throw new Error('its patch or its transcript is not what its worker sealed');
  const inBatch = (name: string | null) => name && `tasks/${task.name}/${attempt}/${name}`;
  return { ...rest, ...(seal && { seal }), patch: inBatch(patch), transcript: inBatch(transcript) };
}

/** An end must match the files that came with it. */
function checkFiles(part: string, { status, reason, exit_code, patch, transcript }: TaskEndEvent): void {
  if (exit_code !== exitCodeOf({ status, ...(reason !== null && { reason }) }))
    throw new Error('its exit code does not match its status');
  if (patch !== null && !existsSync(join(part, 'changes.patch'))) throw new Error('its patch is missing');
  // An attempt that did not become a run has none.
  if (transcript === null && (status === 'completed' || patch !== null))
    throw new Error('its transcript is missing');
}

function readEnd(path: string): TaskEndEvent {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) throw new Error('its end is missing');
  if (size > MAX_END_BYTES) throw new Error(`its end has more than ${MAX_END_BYTES} bytes`);
  return JSON.parse(readFileSync(path, 'utf8')) as TaskEndEvent;
}

/** The transcript must be whole, of a run of this task, and end as the worker says. */
async function checkTranscript(path: string, task: BatchTask, end: TaskEndEvent): Promise<void> {
  const found = await verifyTranscript(path);
  if (!found.valid) throw new Error(`its transcript is not valid: ${found.message}`);
  const { lines, result } = readTranscript(path);
  if (result?.status !== end.status)
    throw new Error('its transcript and its result do not end in the same way');
  const asked = lines.find((line) => line.type === 'message' && line.role === 'user');
  // Redacted text cannot be compared.
  const isWhole = asked?.type === 'message' && !asked.content.includes('[redacted:');
  const isOther = isWhole ? !asked.content.startsWith(task.prompt) : !asked && end.status === 'completed';
  if (isOther) throw new Error('its transcript has another prompt');
}
