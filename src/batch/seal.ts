import { createHash } from 'node:crypto';
import { createReadStream, existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { attempt as attemptTo } from '../lib/attempt.js';
import { sha256 } from '../lib/ids.js';
import { toJsonLine } from '../lib/jsonl.js';
import type { TranscriptLine } from '../protocol/event.js';
import type { TranscriptEnd } from '../protocol/transcript.js';
import { readTranscript } from '../transcript/reader.js';
import { outputFolder } from '../transcript/writer.js';
import type { Attempt } from './history.js';
import type { Seal, TaskEndEvent } from './journal/event.js';

type Files = Pick<TaskEndEvent, 'patch' | 'transcript'>;

/** The hash of a line as the next line holds it: it covers all lines before it. */
export function lineHash(line: TranscriptLine): string {
  return sha256(toJsonLine(line));
}

/**
 * The end of an attempt with the hashes of the files that it has left. `head` is the hash of its transcript's last
 * line, if known.
 */
export async function withSeal(folder: string, end: TaskEndEvent, head?: string): Promise<TaskEndEvent> {
  const { patch, transcript, error } = end;
  // A transcript that could not be written has no last line.
  if (transcript === null || error?.code === 'transcript') return end;
  const path = join(folder, transcript);
  const last = head ?? attemptTo(() => readTranscript(path).end.hash);
  if (last === undefined) return end;
  const outputs = await hashesIn(outputFolder(path));
  return {
    ...end,
    seal: {
      transcript: last,
      ...(patch !== null && { patch: await hashOfFile(join(folder, patch)) }),
      ...(outputs.length > 0 && { outputs: Object.fromEntries(outputs) }),
    },
  };
}

/** Says which file of an attempt differs from what the journal has sealed. Journals from before seals say nothing. */
export async function brokenSeal(folder: string, attempt: Attempt): Promise<string | undefined> {
  const end = attempt.ends.findLast(({ seal }) => seal);
  if (!end?.seal || end.transcript === null) return undefined;
  const { transcript, seal } = end;
  const { end: last, lines } = readTranscript(join(folder, transcript));
  // An attempt that continues adds to its transcript, and so does an approval.
  const mayGrow = !attempt.end?.ended || end.status === 'approval_required';
  if (!(mayGrow ? heads(lines, last) : [last.hash]).includes(seal.transcript))
    return `${transcript} is not the transcript whose end is in the journal`;
  // If it has continued since, the other files were rewritten.
  return attempt.end === end ? brokenFile(folder, end, seal) : undefined;
}

async function brokenFile(
  folder: string,
  { patch, transcript }: Files,
  seal: Seal,
): Promise<string | undefined> {
  if (patch !== null && (await hashOfFile(join(folder, patch))) !== seal.patch) return `${patch} was changed`;
  const outputs = outputFolder(transcript ?? '');
  const found = new Map(await hashesIn(join(folder, outputs)));
  const sealed = Object.entries(seal.outputs ?? {});
  const lost = sealed.find(([name]) => !found.has(name));
  if (lost) return `${join(outputs, lost[0])} is missing`;
  const changed = sealed.find(([name, hash]) => found.get(name) !== hash);
  if (changed) return `${join(outputs, changed[0])} was changed`;
  const strange = [...found.keys()].find((name) => !Object.hasOwn(seal.outputs ?? {}, name));
  return strange === undefined ? undefined : `${join(outputs, strange)} is not from the run`;
}

/** The hash of the last line, after each line was added. */
function heads(lines: readonly TranscriptLine[], { hash }: TranscriptEnd): string[] {
  return [...lines.slice(1).map(({ prev }) => prev), hash];
}

async function hashesIn(folder: string): Promise<[string, string][]> {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
  const hashes: [string, string][] = [];
  for (const name of files.toSorted()) hashes.push([name, await hashOfFile(join(folder, name))]);
  return hashes;
}

/** The hash of what is not a readable file: it equals no other. */
const NO_FILE = '0'.repeat(64);

/** Outputs may be large, so they are not read at once. */
async function hashOfFile(path: string): Promise<string> {
  // Opening a pipe would wait for a writer.
  if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return NO_FILE;
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(path), hash);
  } catch {
    return NO_FILE;
  }
  return hash.digest('hex');
}
