import { sha256 } from '../lib/ids.js';
import { toJsonLine } from '../lib/jsonl.js';
import type { Part } from '../protocol/content.js';
import type { TranscriptLine } from '../protocol/event.js';
import { movedArguments } from '../policy/replay/moved-arguments.js';
import { traitsOf } from '../policy/tool-names.js';
import { NO_PREVIOUS } from '../transcript/writer.js';

/** A recording whose calls name files of another workspace, as text with a hash chain of its own. */
export function movedRecording(lines: readonly TranscriptLine[], from: string, to: string): string {
  return chained(lines.map((line) => (line.type === 'turn' ? movedTurn(line, from, to) : line)));
}

type Turn = TranscriptLine & { readonly type: 'turn' };

function movedTurn(turn: Turn, from: string, to: string): Turn {
  const parts = turn.content.parts?.map((part) => movedCall(part, from, to));
  return { ...turn, content: { ...turn.content, ...(parts && { parts }) } };
}

/** A command that would need quotes stays as it is. */
function movedCall(part: Part, from: string, to: string): Part {
  const { functionCall } = part;
  if (!functionCall?.args) return part;
  const { commandIn } = traitsOf(functionCall.name ?? '');
  const moved = movedArguments(functionCall.args, from, to, commandIn);
  if (!moved) return part;
  return { ...part, functionCall: { ...functionCall, args: moved.args as Record<string, unknown> } };
}

/** A transcript with other paths in place of some, one after the other, so that it does not name a scratch folder. */
export function renamedTranscript(
  text: string,
  names: readonly (readonly [from: string, to: string])[],
): string {
  const renamed = names.reduce((before, [from, to]) => before.replaceAll(from, to), text);
  const lines = renamed.trimEnd().split('\n');
  return chained(lines.map((line) => JSON.parse(line) as TranscriptLine));
}

function chained(lines: readonly TranscriptLine[]): string {
  let prev = NO_PREVIOUS;
  return lines
    .map((line) => {
      const text = toJsonLine({ ...line, prev });
      prev = sha256(text);
      return `${text}\n`;
    })
    .join('');
}
