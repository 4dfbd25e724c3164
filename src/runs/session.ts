import { statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errorCode, errorMessage } from '../lib/errors.js';
import { makeFolders } from '../lib/folders.js';
import { newRunId } from '../lib/ids.js';
import { realPath } from '../lib/real-path.js';
import type { Redactor } from '../lib/redact/redactor.js';
import type { Reporter, ResultEvent, RunEvent, TranscriptLine } from '../protocol/event.js';
import { exitCodeOf, failure, type Outcome } from '../protocol/outcome.js';
import { configProblem } from '../protocol/problem.js';
import { Summary } from '../reporters/summary.js';
import { outputFolder, TranscriptWriter, type TranscriptEnd } from '../transcript/writer.js';
import { redactEvent } from './redact-event.js';
import { lockOf, lockTranscript } from './transcript-lock.js';
import { runsFolder } from './settings.js';

export interface SessionOptions {
  readonly workspace: string;
  readonly transcript?: string;
  readonly redactor: Redactor;
  readonly reporters: readonly Reporter[];
  /** Called once if the transcript can no longer be written. */
  readonly onBroken: (outcome: Outcome) => void;
  /** The run that is taken up again. */
  readonly before?: SessionBefore;
}

/** What a session was before it was interrupted. */
export interface SessionBefore {
  readonly id: string;
  readonly lines: readonly TranscriptLine[];
  readonly end: TranscriptEnd;
  readonly runningMs: number;
  /** Gives the transcript back. */
  readonly unlock: () => void;
}

/** What a run did not do: calls that were refused, and calls that wait for an answer. */
export type Leftovers = Partial<Pick<ResultEvent, 'denials' | 'pending' | 'patch'>>;

/** The stream of events of one run: each goes to the transcript first, then to everyone who reads along. */
export class Session {
  readonly id: string;
  readonly transcript: string;
  /** Where the whole outputs of calls go. */
  readonly outputs: string;
  /** What belongs to the run itself, and no call may write. */
  readonly own: readonly string[];
  readonly summary = new Summary();
  /** Takes secrets out of all that is told here. It knows more of them once the policies are known. */
  redactor: Redactor;
  readonly #options: SessionOptions;
  readonly #writer: TranscriptWriter;
  readonly #started = performance.now();
  readonly #unlock: () => void;
  #broken: Outcome | undefined;
  #result: ResultEvent | undefined;

  constructor(options: SessionOptions) {
    const { before } = options;
    this.#options = options;
    this.redactor = options.redactor;
    this.id = before?.id ?? newRunId(new Date());
    const folder = runsFolder(options.workspace);
    if (options.transcript === undefined) openRunsFolder(folder);
    this.transcript = resolve(options.transcript ?? join(folder, this.id, 'transcript.jsonl'));
    this.#unlock = before?.unlock ?? lockTranscript(this.transcript);
    this.#writer = this.#openWriter(before?.end);
    const isFile = statSync(this.transcript).isFile();
    this.outputs = isFile ? outputFolder(this.transcript) : join(folder, this.id, 'outputs');
    this.own = [folder, this.transcript, this.outputs, lockOf(this.transcript)];
    for (const line of before?.lines ?? []) {
      this.summary.add(line);
      for (const reporter of options.reporters) reporter.past?.(line);
    }
  }

  #openWriter(end: TranscriptEnd | undefined): TranscriptWriter {
    try {
      return new TranscriptWriter(this.transcript, this.id, end);
    } catch (error) {
      this.#unlock();
      throw error;
    }
  }

  /** How long the run has been going on, all its parts together. */
  get elapsedMs(): number {
    return (this.#options.before?.runningMs ?? 0) + performance.now() - this.#started;
  }

  /** Shows again what was recorded before, to those who were not there then. */
  remind(lines: readonly TranscriptLine[]): void {
    for (const reporter of this.#options.reporters)
      if (!reporter.past) lines.forEach(reporter.event, reporter);
  }

  emit = (event: RunEvent): void => {
    // Late news of a tool that did not stop in time: the result is the last word.
    if (this.#result) return;
    const clean = redactEvent(event, this.redactor);
    const line = this.#writer.stamp(clean);
    if (!this.#record(line)) this.#options.onBroken(this.#broken as Outcome);
    this.summary.add(clean);
    this.#show(line);
  };

  live(text: string): void {
    for (const reporter of this.#options.reporters) reporter.live?.(text);
  }

  /** Says how it ended, and is silent from then on. */
  finish(outcome: Outcome, { denials = [], pending = [], patch }: Leftovers = {}): ResultEvent {
    if (this.#result) return this.#result;
    const stats = this.summary.stats(this.elapsedMs);
    const common = {
      denials,
      pending,
      warnings: this.summary.warnings,
      transcript: this.transcript,
      ...(patch && { patch }),
      ...(this.summary.init && { sandbox: this.summary.init.sandbox }),
      ...(this.summary.init?.dry_run && { dry_run: true as const }),
    };
    const result = (end: Outcome) => redactEvent({ ...resultOf(end, stats), ...common }, this.redactor);
    const line = this.#writer.stamp(result(outcome));
    const recorded = this.#record(line);
    this.#result = result(recorded ? outcome : (this.#broken as Outcome));
    this.#show(recorded ? line : this.#writer.stamp(this.#result));
    this.#writer.close();
    this.#unlock();
    return this.#result;
  }

  #show(line: TranscriptLine): void {
    for (const reporter of this.#options.reporters) reporter.event(line);
  }

  /** False if the event did not get into the transcript. */
  #record(line: TranscriptLine): boolean {
    if (this.#broken) return false;
    try {
      this.#writer.append(line);
      return true;
    } catch (error) {
      if (errorCode(error) === undefined) throw error;
      const message = `the transcript ${this.transcript} cannot be written any more: ${errorMessage(error)}`;
      this.#broken = failure('tool_infra_error', 'transcript', message);
      return false;
    }
  }
}

/** What every result says. */
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

/** Makes the folder for transcripts; a codemod's `git add -A` must not pick them up. */
function openRunsFolder(folder: string): void {
  const problem = (why: string) =>
    configProblem('transcript', `transcripts cannot be kept in ${folder}: ${why}`, {
      hint: 'Choose another place with --transcript.',
    });
  // A link that somebody committed must not make us write elsewhere.
  if (realPath(folder) !== folder) throw problem('a part of it is a symbolic link');
  try {
    makeFolders(folder);
    writeFileSync(join(folder, '.gitignore'), '*\n', { flag: 'wx' });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw problem(errorMessage(error));
  }
}
