import type { InitEvent, MessageEvent } from '../protocol/event.js';
import type { Task } from '../protocol/task.js';
import type { Transcript } from '../protocol/transcript.js';
import type { RecordedRun } from './fold.js';
import { lostArguments } from './lost-arguments.js';
import { rebuild, type Conversation } from './rebuild.js';
import type { PausedRun } from './restore.js';

export interface Recorded {
  readonly transcript: Transcript;
  readonly recorded: RecordedRun;
  readonly init: InitEvent;
  readonly first: MessageEvent;
}

/** A run as it was when it stopped. */
export function pausedRun(
  { transcript, recorded, init, first }: Recorded,
  conversation: Conversation,
): PausedRun {
  const { lines, end, result } = transcript;
  return {
    recorded: { ...recorded, init },
    rebuilt: rebuild(recorded, init.output_schema, conversation),
    session: { id: lines[0]?.session_id ?? '', lines, end },
    from: { seq: end.seq - 1, status: result?.status ?? 'killed' },
    task: taskIn(first),
    isLost: lostArguments(lines),
  };
}

/** The task of a run, from its first message. */
export function taskIn({ content, parts = [{ text: content }], untrusted }: MessageEvent): Task {
  return { text: content, parts, ...(untrusted && { untrusted }) };
}
