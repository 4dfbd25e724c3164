import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errorMessage } from '../lib/files.js';
import { newRunId } from '../lib/ids.js';
import type { Denial, Reporter, ResultEvent, RunEvent } from '../protocol/event.js';
import { exitCodeOf, failure, type Outcome } from '../protocol/outcome.js';
import { Summary } from '../reporters/summary.js';
import { outputFolder, TranscriptWriter } from '../transcript/writer.js';
import { runsFolder } from './settings.js';

export interface SessionOptions {
  readonly workspace: string;
  readonly transcript?: string;
  readonly reporters: readonly Reporter[];
  /** Called once if the transcript can no longer be written. */
  readonly onBroken: (outcome: Outcome) => void;
}

/** The stream of events of one run: each goes to the transcript first, then to everyone who reads along. */
export class Session {
  readonly id = newRunId(new Date());
  readonly transcript: string;
  readonly outputs: string;
  /** The folder or file that belongs to the run itself and that no call may write. */
  readonly own: readonly string[];
  readonly summary = new Summary();
  readonly #options: SessionOptions;
  readonly #writer: TranscriptWriter;
  readonly #started = performance.now();
  #broken = false;
  #ended = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    const folder = runsFolder(options.workspace);
    const own = options.transcript === undefined ? join(folder, this.id) : undefined;
    this.transcript = resolve(own ? join(own, 'transcript.jsonl') : (options.transcript as string));
    this.outputs = outputFolder(this.transcript);
    this.own = own ? [folder] : [this.transcript, this.outputs];
    this.#writer = new TranscriptWriter(this.transcript, this.id);
    if (own) keepOutOfGit(folder);
  }

  emit = (event: RunEvent): void => {
    // Late news of a tool that did not stop in time: the result is the last word.
    if (this.#ended) return;
    const line = this.#writer.stamp(event);
    try {
      if (!this.#broken) this.#writer.append(event, line);
    } catch (error) {
      this.#broken = true;
      const message = `the transcript ${this.transcript} cannot be written any more: ${errorMessage(error)}`;
      this.#options.onBroken(failure('tool_infra_error', 'transcript', message));
    }
    this.summary.add(event);
    for (const reporter of this.#options.reporters) reporter.event(line);
  };

  live(text: string): void {
    for (const reporter of this.#options.reporters) reporter.live?.(text);
  }

  /** Says how it ended, and is silent from then on. */
  finish(outcome: Outcome, denials: readonly Denial[]): ResultEvent {
    const { status, reason, response = '', error } = outcome;
    const result: ResultEvent = {
      type: 'result',
      status,
      exit_code: exitCodeOf(outcome),
      ...(reason !== undefined && { reason }),
      response,
      stats: this.summary.stats(performance.now() - this.#started),
      denials,
      pending: [],
      warnings: this.summary.warnings,
      ...(error && { error }),
      transcript: this.transcript,
    };
    this.emit(result);
    this.#ended = true;
    this.#writer.close();
    return result;
  }
}

/** Transcripts are not part of the project: a codemod's `git add -A` must not pick them up. */
function keepOutOfGit(folder: string): void {
  const file = join(folder, '.gitignore');
  if (existsSync(file)) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, '*\n');
}
