import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../lib/attempt.js';
import { isHeld } from '../lib/lease.js';
import { readBeginning, readEnd } from '../lib/regular-file.js';
import { eventIn } from '../lib/jsonl.js';
import type { ResultEvent, TranscriptLine } from '../protocol/event.js';
import type { Status } from '../protocol/status.js';
import { leaseFileOf } from './lease.js';
import { entriesIn } from '../lib/folders.js';

/** A run whose folder is still in `.bosun/runs`. */
export interface KeptRun {
  readonly id: string;
  readonly transcript: string;
  /** `running` while a process holds its transcript; `interrupted` if none does and it has no result. */
  readonly status: Status | 'running' | 'interrupted';
  readonly exit_code?: number;
  /** When it began, and when its transcript was last written. */
  readonly started?: string;
  readonly changed: string;
  readonly model?: string;
  readonly prompt?: string;
  readonly turns?: number;
  readonly cost_usd?: number;
  /** Of all its files, in bytes. */
  readonly size: number;
}

/** Names that runs give their folders (`newRunId`): nothing else in there is for us to list or remove. */
const RUN_ID = /^\d{8}T\d{6}-[0-9a-f]{8}$/;
const TRANSCRIPT = 'transcript.jsonl';
/** Enough for the first events, including a prompt of ordinary length. */
const FIRST_BYTES = 64 * 1024;

/** The names of the runs in a folder, newest first. Links are not followed. */
export function runIds(folder: string): string[] {
  const entries = entriesIn(folder);
  const names = entries.flatMap((entry) =>
    entry.isDirectory() && RUN_ID.test(entry.name) ? entry.name : [],
  );
  return names.toSorted().toReversed();
}

/** What is known about a run without reading all of its transcript. Undefined if it has none (any more). */
export function keptRun(folder: string, id: string): KeptRun | undefined {
  const transcript = join(folder, id, TRANSCRIPT);
  const stats = statSync(transcript, { throwIfNoEntry: false });
  if (!stats?.isFile()) return undefined;
  const last = attempt(() => lastEvent(transcript));
  const result = last?.type === 'result' ? last : undefined;
  return {
    id,
    transcript,
    status: isHeld(leaseFileOf(transcript)) ? 'running' : (result?.status ?? 'interrupted'),
    changed: stats.mtime.toISOString(),
    ...beginningOf(attempt(() => firstEvents(transcript)) ?? []),
    ...(result && resultFacts(result)),
    size: sizeBelow(join(folder, id)),
  };
}

function beginningOf(lines: readonly TranscriptLine[]): Pick<KeptRun, 'started' | 'model' | 'prompt'> {
  const init = lines.find((line) => line.type === 'init');
  const task = lines.find((line) => line.type === 'message');
  return {
    ...(lines[0] && { started: lines[0].timestamp }),
    ...(init && { model: init.model }),
    ...(task?.role === 'user' && { prompt: task.content }),
  };
}

function resultFacts({ exit_code, stats }: ResultEvent): Pick<KeptRun, 'exit_code' | 'turns' | 'cost_usd'> {
  const { turns, cost_usd } = stats;
  return { exit_code, turns, ...(cost_usd !== undefined && { cost_usd }) };
}

function firstEvents(transcript: string): TranscriptLine[] {
  const lines = readBeginning(transcript, FIRST_BYTES).toString('utf8').split('\n').slice(0, -1);
  return lines.flatMap((line) => eventIn<TranscriptLine>(Buffer.from(line)) ?? []);
}

/** Without reading the rest of it. */
export function lastEvent(transcript: string): TranscriptLine | undefined {
  for (let bytes = FIRST_BYTES; ; bytes *= 8) {
    const { end, isAll } = readEnd(transcript, bytes);
    // What follows the last newline is incomplete.
    const line = end.subarray(0, end.lastIndexOf('\n'));
    const from = line.lastIndexOf('\n') + 1;
    if (from > 0 || isAll) return eventIn<TranscriptLine>(line.subarray(from));
  }
}

function sizeBelow(folder: string): number {
  const entries = attempt(() => readdirSync(folder, { withFileTypes: true, recursive: true })) ?? [];
  const sizes = entries.map((entry) =>
    entry.isFile() ? (attempt(() => statSync(join(entry.parentPath, entry.name)).size) ?? 0) : 0,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
