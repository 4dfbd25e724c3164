import { columnsOf } from '../../src/lib/columns.js';

const SEQUENCE = /\0RESIZED (\d+)x(\d+)\0|\u001b\[(\d*)([A-Za-z])|\r\n|[\r\n]|[^\u001b\r\n\0]+/g;

/**
 * As much of a terminal as a live table needs. Like most terminals of today it wraps long lines again when it gets
 * another width. `scrolled` is what has left it at the top.
 */
export class FakeScreen {
  columns: number;
  rows: number;
  /** Lines as they were written; one that is wider than the screen takes several rows. */
  readonly lines: string[] = [''];
  #row = 0;
  #column = 0;
  /** Lines that were wider than the screen when they were written. */
  readonly wrapped: string[] = [];
  /** Every state of the screen at which the program stopped writing for a moment. */
  onFrame: (screen: FakeScreen) => void = () => {};

  constructor(columns: number, rows: number) {
    this.columns = columns;
    this.rows = rows;
  }

  write(text: string): this {
    for (const [piece, columns, rows, number = '', letter] of text.matchAll(SEQUENCE)) {
      if (columns !== undefined) this.#resize(Number(columns), Number(rows));
      else if (letter !== undefined) this.#control(letter, Number(number || 1));
      else if (piece === '\r') this.#column = 0;
      else if (piece === '\n' || piece === '\r\n') this.#newline();
      else this.#print(piece);
    }
    return this;
  }

  get text(): string {
    return this.lines.map((line) => line.trimEnd()).join('\n');
  }

  #resize(columns: number, rows: number): void {
    // Lines that are too wide now take several rows: they are cut into these, as a terminal would.
    const next: string[] = [];
    for (const [i, line] of this.lines.entries()) {
      const pieces = line.trimEnd().match(new RegExp(`.{1,${columns}}`, 'gu')) ?? [''];
      next.push(...pieces);
      if (i === this.#row) this.#column = (pieces.at(-1) ?? '').length;
      if (i === this.#row) this.#row = next.length - 1;
    }
    this.lines.splice(0, this.lines.length, ...next);
    [this.columns, this.rows] = [columns, rows];
  }

  #control(letter: string, number: number): void {
    if (letter === 'A') this.#row = Math.max(0, this.#row - number);
    else if (letter === 'K') this.lines[this.#row] = (this.lines[this.#row] ?? '').slice(0, this.#column);
    else if (letter === 'J') {
      this.lines[this.#row] = (this.lines[this.#row] ?? '').slice(0, this.#column);
      this.lines.splice(this.#row + 1);
      this.onFrame(this);
    } else if (letter !== 'm') throw new Error(`the screen does not know ${letter}`);
  }

  #newline(): void {
    this.#row++;
    this.#column = 0;
    if (this.#row === this.lines.length) this.lines.push('');
  }

  #print(text: string): void {
    const line = (this.lines[this.#row] ?? '').padEnd(this.#column);
    const written = line.slice(0, this.#column) + text + line.slice(this.#column + text.length);
    this.lines[this.#row] = written;
    this.#column += text.length;
    if (columnsOf(written.trimEnd()) > this.columns) this.wrapped.push(written);
  }
}
