import type { TranscriptLine } from '../../protocol/event.js';
import type { RunnerReport } from '../document.js';
import { MarkdownReport } from '../markdown/report.js';
import { annotationsOf } from './annotations.js';
import { workflowCommand } from '../../lib/workflow-command.js';

/** A run for GitHub: annotations for the log, and a summary of the step. */
export class GithubReport implements RunnerReport {
  readonly #markdown = new MarkdownReport();

  add(line: TranscriptLine): void {
    this.#markdown.add(line);
  }

  /** Workflow commands, one a line. */
  annotations(): string {
    return annotationsOf(this.#markdown.record).map(workflowCommand).join('');
  }

  /** Markdown of at most `room` bytes. */
  summary(room: number): string {
    return [...this.#markdown.pieces(room)].join('');
  }
}
