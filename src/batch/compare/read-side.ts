import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { sha256 } from '../../lib/ids.js';
import type { Validate } from '../../lib/schema.js';
import { oneLine } from '../../lib/text.js';
import type { Side } from '../../evidence/compare/compare.js';
import { averageOf, type Figure, type Sample } from '../../evidence/compare/sample.js';
import type { ResultEvent } from '../../protocol/event.js';
import { configProblem } from '../../protocol/problem.js';
import { transcriptFault } from '../../protocol/transcript.js';
import { findTranscripts } from '../../transcript/find.js';
import { lastEvent } from '../../transcript/kept-runs.js';
import { lineValidator } from '../../transcript/line-validator.js';
import { readTranscript } from '../../transcript/reader.js';
import { FolderPaths, mustReadRecord, repeatIn, type BatchRecord } from '../folder.js';
import { attemptsFor, foldJournal, type Attempt } from '../history.js';
import { readSoundJournal } from '../journal/reader.js';
import { runOf } from '../repeat.js';
import { taskResult, type RecordedTask } from '../results.js';

/** Room for a task's name in a line. */
const NAME_CHARACTERS = 100;

/** Both sides. Two single tasks are compared, whatever they were asked. */
export async function readSides(a: string, b: string): Promise<[Side, Side]> {
  const faultsOf = await lineValidator();
  const sides = [readSide(a, faultsOf), readSide(b, faultsOf)] as const;
  const areSingle = sides.every(({ samples }) => samples.length === 1);
  const [first, second] = sides.map(({ name, samples }) => ({
    name,
    samples: areSingle ? samples.map((sample) => ({ ...sample, key: '' })) : samples,
  })) as [Side, Side];
  return [first, second];
}

/** What came of the tasks of a batch, of one run, or of all runs below a folder. */
function readSide(path: string, faultsOf: Validate): Side {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats)
    throw configProblem('compare', `${path} does not exist`, {
      hint: 'Give a transcript, the folder of a batch, or a folder of transcripts.',
    });
  if (!stats.isDirectory()) return { name: path, samples: [sampleOf([runIn(path, faultsOf)])] };
  if (existsSync(new FolderPaths(path).record)) return { name: path, samples: tasksOf(path, faultsOf) };
  const byPrompt = new Map<string, Run[]>();
  for (const run of findTranscripts([path]).map((one) => runIn(one, faultsOf)))
    byPrompt.set(run.prompt, [...(byPrompt.get(run.prompt) ?? []), run]);
  return { name: path, samples: [...byPrompt.values()].map(sampleOf) };
}

/** One run, as far as it is compared. */
interface Run {
  readonly prompt: string;
  readonly result: ResultEvent | undefined;
}

/** A transcript that was changed says nothing about a run. */
function runIn(path: string, faultsOf: Validate): Run {
  const transcript = readTranscript(path);
  const fault = transcriptFault(transcript, faultsOf);
  if (fault) {
    const { why, hint = 'bosun verify says what is wrong with it.' } = fault;
    throw configProblem('compare', `${path} cannot be compared: ${why}`, { hint });
  }
  const { lines, result } = transcript;
  const task = lines.find((line) => line.type === 'message');
  return { prompt: task?.content ?? '', result };
}

/** Runs of the same task. One that has no result was interrupted: nothing is known about it. */
function sampleOf(runs: readonly Run[]): Sample {
  const results = runs.flatMap(({ result }) => result ?? []);
  const passed = results.filter(({ exit_code }) => exit_code === 0).length;
  const failed = results.length - passed;
  const last = results.at(-1);
  const { prompt = '' } = runs[0] ?? {};
  return {
    key: sha256(prompt),
    name: oneLine(prompt, NAME_CHARACTERS) || 'no prompt',
    status: last?.status ?? 'interrupted',
    passed: last && failed === 0,
    runs: { passed, failed },
    figures: {
      ...figuresOf(results),
      ...known({
        cost_usd: averageOf(results.map(({ stats }) => stats.cost_usd)),
        tokens: averageOf(results.map(({ stats }) => stats.total_tokens)),
        turns: averageOf(results.map(({ stats }) => stats.turns)),
        duration_ms: averageOf(results.map(({ stats }) => stats.duration_ms)),
      }),
    },
    tools: toolsOf(results, results.length),
  };
}

function tasksOf(folder: string, faultsOf: Validate): Sample[] {
  const record = mustReadRecord(folder);
  const history = foldJournal(readSoundJournal(new FolderPaths(folder).journal).lines);
  const resultIn = (transcript: string) => lastResult(join(folder, transcript), faultsOf);
  return record.tasks.map((task) => taskSample(record, task, history.get(task.id) ?? [], resultIn));
}

function taskSample(
  record: BatchRecord,
  task: RecordedTask,
  attempts: readonly Attempt[],
  resultIn: (transcript: string) => ResultEvent | undefined,
): Sample {
  const { status, runs } = taskResult(task, attempts, repeatIn(record));
  const isOver = status !== 'pending' && status !== 'approval_required';
  const passed = isOver ? status === 'completed' : undefined;
  const own = attemptsFor(attempts, task.key).filter(({ ends }) => ends.length > 0);
  const ends = own.flatMap(({ ends: all }) => all.at(-1) ?? []);
  // Attempts that were needed for one run are part of what it cost.
  const times = new Set(own.map(runOf)).size;
  const perRun = (values: readonly (number | null)[]) => {
    const mean = averageOf(values.map((value) => value ?? undefined));
    return mean === undefined ? undefined : (mean * values.length) / times;
  };
  const results = own.flatMap(({ transcript }) => resultIn(transcript) ?? []);
  const isKnown = results.length === own.length;
  return {
    key: task.id,
    name: task.id,
    status,
    passed,
    runs: runs ?? { passed: passed ? 1 : 0, failed: passed === false ? 1 : 0 },
    figures: {
      ...(isKnown ? figuresOf(results, times) : {}),
      ...known({
        cost_usd: perRun(ends.map(({ cost_usd }) => cost_usd)),
        tokens: perRun(ends.map(({ tokens }) => tokens)),
        turns: perRun(ends.map(({ turns }) => turns)),
        duration_ms: perRun(ends.map(({ duration_ms }) => duration_ms)),
      }),
    },
    ...(isKnown && { tools: toolsOf(results, times) }),
  };
}

/** A transcript may have been removed or changed: then its calls are not known. */
function lastResult(transcript: string, faultsOf: Validate): ResultEvent | undefined {
  const last = attempt(() => lastEvent(transcript));
  return last?.type === 'result' && faultsOf(last).length === 0 ? last : undefined;
}

/** What only the results of runs say. */
function figuresOf(
  results: readonly ResultEvent[],
  times = results.length,
): Readonly<Partial<Record<Figure, number>>> {
  if (results.length === 0) return {};
  const sum = (valueOf: (result: ResultEvent) => number) =>
    results.reduce((total, result) => total + valueOf(result), 0) / times;
  return {
    tool_calls: sum(({ stats }) => stats.tool_calls),
    denials: sum(({ denials }) => denials.length),
  };
}

function toolsOf(results: readonly ResultEvent[], times: number): Record<string, number> {
  const calls = new Map<string, number>();
  for (const { stats } of results) {
    for (const [name, one] of Object.entries(stats.tools))
      calls.set(name, (calls.get(name) ?? 0) + one.calls / times);
  }
  return Object.fromEntries(calls);
}

function known(
  figures: Readonly<Partial<Record<Figure, number | undefined>>>,
): Partial<Record<Figure, number>> {
  return Object.fromEntries(Object.entries(figures).filter(([, value]) => value !== undefined));
}
