import { oneLine } from '../../lib/text.js';

const KEPT = 50;
/** A log is for people. */
const MAX_LOGGED = 300;

/** A server's messages for people: all go to the log, up to a limit, and the last lines into errors. */
export class LastLines {
  readonly #log: (line: string) => void;
  readonly #kept: string[] = [];
  #count = 0;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  add(line: string): void {
    const clean = oneLine(line, 500);
    this.#kept.push(clean);
    if (this.#kept.length > KEPT) this.#kept.shift();
    if (++this.#count <= MAX_LOGGED) this.#log(clean);
    if (this.#count === MAX_LOGGED) this.#log('(the rest is not shown)');
  }

  after(text: string): string {
    return this.#kept.length === 0 ? text : `${text}. Its last lines:\n${this.#kept.join('\n')}`;
  }
}
