import type { TranscriptLine } from '../../protocol/event.js';
import type { RunDocument } from '../document.js';
import { checksOf } from '../checks.js';
import { Summary } from '../summary.js';
import { attention, type Attention } from './attention.js';
import { charts } from './charts.js';
import { checks } from './checks.js';
import { factsSection, type Frame } from './facts.js';
import { learntSection } from './learnt.js';
import { jsonFor, markup, type Html } from './markup.js';
import { stepList } from './list.js';
import { pageEnd, pageStart } from './page.js';
import { Story } from './story.js';
import { taskAndAnswer, type Task } from './texts.js';
import { timeline } from './timeline.js';
import { figureList, outcomeTitle, outcomeBlock } from './outcome.js';
import { toolsAndFiles } from './tools-and-files.js';

/** A page about a run, from its events. They are packed as they come; the page is written at the end. */
export class HtmlReport implements RunDocument {
  readonly #summary = new Summary();
  readonly #story = new Story();
  #task: Task | undefined;
  #frame: Frame | undefined;

  add(line: TranscriptLine): void {
    this.#frame ??= { sessionId: line.session_id, started: line.timestamp };
    if (line.type === 'message' && line.role === 'user')
      this.#task ??= { content: line.content, seq: line.seq, ...(line.untrusted && { untrusted: true }) };
    // A resumed run has no result yet, whatever was shown before.
    if (line.type === 'init') this.#summary.result = undefined;
    this.#summary.add(line);
    this.#story.add(line);
  }

  /** The page in pieces, to be written in order. */
  *pieces(): Generator<string> {
    this.#story.finish();
    for (const piece of this.#page()) yield piece.text;
  }

  /** A run that was killed has not summed them up. */
  #troubles(): Attention {
    const { result, warnings } = this.#summary;
    const { denials, blocked } = this.#story;
    return { denials, pending: [], warnings, ...result, blocked };
  }

  *#page(): Generator<Html> {
    const { init, result, changes } = this.#summary;
    const { rows, turns, clock, details } = this.#story;
    const stats = result?.stats ?? this.#summary.stats(clock.now, changes);
    const total = clock.now;
    const frame = this.#frame ?? { sessionId: '', started: '' };
    yield pageStart(`${outcomeTitle(result)}: Bosun run ${frame.sessionId}`);
    yield markup`<header>
<div class="tools"><button type="button" id="theme" hidden>Dark</button>
<button type="button" id="help-button" hidden>Keys <kbd>?</kbd></button></div>
${outcomeBlock(result)}
${checks(checksOf(this.#story.looked, init, result), (key) => this.#story.rowOfCheck(key))}
${attention(this.#troubles(), (id) => this.#story.rowOfCall(id))}
${figureList(stats, init, this.#troubles().denials.length)}
${factsSection(init, result, frame)}
</header>
<main id="main" tabindex="-1">
${taskAndAnswer(this.#task, result)}
${toolsAndFiles(stats, rows, changes)}
${learntSection(result)}
${timeline(rows, total)}
${charts(turns)}
`;
    yield* stepList(rows, total);
    yield markup`</main>\n`;
    const index = {
      total,
      rows: rows.map(({ start, end, place }) => [start, end, ...(place ?? [-1, 0])]),
      turns: turns.map(({ index }) => index),
    };
    yield* pageEnd(jsonFor(index), details.chunks());
  }
}
