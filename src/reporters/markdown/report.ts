import { byteLength } from '../../lib/fit-items.js';
import { codeSpan } from '../../lib/markdown.js';
import type { TranscriptLine } from '../../protocol/event.js';
import type { RunDocument } from '../document.js';
import { RunRecord } from '../run-record.js';
import { reportHead } from './head.js';
import {
  answer,
  calls,
  denials,
  diff,
  files,
  learnt,
  patch,
  pending,
  verifications,
  warnings,
  type Section,
} from './sections.js';

/** The least room that a report needs, in bytes. */
export const MIN_ROOM = 8192;

/** The parts of a report after its head, each with its share of the room left. */
const PARTS: readonly (readonly [Section, number])[] = [
  [verifications, 0.4],
  [denials, 0.4],
  [pending, 0.4],
  [warnings, 0.3],
  [answer, 0.4],
  [files, 0.3],
  [patch, 0.3],
  [learnt, 0.3],
  [calls, 0.4],
  [diff, 1],
];

/** Bytes of a part that only has room to say so. */
const HEADING = 300;

/** A run for people who read Markdown: in a step summary, a comment or a file. */
export class MarkdownReport implements RunDocument {
  readonly record = new RunRecord();
  readonly #room: number;

  /** `room` is the most bytes it may take. */
  constructor(room = Infinity) {
    this.#room = room;
  }

  add(line: TranscriptLine): void {
    this.record.add(line);
  }

  *pieces(room = this.#room): Generator<string> {
    const first = reportHead(this.record);
    const last = foot(this.record);
    yield first;
    let left = room - byteLength(first) - byteLength(last) - PARTS.length * HEADING;
    for (const [section, share] of PARTS) {
      const text = section(this.record, Math.max(0, left * share - 1));
      if (text === '') continue;
      yield `${text}\n`;
      left -= byteLength(text) + 1;
    }
    yield last;
  }
}

function foot({ id, summary, result }: RunRecord): string {
  const { init } = summary;
  const by = init ? `, ${codeSpan(init.model, 100)}, Bosun ${init.version}` : '';
  const where = result?.transcript ? `. Transcript: ${codeSpan(result.transcript, 400)}` : '';
  return `Run ${codeSpan(id, 80)}${by}${where}\n`;
}
