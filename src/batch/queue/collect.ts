import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { compileSchema } from '../../lib/schema.js';
import type { Dispatch } from '../../fleet/dispatch.js';
import { MAX_TAKES, noteFault, type ResultNote } from '../../fleet/job.js';
import { unpackPieces } from '../../fleet/pack.js';
import { verifyTranscript } from '../../transcript/verify.js';
import { readTranscript } from '../../transcript/reader.js';
import type { TaskEndEvent } from '../journal/event.js';
import { TASK_END_SCHEMA } from '../journal/schema.js';
import type { BatchTask } from '../prepare.js';
import { sealed } from '../seal.js';

export interface Collected {
  readonly end: TaskEndEvent;
  readonly note: ResultNote;
}

/**
 * Brings what a worker sent into the folder of the batch: into the place of the very attempt, whatever the result says
 * of itself. Throws if it is not the result of this attempt at this task.
 */
export async function collect(
  dispatch: Dispatch,
  folder: string,
  { task, name, said, first }: { task: BatchTask; name: string; said: unknown; first: number },
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
    rmSync(join(part, 'end.json'));
    rmSync(place, { recursive: true, force: true });
    renameSync(part, place);
    return { end, note };
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
}

async function endIn(part: string, task: BatchTask, { attempt }: ResultNote): Promise<TaskEndEvent> {
  const end = JSON.parse(readFileSync(join(part, 'end.json'), 'utf8')) as TaskEndEvent;
  const [fault] = (await compileSchema(TASK_END_SCHEMA))(end);
  if (fault) throw new Error(`its end cannot be used: ${fault}`);
  if (end.id !== task.id || end.key !== task.key || end.attempt !== attempt)
    throw new Error('its end is that of another task');
  const own = `tasks/${task.name}/${attempt}`;
  const has = (file: string) => existsSync(join(part, file));
  if (end.patch !== null && !has('changes.patch')) throw new Error('its patch is missing');
  if (end.transcript !== null) await checkTranscript(join(part, 'transcript.jsonl'), task, end);
  // By what has arrived: a worker leaves outputs behind that are too large to send.
  const { seal: _theirs, ...rest } = end;
  const { seal } = await sealed(part, {
    ...rest,
    patch: end.patch === null ? null : 'changes.patch',
    transcript: end.transcript === null ? null : 'transcript.jsonl',
  });
  return {
    ...rest,
    ...(seal && { seal }),
    patch: end.patch === null ? null : `${own}/changes.patch`,
    transcript: end.transcript === null ? null : `${own}/transcript.jsonl`,
  };
}

/** A transcript that is whole, of a run of this task, and that ended as it is said. */
async function checkTranscript(path: string, task: BatchTask, end: TaskEndEvent): Promise<void> {
  const found = await verifyTranscript(path);
  if (!found.valid) throw new Error(`its transcript is not sound: ${found.message}`);
  const { lines, result } = readTranscript(path);
  if (result?.status !== end.status) throw new Error('its transcript ends otherwise');
  const asked = lines.find((line) => line.type === 'message' && line.role === 'user');
  // Where something was taken out of it, it cannot be compared.
  const isWhole = asked?.type === 'message' && !asked.content.includes('[redacted:');
  if (isWhole && !asked.content.startsWith(task.prompt))
    throw new Error('its transcript is that of another prompt');
}
