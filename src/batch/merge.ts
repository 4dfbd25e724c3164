import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson } from '../lib/canonical-json.js';
import { sha256 } from '../lib/ids.js';
import { realPath } from '../lib/real-path.js';
import { count } from '../lib/text.js';
import { TASKS_FAILED } from '../protocol/outcome.js';
import { VERSION } from '../lib/version.js';
import { endingOf } from './ending.js';
import {
  FolderPaths,
  leaseFolder,
  mustReadRecord,
  newBatchId,
  readRecord,
  repeatIn,
  writeRecord,
  writeResults,
  type BatchRecord,
} from './folder.js';
import { foldJournal } from './history.js';
import type { BatchResultEvent, JournalLine, TaskEndEvent, TaskStartEvent } from './journal/event.js';
import { readSoundJournal } from './journal/reader.js';
import { JournalWriter } from './journal/writer.js';
import { resultsOf, type RecordedTask } from './results.js';
import { batchProblem } from './spec.js';
import { spentBefore } from './spent.js';

interface Part {
  readonly folder: string;
  readonly record: BatchRecord;
  readonly lines: readonly JournalLine[];
}

export interface Merged {
  readonly result: BatchResultEvent;
  /** `2/8`, for each missing one. */
  readonly missing: readonly string[];
  /** For each that is there twice: in which folders. */
  readonly overlapping: readonly string[];
}

/** Joins the folders of a batch that ran in parts. Missing shards are named, and are not a success. */
export async function mergeBatches(folders: readonly string[], out: string): Promise<Merged> {
  const parts = folders.map(readPart);
  const name = mergedName(parts);
  checkCounts(parts);
  const paths = new FolderPaths(out);
  const before = readRecord(paths);
  if (before && (before.name !== name || before.settings['merged'] !== true))
    throw batchProblem(`${out} is the folder of another batch, ${before.name}`, 'Choose another with --out.');
  if (!before && existsSync(out) && readdirSync(out).length > 0)
    throw batchProblem(`${out} is not empty`, 'Choose another folder with --out.');
  const target = realPath(out);
  const part = folders.find((folder) => realPath(folder) === target);
  if (part !== undefined)
    throw batchProblem(
      `${part} is one of the folders to merge, and also --out`,
      'Choose another folder with --out.',
    );
  const lease = await leaseFolder(paths, name);
  try {
    for (const old of [paths.journal, paths.tasks]) rmSync(old, { recursive: true, force: true });
    const record = mergedRecord(name, parts);
    const writer = new JournalWriter(
      paths.journal,
      record.batch_id,
      readSoundJournal(paths.journal).end,
      lease,
    );
    try {
      return joinedParts(parts, record, paths, writer);
    } finally {
      writer.close();
    }
  } finally {
    lease.release();
  }
}

function readPart(folder: string): Part {
  const record = mustReadRecord(folder);
  return { folder, record, lines: readSoundJournal(new FolderPaths(folder).journal).lines };
}

function mergedName(parts: readonly Part[]): string {
  const [first, ...others] = parts;
  if (!first) throw batchProblem('there is nothing to merge', 'Give the folders of a batch.');
  const other = others.find(({ record }) => record.name !== first.record.name);
  if (other)
    throw batchProblem(
      `${other.folder} belongs to the batch ${other.record.name}, but ${first.folder} to ${first.record.name}`,
    );
  return first.record.name;
}

/** All tasks of all parts, in the order of their source. If several parts have one, the last part counts. */
function mergedRecord(name: string, parts: readonly Part[]): BatchRecord {
  const tasks = new Map<string, RecordedTask>();
  for (const { record } of parts) for (const task of record.tasks) tasks.set(task.id, task);
  const { settings = {} } = parts[0]?.record ?? {};
  const body = {
    settings: { ...settings, merged: true },
    shard: null,
    tasks: [...tasks.values()].toSorted((a, b) => a.index - b.index),
  };
  return { v: 1, batch_id: newBatchId(), name, sha256: sha256(canonicalJson({ name, ...body })), ...body };
}

function joinedParts(
  parts: readonly Part[],
  record: BatchRecord,
  paths: FolderPaths,
  writer: JournalWriter,
): Merged {
  writeRecord(paths, record);
  const lines: JournalLine[] = [];
  // The last line is flushed, and with it all others.
  const emit = (event: Parameters<JournalWriter['write']>[0]) => lines.push(writer.write(event));
  const init = parts.flatMap((part) => part.lines.filter((line) => line.type === 'batch_init')).at(-1);
  emit({
    type: 'batch_init',
    version: VERSION,
    name: record.name,
    batch_sha256: record.sha256,
    ...{ workspace: init?.workspace ?? '', isolation: init?.isolation ?? 'none', base: init?.base ?? null },
    ...{ model: init?.model ?? '', concurrency: init?.concurrency ?? 1 },
    tasks: { total: record.tasks.length, to_run: 0 },
    options: { merged: parts.length },
  });
  const overlapping = overlappingOf(parts);
  for (const message of overlapping)
    emit({ type: 'batch_notice', level: 'warning', code: 'overlapping_shards', message });
  const different = differentTasks(parts);
  if (different !== undefined)
    emit({ type: 'batch_notice', level: 'warning', code: 'different_tasks', message: different });
  const used = new Map<string, number>();
  const originals = withoutCopies(parts);
  for (const part of originals) copyAttempts(part, paths, used, emit);
  const history = foldJournal(lines);
  const results = resultsOf(record.tasks, history, repeatIn(record));
  writeResults(paths, results);
  const missing = missingOf(parts);
  const ends = originals.flatMap((part) => part.lines.filter((line) => line.type === 'batch_result'));
  const total = (valueOf: (end: BatchResultEvent) => number) =>
    ends.reduce((sum, end) => sum + valueOf(end), 0);
  const result = endingOf({
    halt: undefined,
    results,
    isSelected: () => true,
    skipped: 0,
    charge: spentBefore(history, paths.root),
    requests: total(({ requests }) => requests),
    rejected: total(({ rejected }) => rejected),
    waitedMs: total(({ waited_ms }) => waited_ms),
    durationMs: Math.max(0, ...ends.map(({ duration_ms }) => duration_ms)),
    command: '',
    folder: paths.root,
  });
  const whole = withMissing(withDifferent({ ...result, continue: null }, different), missing);
  writer.append(whole);
  return { result: whole, missing, overlapping };
}

/** Copies what a part says about its tasks. A task that other parts have tried too keeps all attempts. */
function copyAttempts(
  { folder, lines }: Part,
  paths: FolderPaths,
  used: Map<string, number>,
  emit: (event: TaskStartEvent | TaskEndEvent) => void,
): void {
  const before = new Map(used);
  for (const line of lines) {
    if (line.type !== 'task_start' && line.type !== 'task_end') continue;
    const { v: _v, seq: _seq, timestamp: _time, batch_id: _id, prev: _prev, ...event } = line;
    const shift = before.get(line.id) ?? 0;
    const attempt = line.attempt + shift;
    used.set(line.id, Math.max(used.get(line.id) ?? 0, attempt));
    const move = (path: string) => path.replace(/^(tasks\/[^/]+\/)\d+\//, `$1${attempt}/`);
    if (event.type === 'task_start') {
      const to = move(event.transcript);
      const from = join(folder, event.transcript, '..');
      if (existsSync(from)) cpSync(from, join(paths.root, to, '..'), { recursive: true });
      const { workspace: _workspace, ...rest } = event;
      emit({ ...rest, attempt, transcript: to });
    } else {
      const { transcript, patch } = event;
      emit({
        ...event,
        attempt,
        transcript: transcript === null ? null : move(transcript),
        patch: patch === null ? null : move(patch),
      });
    }
  }
}

/** Tasks are dealt out by the number of shards: parts with different numbers miss tasks, and repeat others. */
function checkCounts(parts: readonly Part[]): void {
  const [first, ...others] = parts.filter(({ record }) => record.shard);
  const other = others.find(({ record }) => record.shard?.count !== first?.record.shard?.count);
  if (first && other)
    throw batchProblem(
      `${first.folder} is shard ${shardName(first)}, and ${other.folder} is shard ${shardName(other)}`,
      'Merge shards with the same N.',
    );
}

function shardName({ record: { shard } }: Part): string {
  return shard ? `${shard.index}/${shard.count}` : 'the whole batch';
}

/**
 * Leaves out a folder that is given twice, or beside an older copy of itself: its journal is the beginning of another
 * one, and counts once.
 */
function withoutCopies(parts: readonly Part[]): Part[] {
  const beginsWith = ({ lines }: Part, part: Part) =>
    canonicalJson(lines[part.lines.length - 1] ?? null) === canonicalJson(part.lines.at(-1) ?? null);
  return parts.filter(
    (part, i) =>
      !parts.some((other, j) => {
        const isLater = j < i || other.lines.length > part.lines.length;
        return j !== i && isLater && beginsWith(other, part);
      }),
  );
}

/** Nothing is lost if parts overlap: a task keeps all attempts, and one that completed it counts. */
function overlappingOf(parts: readonly Part[]): string[] {
  const folders = new Map<string, string[]>();
  for (const part of parts)
    folders.set(shardName(part), [...(folders.get(shardName(part)) ?? []), part.folder]);
  const twice = [...folders].filter(([, places]) => places.length > 1);
  const said = twice.map(
    ([shard, places]) =>
      `${shard === 'the whole batch' ? shard : `shard ${shard}`} is in ${places.join(' and ')}`,
  );
  const [whole] = folders.get('the whole batch') ?? [];
  const shards = [...folders.keys()].filter((shard) => shard !== 'the whole batch');
  if (whole === undefined || shards.length === 0) return said;
  return [...said, `${whole} is the whole batch, and has the tasks of shard ${shards.join(', ')}`];
}

function missingOf(parts: readonly Part[]): string[] {
  const shards = parts.flatMap(({ record }) => record.shard ?? []);
  if (shards.length < parts.length) return [];
  const all = Math.max(0, ...shards.map(({ count: n }) => n));
  const there = new Set(shards.map(({ index }) => index));
  return Array.from({ length: all }, (_, i) => i + 1)
    .filter((index) => !there.has(index))
    .map((index) => `${index}/${all}`);
}

/** Shards of different lists miss tasks that none of them was dealt. */
function differentTasks(parts: readonly Part[]): string | undefined {
  const hashOf = ({ record }: Part) => record.shard && record.settings['tasks_sha256'];
  const [first, ...others] = parts.filter((part) => hashOf(part));
  const other = first && others.find((part) => hashOf(part) !== hashOf(first));
  return (
    other &&
    `${first.folder} and ${other.folder} are shards of different tasks: prompt, inputs or base changed between them`
  );
}

function withDifferent(result: BatchResultEvent, message: string | undefined): BatchResultEvent {
  return message === undefined ? result : { ...result, ...INCOMPLETE, reason: 'different_tasks', message };
}

const INCOMPLETE = { status: TASKS_FAILED.status, exit_code: TASKS_FAILED.exitCode } as const;

function withMissing(result: BatchResultEvent, missing: readonly string[]): BatchResultEvent {
  if (missing.length === 0) return result;
  const message = `${count(missing.length, 'shard')} missing: ${missing.join(', ')}`;
  return { ...result, ...INCOMPLETE, reason: 'missing_shards', message };
}
