import { findLease } from '../lib/lease-file.js';
import { lifeOf } from '../lib/process-mark.js';
import { batchOutcome, stabilityOf } from './ending.js';
import { FolderPaths, mustReadRecord, repeatIn, type BatchRecord } from './folder.js';
import { foldJournal } from './history.js';
import type { BatchResultEvent, JournalLine } from './journal/event.js';
import { readSoundJournal } from './journal/reader.js';
import type { BatchState, BatchStory } from './reporters/story.js';
import { taskCounts, resultsOf, sumKnown } from './results.js';

/** The state of the batch in a folder, whether it is running, was killed, or has ended. */
export function storyOf(folder: string): BatchStory & { readonly record: BatchRecord } {
  const record = mustReadRecord(folder);
  const paths = new FolderPaths(folder);
  const { lines } = readSoundJournal(paths.journal);
  const results = resultsOf(record.tasks, foldJournal(lines), repeatIn(record));
  const last = lines.at(-1);
  const state =
    last?.type === 'batch_result'
      ? wholeEnd(endedState(last), results, folder)
      : unended(lines, results, paths);
  return { folder, record, results, state };
}

/** A start with `--only` ends by its selection; the folder's end is about all tasks. */
function wholeEnd(state: BatchState, results: BatchStory['results'], folder: string): BatchState {
  const tasks = taskCounts(results, state.tasks.skipped);
  if (state.exit_code !== 0 || tasks.completed === tasks.total) return state;
  return { ...state, ...batchOutcome({ halt: undefined, results, isSelected: () => true, folder }), tasks };
}

/** A result to print, without the fields of a journal's line. */
export function endedState(line: BatchResultEvent & Partial<JournalLine>): BatchState {
  const {
    type: _type,
    v: _v,
    seq: _seq,
    timestamp: _time,
    batch_id: _id,
    prev: _prev,
    ...state
  } = line as BatchResultEvent & JournalLine;
  return state;
}

function unended(
  lines: readonly JournalLine[],
  results: BatchStory['results'],
  paths: FolderPaths,
): BatchState {
  const lease = findLease(paths.lease);
  const isRunning = lease !== undefined && lifeOf(lease.record) !== 'dead';
  const started = lines.findLast(({ type }) => type === 'batch_init');
  const since = started ? Date.parse(started.timestamp) : NaN;
  const until = isRunning ? Date.now() : Date.parse(lines.at(-1)?.timestamp ?? '');
  const ends = lines.flatMap((line) => (line.type === 'task_end' ? [line] : []));
  return {
    status: isRunning ? 'running' : 'interrupted',
    exit_code: null,
    reason: null,
    message: isRunning ? '' : 'its process was killed; run the same command to continue',
    tasks: taskCounts(results, 0),
    ...stabilityOf(results),
    cost_usd: sumKnown(results, ({ cost_usd }) => cost_usd),
    tokens: sumKnown(results, ({ tokens }) => tokens),
    requests: sumKnown(ends, ({ requests }) => requests) ?? 0,
    rejected: 0,
    late_results: 0,
    waited_ms: sumKnown(ends, ({ waited_ms }) => waited_ms) ?? 0,
    duration_ms: Math.max(0, until - since) || 0,
    reset_at: null,
    continue: null,
  };
}
