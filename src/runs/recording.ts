import { createReplayProvider, type Said } from '../providers/replay.js';
import type { Emit, InitEvent } from '../protocol/event.js';
import type { Transcript } from '../protocol/transcript.js';
import { readTranscript, turnsOf } from '../transcript/reader.js';
import { lostArguments } from '../resume/lost-arguments.js';
import type { OpenedModel } from './run-parts.js';
import type { Task } from '../protocol/task.js';

/** A recorded model, with the task it was given. What it has `said` already it does not say again. */
export function openRecording(path: string, emit: Emit, said?: Said): OpenedModel {
  const transcript = readTranscript(path);
  const turns = turnsOf(transcript);
  const doubt = doubtAbout(transcript);
  if (doubt) emit({ type: 'error', severity: 'warning', class: 'recording', message: doubt });
  const init = transcript.lines.find((line): line is typeof line & InitEvent => line.type === 'init');
  return {
    provider: createReplayProvider(
      turns,
      init?.model ?? (turns[0]?.model as string),
      transcript.lines.filter((line) => line.type === 'compression'),
      said,
    ),
    // Its calls have been read already, whatever they were written in.
    toolProtocol: init?.tool_protocol ?? 'native',
    recordedTask: recordedTask(transcript),
    isLost: lostArguments(transcript.lines),
  };
}

function doubtAbout({ path, torn, brokenAt, lines }: Transcript): string | undefined {
  if (torn) return `the recording ${path} is cut off after line ${lines.length}`;
  if (brokenAt !== undefined)
    return `the recording ${path} was changed: its hash chain breaks at line ${brokenAt}`;
  return undefined;
}

function recordedTask({ lines }: Transcript): Task | undefined {
  for (const line of lines) {
    if (line.type !== 'message' || line.role !== 'user') continue;
    const parts = line.parts ?? [{ text: line.content }];
    return { text: line.content, parts, ...(line.untrusted && { untrusted: true }) };
  }
  return undefined;
}
