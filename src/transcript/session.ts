import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { errorCode, errorMessage, plainReason } from '../lib/errors.js';
import { makeFolders, mustBeFolder } from '../lib/folders.js';
import { newRunId } from '../lib/ids.js';
import type { Lease, LeaseWishes } from '../lib/lease.js';
import type { Redactor } from '../lib/redact/redactor.js';
import type { Reporter, ResultEvent, RunEvent, TranscriptLine } from '../protocol/event.js';
import { exitCodeOf, failure, type Outcome } from '../protocol/outcome.js';
import { configProblem } from '../protocol/problem.js';
import { RunTally } from '../protocol/tally/run-tally.js';
import { runsFolder } from '../protocol/runs-folder.js';
import type { TranscriptEnd } from '../protocol/transcript.js';
import { outputFolder, TranscriptWriter } from './writer.js';
import { RunClock } from '../lib/run-clock.js';
import { redactEvent } from './redact-event.js';
import { openRunsFolder } from './runs-folder.js';
import { leaseFileOf, leaseTranscript } from './lease.js';

export interface SessionOptions {
  readonly workspace: string;
  readonly transcript?: string;
  readonly redactor: Redactor;
  readonly reporters: readonly Reporter[];
  /** Called if the run may not go on: the transcript can no longer be written, or a lease is lost. */
  readonly onBroken: (outcome: Outcome) => void;
  /** How long to wait if another process writes the transcript. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
  /** The run that is resumed. */
  readonly before?: SessionBefore;
}

/** The state of a session before it was interrupted. */
export interface SessionBefore {
  readonly id: string;
  readonly lines: readonly TranscriptLine[];
  readonly end: TranscriptEnd;
  readonly runningMs: number;
  /** The lease of the transcript. */
  readonly lease: Lease | undefined;
}

/** What a run did not do: calls that were denied, and calls that wait for an answer. */
export type Leftovers = Partial<Pick<ResultEvent, 'denials' | 'pending' | 'patch' | 'changes' | 'learnt'>>;

/** Begins the events of a run. Throws a Problem if its transcript cannot be written, or another process writes it. */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { before, waitMs, signal } = options;
  const id = before?.id ?? newRunId(new Date());
  const folder = runsFolder(options.workspace);
  const transcript = resolve(options.transcript ?? join(folder, id, 'transcript.jsonl'));
  if (before) return new Session(options, { id, transcript, lease: before.lease });
  if (options.transcript === undefined) openOwnFolder(folder, id);
  else checkFolder(transcript);
  const wishes: LeaseWishes = {
    name: `run ${id}`,
    ...(waitMs !== undefined && { waitMs }),
    ...(signal && { signal }),
  };
  return new Session(options, { id, transcript, lease: await leaseTranscript(transcript, wishes) });
}

interface SessionPlace {
  readonly id: string;
  readonly transcript: string;
  readonly lease: Lease | undefined;
}

/** The stream of events of one run: each goes to the transcript first, then to all reporters. */
export class Session {
  readonly id: string;
  readonly transcript: string;
  /** Where to write the full outputs of calls. */
  readonly outputs: string;
  /** Files of the run itself, which no call may write. */
  readonly own: readonly string[];
  readonly tally = new RunTally();
  /** Removes secrets from everything reported here. */
  readonly redactor: Redactor;
  readonly #options: SessionOptions;
  readonly #writer: TranscriptWriter;
  /** The time that the run has taken, all its parts together. */
  readonly clock: RunClock;
  readonly #lease: Lease | undefined;
  /** Further leases that the run cannot go on without. */
  readonly #others: Lease[] = [];
  #broken: Outcome | undefined;
  #result: ResultEvent | undefined;
  /** The result as it was shown. */
  #ended: ResultEvent | undefined;
  /** Shows a result that is written, without further waiting. */
  #endNow: (() => ResultEvent) | undefined;

  constructor(options: SessionOptions, { id, transcript, lease }: SessionPlace) {
    const { before } = options;
    this.#options = options;
    this.clock = new RunClock(before?.runningMs);
    this.redactor = options.redactor;
    this.id = id;
    this.transcript = transcript;
    this.#lease = lease;
    lease?.watch((error) => this.#break(error));
    this.#writer = this.#openWriter(before?.end);
    const folder = runsFolder(options.workspace);
    const isFile = statSync(this.transcript).isFile();
    this.outputs = isFile ? outputFolder(this.transcript) : join(folder, this.id, 'outputs');
    this.own = [folder, this.transcript, this.outputs, leaseFileOf(this.transcript)];
    for (const line of before?.lines ?? []) {
      this.tally.add(line);
      for (const reporter of options.reporters) reporter.past?.(line);
    }
  }

  #openWriter(end: TranscriptEnd | undefined): TranscriptWriter {
    try {
      return new TranscriptWriter(this.transcript, this.id, end, () => this.#lease?.check());
    } catch (error) {
      this.#lease?.release();
      throw error;
    }
  }

  /** Keeps a lease until the end of the run, which cannot go on without it. */
  hold(lease: Lease): void {
    this.#others.push(lease);
    lease.watch((error) => this.#options.onBroken(brokenBy(error, this.transcript)));
  }

  /** Called before anything with an effect outside: without its leases a run does nothing more. */
  check(): void {
    try {
      this.#lease?.check();
    } catch (error) {
      this.#break(error);
    }
    try {
      for (const lease of this.#others) lease.check();
    } catch (error) {
      this.#options.onBroken(brokenBy(error, this.transcript));
    }
  }

  /** Shows recorded events again, to reporters that were not there then. */
  showAgain(lines: readonly TranscriptLine[]): void {
    for (const reporter of this.#options.reporters)
      if (!reporter.past) lines.forEach(reporter.event, reporter);
  }

  emit = (event: RunEvent): void => this.emitTogether([event]);

  /** Writes events at once, so that nobody finds the first without the others. */
  emitTogether(events: readonly RunEvent[]): void {
    // A tool that did not stop in time may still report: the result is the last event.
    if (this.#result) return;
    // A call that changes something is about to begin.
    if (events.some(({ type }) => type === 'tool_start')) this.check();
    const lines: TranscriptLine[] = [];
    for (const event of events)
      lines.push(this.#writer.stamp(redactEvent(event, this.redactor), lines.at(-1)));
    this.#record(() => this.#writer.append(...lines));
    for (const line of lines) {
      this.tally.add(line);
      this.#show(line);
    }
  }

  live(text: string): void {
    for (const reporter of this.#options.reporters) reporter.live?.(text);
  }

  /** Reports the end, and nothing after it. Other runs go on while the result is flushed. */
  async finish(outcome: Outcome, leftovers: Leftovers = {}): Promise<ResultEvent> {
    if (this.#result) return this.#result;
    const resultFor = this.#resultWith(leftovers);
    this.#result = resultFor(outcome);
    const line = this.#writer.stamp(this.#result);
    const isWritten = this.#record(() => this.#writer.write(line));
    const end = (isSafe: boolean) => (this.#ended ??= this.#end(isSafe ? line : undefined, resultFor));
    if (!isWritten) return end(false);
    this.#endNow = () => end(true);
    return end(await this.#flush());
  }

  /** `finish` for a process that leaves at once. */
  finishNow(outcome: Outcome, leftovers: Leftovers = {}): ResultEvent {
    // The result may be written already and wait for its flush: it has not been shown yet.
    if (this.#result) return this.#endNow?.() ?? this.#result;
    const resultFor = this.#resultWith(leftovers);
    this.#result = resultFor(outcome);
    const line = this.#writer.stamp(this.#result);
    return this.#end(this.#record(() => this.#writer.append(line)) ? line : undefined, resultFor);
  }

  /** The result of the run, by its outcome. */
  #resultWith({ denials = [], pending = [], patch, changes, learnt }: Leftovers) {
    const stats = this.tally.stats(this.clock.elapsedMs, changes);
    const common = {
      denials,
      pending,
      warnings: this.tally.warnings,
      transcript: this.transcript,
      ...(patch && { patch }),
      ...(changes && { changes }),
      ...(learnt && { learnt }),
      ...(this.tally.init && { sandbox: this.tally.init.sandbox }),
      ...(this.tally.init?.dry_run && { dry_run: true as const }),
    };
    return (end: Outcome): ResultEvent => redactEvent({ ...resultOf(end, stats), ...common }, this.redactor);
  }

  /** Shows the recorded result, or why there is none, and releases all that the run has held. */
  #end(recorded: TranscriptLine | undefined, resultFor: (end: Outcome) => ResultEvent): ResultEvent {
    const result = recorded ? (this.#result as ResultEvent) : resultFor(this.#broken as Outcome);
    this.#result = result;
    try {
      this.#show(recorded ?? this.#writer.stamp(result));
    } finally {
      // A caller's own reporter may throw, and the next run would wait for this one.
      this.#writer.close();
      for (const lease of this.#others) lease.release();
      this.#lease?.release();
    }
    return result;
  }

  #show(line: TranscriptLine): void {
    for (const reporter of this.#options.reporters) reporter.event(line);
  }

  /** False if it could not be written. */
  #record(write: () => void): boolean {
    if (this.#broken) return false;
    try {
      write();
      return true;
    } catch (error) {
      return this.#failed(error);
    }
  }

  async #flush(): Promise<boolean> {
    try {
      await this.#writer.flush();
      return true;
    } catch (error) {
      return this.#failed(error);
    }
  }

  #failed(error: unknown): false {
    if (errorCode(error) === undefined) throw error;
    this.#break(error);
    return false;
  }

  /** Writes nothing more, and ends the run. */
  #break(error: unknown): void {
    this.#broken ??= brokenBy(error, this.transcript);
    this.#options.onBroken(this.#broken);
  }
}

function brokenBy(error: unknown, transcript: string): Outcome {
  const why = errorMessage(error);
  if (errorCode(error) === 'ELOST') {
    const message = `this run must not continue: ${why}`;
    const hint = 'Another process has taken over its work, or its files were removed.';
    return failure('tool_infra_error', LEASE_LOST, message, { hint });
  }
  return failure(
    'tool_infra_error',
    'transcript',
    `the transcript ${transcript} can no longer be written: ${why}`,
  );
}

/** The run ends because another process does its work now. */
export const LEASE_LOST = 'lease_lost';

/** What every result contains. */
export function resultOf(outcome: Outcome, stats: ResultEvent['stats']): ResultEvent {
  const { status, reason, response = '', structured, error } = outcome;
  return {
    type: 'result',
    status,
    exit_code: exitCodeOf(outcome),
    ...(reason !== undefined && { reason }),
    response,
    ...(structured !== undefined && { structured_output: structured }),
    stats,
    denials: [],
    pending: [],
    warnings: [],
    ...(error && { error }),
  };
}

function openOwnFolder(folder: string, id: string): void {
  try {
    openRunsFolder(folder);
    makeFolders(join(folder, id), 0o700);
  } catch (error) {
    throw configProblem('transcript', `transcripts cannot be kept in ${folder}: ${plainReason(error)}`, {
      hint: 'Choose another place with --transcript.',
    });
  }
}

function checkFolder(transcript: string): void {
  try {
    mustBeFolder(dirname(transcript));
  } catch (error) {
    throw configProblem(
      'transcript',
      `the transcript ${transcript} cannot be written: ${plainReason(error)}`,
      {
        hint: 'Choose another place with --transcript.',
      },
    );
  }
}
