import type { ResultEvent, TranscriptLine } from '../../protocol/event.js';
import type { RunDocument } from '../document.js';
import type { Answer } from './answers.js';

/** The findings of a run, written in some format. */
export class FindingsReport implements RunDocument {
  readonly #write: (answers: readonly Answer[]) => string;
  #workspace = '/';
  #result: ResultEvent | undefined;

  constructor(write: (answers: readonly Answer[]) => string) {
    this.#write = write;
  }

  add(line: TranscriptLine): void {
    if (line.type === 'init') {
      this.#workspace = line.cwd;
      // A resumed run has no result yet.
      this.#result = undefined;
    } else if (line.type === 'result') this.#result = line;
  }

  *pieces(): Generator<string> {
    const {
      status = 'interrupted',
      exit_code = null,
      structured_output: structured,
      error,
    } = this.#result ?? {};
    const ended = { status, exitCode: exit_code, structured, ...(error && { message: error.message }) };
    yield this.#write([{ workspace: this.#workspace, ...ended }]);
  }
}
