import { isDeeperThan, MAX_DEPTH, tooDeep } from '../lib/depth.js';
import { plainReason } from '../lib/errors.js';
import { sha256 } from '../lib/ids.js';
import { eventIn, splitLines } from '../lib/jsonl.js';
import { readRegularFile } from '../lib/regular-file.js';
import type { TranscriptLine, TurnEvent } from '../protocol/event.js';
import { configProblem } from '../protocol/problem.js';
import type { Transcript } from '../protocol/transcript.js';
import { NO_PREVIOUS } from './writer.js';

/** How much deeper an event nests JSON from outside. */
const MAX_EVENT_DEPTH = MAX_DEPTH + 20;

/** Reads a transcript. An incomplete last line is tolerated; any other line that is not an event is an error. */
export function readTranscript(path: string): Transcript {
  const lines: TranscriptLine[] = [];
  let torn = false;
  let brokenAt: number | undefined;
  let prev = NO_PREVIOUS;
  let size = 0;
  let finished = true;
  for (const { number, bytes, whole } of splitLines(readWhole(path))) {
    const line = eventIn<TranscriptLine>(bytes);
    if (line && isDeeperThan(line, MAX_EVENT_DEPTH))
      throw configProblem('transcript', `${path}:${number}: ${tooDeep(MAX_EVENT_DEPTH)}`);
    if (!line) {
      if (!whole) {
        torn = true;
        break;
      }
      throw configProblem('transcript', `${path}:${number}: not an event of a transcript`, {
        hint: 'A transcript is the JSONL file that bosun run --transcript writes.',
      });
    }
    if (line.prev !== prev || line.seq !== lines.length) brokenAt ??= number;
    prev = sha256(bytes);
    size += bytes.length + Number(whole);
    finished = whole;
    lines.push(line);
  }
  if (lines.length === 0) throw configProblem('transcript', `${path} has no complete event`);
  const last = lines.at(-1);
  return {
    path,
    lines,
    torn,
    brokenAt,
    end: { bytes: size, whole: finished, seq: lines.length, hash: prev },
    result: last?.type === 'result' ? last : undefined,
  };
}

/** The model's turns, for a replay. */
export function turnsOf({ path, lines }: Transcript): TurnEvent[] {
  const turns = lines.filter((line) => line.type === 'turn');
  if (turns.length === 0) throw configProblem('replay', `${path} has no turn of a model`);
  const bare = turns.find(({ content }) => content?.role !== 'model' || !Array.isArray(content.parts));
  if (bare) {
    throw configProblem('replay', `${path} does not contain what the model said (turn ${bare.index})`, {
      hint: 'Replay the transcript itself, not the output of stream-json.',
    });
  }
  return turns;
}

/** Why a recording may differ from what was recorded. */
export function doubtAbout({ path, torn, brokenAt, lines }: Transcript): string | undefined {
  if (torn) return `the recording ${path} is cut off after line ${lines.length}`;
  if (brokenAt !== undefined)
    return `the recording ${path} was changed: its hash chain breaks at line ${brokenAt}`;
  return undefined;
}

/** Nothing longer can be read at once. */
const MAX_BYTES = 2 ** 31 - 1;

function readWhole(path: string): Buffer {
  try {
    return readRegularFile(path, MAX_BYTES).bytes;
  } catch (error) {
    throw configProblem('transcript', `the transcript ${path} cannot be read: ${plainReason(error)}`, {
      cause: error,
    });
  }
}
