import { columnsOf } from '../../lib/columns.js';
import { stripVTControlCharacters } from 'node:util';
import type { Paint } from '../../lib/paint.js';
import { neutralizeCommands } from '../../lib/text.js';
import type { TranscriptLine } from '../../protocol/event.js';
import type { JournalLine } from '../journal/event.js';
import type { BatchReporter } from '../reporter.js';
import { newsLine, taskLine } from './lines.js';
import { tableLines, type Screen } from './live-table.js';
import { Tally } from './tally.js';

export interface LiveOptions {
  readonly write: (text: string) => void;
  readonly screen: () => Screen;
  readonly paint: Paint;
  /** Whether ended tasks get a line here: nothing else shows one on this screen. */
  readonly tellsEnds: boolean;
}

const REDRAW_MS = 200;
const CLEAR_BELOW = '\u001b[J';

/** A table at the bottom of a terminal that is redrawn; other lines go above it. */
export class LiveTable implements BatchReporter {
  readonly #options: LiveOptions;
  readonly #tally = new Tally();
  #timer: NodeJS.Timeout | undefined;
  /** What is on the screen, as plain text. */
  #drawn: readonly string[] = [];

  constructor(options: LiveOptions) {
    this.#options = options;
  }

  event(line: JournalLine): void {
    this.#tally.event(line);
    switch (line.type) {
      case 'batch_init':
        if (line.tasks.to_run > 0) this.#timer = setInterval(() => this.#draw(), REDRAW_MS).unref();
        return;
      case 'task_start':
        return;
      case 'task_end':
        if (this.#options.tellsEnds) this.#say(taskLine(line));
        return;
      case 'gate':
      case 'batch_notice': {
        const news = newsLine(line);
        if (news !== undefined) this.#say(this.#options.paint('yellow', news));
        return;
      }
      case 'batch_result':
        clearInterval(this.#timer);
        this.#timer = undefined;
        this.#clear();
        return;
      default:
        line satisfies never;
    }
  }

  task(id: string, line: TranscriptLine): void {
    this.#tally.task(id, line);
  }

  /** Lets other code write to the same screen. */
  aside(write: () => void): void {
    this.#clear();
    write();
    if (this.#timer) this.#draw();
  }

  #say(line: string): void {
    this.aside(() => this.#options.write(`${neutralizeCommands(line)}\n`));
  }

  #clear(): void {
    if (this.#drawn.length === 0) return;
    this.#options.write(`${this.#toTop()}${CLEAR_BELOW}`);
    this.#drawn = [];
  }

  #draw(): void {
    const lines = tableLines(this.#tally, this.#options.screen(), this.#options.paint);
    const top = this.#toTop();
    this.#drawn = lines.map((line) => stripVTControlCharacters(line));
    // In one piece, and cleared line by line: clearing everything flickers.
    this.#options.write(`${top}${lines.map((line) => `${line}\u001b[K`).join('\n')}${CLEAR_BELOW}`);
  }

  /** Back to the start of the table. On a screen that was narrowed since, its lines have wrapped. */
  #toTop(): string {
    const { columns } = this.#options.screen();
    const rows = this.#drawn.map((line) => Math.max(1, Math.ceil(columnsOf(line) / Math.max(1, columns))));
    const up = rows.reduce((sum, n) => sum + n, 0) - 1;
    return up > 0 ? `\r\u001b[${up}A` : '\r';
  }
}
