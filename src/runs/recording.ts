import type { Emit, InitEvent, MessageEvent } from '../protocol/event.js';
import { createReplayProvider, type Said } from '../providers/replay.js';
import { lostArguments } from '../resume/lost-arguments.js';
import { taskIn } from '../resume/pause.js';
import { doubtAbout, readTranscript, turnsOf } from '../transcript/reader.js';
import type { OpenedModel } from './run-base.js';
import { warning } from '../protocol/warning.js';

/** A recorded model, and the task it was given. What it has `said` already is not repeated. */
export function openRecording(path: string, emit: Emit, said?: Said): OpenedModel {
  const transcript = readTranscript(path);
  const { lines } = transcript;
  const turns = turnsOf(transcript);
  const doubt = doubtAbout(transcript);
  if (doubt) emit(warning('recording', doubt));
  const init = lines.find((line): line is typeof line & InitEvent => line.type === 'init');
  const first = lines.find(
    (line): line is typeof line & MessageEvent => line.type === 'message' && line.role === 'user',
  );
  const summaries = lines.filter((line) => line.type === 'compression');
  return {
    provider: createReplayProvider(turns, init?.model ?? (turns[0]?.model as string), summaries, said),
    // Its calls are recorded parsed, whatever their protocol was.
    toolProtocol: init?.tool_protocol ?? 'native',
    recordedTask: first && taskIn(first),
    isLost: lostArguments(lines),
  };
}
