import { oneLine } from '../../lib/text.js';
import {
  bareBlock,
  blockBehindWords,
  markedBlock,
  saysCall,
  skipBlank,
  unmarkedBlock,
  type Block,
} from './blocks.js';
import { fenceOf, trackFence, type Fence } from './fences.js';
import type { TextCall } from './shape.js';
import { endOfThought } from './thoughts.js';

/** A part of an answer that is not shown: calls, or none if the model thinks aloud. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly calls: readonly TextCall[];
}

/** The stretches of an answer in order, with prose between them; or why the answer cannot be accepted as it is. */
export type Parsed = { readonly stretches: readonly Stretch[] } | { readonly fault: string };

/** What a line begins: a block from `start` on, code that is only shown, a quoted result, or nothing. */
type Found =
  | { readonly type: 'block'; readonly start: number; readonly block: Block }
  | { readonly type: 'code'; readonly fence: Fence }
  | { readonly type: 'result'; readonly end: number }
  | { readonly type: 'prose'; readonly end: number };

const NO_RESULTS = 'it writes a tool result itself; results come from the tools, in the next message';
const NOT_CLOSED = 'a call stands inside a code block that is not closed';

/**
 * Finds the calls in an answer.
 *
 * - A fence with the word tool_call (or another that models use for it) and a tag <tool_call> are calls, whatever is
 *   said around them. If one cannot be read, the whole answer is at fault, and none of its calls is made.
 * - A fence with the word json or none is a call only to the letter (`exactCall`); so is JSON without a fence, and
 *   only at the end of the answer.
 * - Nothing inside another code block, a quotation or a tool's result is a call. Fences nest the way models write
 *   them: inside a block one with a word opens and one without closes; a shorter one is just text. Where they do not
 *   come out even nobody can tell a call from an example, and the model is asked again.
 */
export function parseAnswer(text: string, known: ReadonlySet<string>): Parsed {
  const stretches: Stretch[] = [];
  const code = new ShownCode();
  let hasResult = false;
  let at = endOfThought(text);
  if (at < 0) return { fault: 'it never got past its <think>' };
  if (at > 0) stretches.push({ start: 0, end: at, calls: [] });

  while (at < text.length) {
    const line = text.slice(at, endOfLine(text, at));
    if (code.isOpen) {
      code.pass(line);
      at += line.length;
      continue;
    }
    const found = lookAt(text, at, line, known);
    switch (found.type) {
      case 'block': {
        const { start, block } = found;
        if ('fault' in block) return { fault: located(text, block.at, block.fault) };
        stretches.push({ start, end: block.end, calls: block.calls });
        at = block.end;
        break;
      }
      case 'code':
        code.open(found.fence);
        hasResult ||= RESULT_WORD.test(found.fence.word);
        at += line.length;
        break;
      case 'result':
        if (found.end < 0) return { fault: NO_RESULTS };
        hasResult = true;
        at = found.end;
        break;
      case 'prose':
        at = found.end;
        break;
      default:
        found satisfies never;
    }
  }
  if (code.hasCall) return { fault: NOT_CLOSED };
  // A model that invents a result bases its further calls on it.
  if (hasResult && hasCalls(stretches)) return { fault: NO_RESULTS };
  return { stretches: withBlanks(text, stretches) };
}

/** Code that is only shown, from where it opens to where it closes. */
class ShownCode {
  readonly #fences: Fence[] = [];
  #hasCall = false;

  get isOpen(): boolean {
    return this.#fences.length > 0;
  }

  /** Whether there is a call in code that is still open. */
  get hasCall(): boolean {
    return this.#hasCall;
  }

  open(fence: Fence): void {
    this.#fences.push(fence);
  }

  pass(line: string): void {
    trackFence(this.#fences, fenceOf(line));
    this.#hasCall = this.isOpen && (this.#hasCall || saysCall(line));
  }
}

function hasCalls(stretches: readonly Stretch[]): boolean {
  return stretches.some(({ calls }) => calls.length > 0);
}

/** Ours, and those models have learnt elsewhere. */
const RESULT = /^ {0,3}<(tool_(?:result|response|output))\b/;
const RESULT_WORD = /^tool_(?:result|response|output)s?$/i;
const UNMARKED = /^(?:|json|jsonc|json5)$/i;
const BARE = /^ {0,3}[{[]/;

function lookAt(text: string, at: number, line: string, known: ReadonlySet<string>): Found {
  const end = at + line.length;
  const result = RESULT.exec(line)?.[1];
  if (result !== undefined) {
    const closing = text.indexOf(`</${result}`, at);
    return { type: 'result', end: closing < 0 ? -1 : endOfLine(text, closing) };
  }
  const start = blockBehindWords(text, at, line) ?? at;
  const marked = markedBlock(text, start, text.slice(start, end));
  if (marked) return { type: 'block', start, block: marked };
  const fence = fenceOf(line);
  if (fence) {
    const isUnmarked = UNMARKED.test(fence.word);
    const block = isUnmarked ? unmarkedBlock(text, end, fence.ticks, known) : undefined;
    return block ? { type: 'block', start: at, block } : { type: 'code', fence };
  }
  if (!BARE.test(line)) return { type: 'prose', end };
  const block = bareBlock(text, skipBlank(text, at), known);
  return 'skipTo' in block
    ? { type: 'prose', end: Math.max(end, block.skipTo) }
    : { type: 'block', start: at, block };
}

/** Extends the stretches by the blanks around them, unless these separate prose. */
function withBlanks(text: string, stretches: readonly Stretch[]): Stretch[] {
  const wide: Stretch[] = [];
  let proseFollows = false;
  let next = text.length;
  for (const [i, stretch] of [...stretches.entries()].toReversed()) {
    const end = Math.min(next, skipBlank(text, stretch.end));
    proseFollows ||= end < next;
    const floor = stretches[i - 1]?.end ?? 0;
    const before = floor + text.slice(floor, stretch.start).trimEnd().length;
    const start = proseFollows ? stretch.start : before;
    wide.push({ start, end, calls: stretch.calls });
    next = start;
  }
  return wide.toReversed();
}

function endOfLine(text: string, at: number): number {
  const newline = text.indexOf('\n', at);
  return newline < 0 ? text.length : newline + 1;
}

/** An error for the model, which does not see its answer again, and for readers of the transcript. */
function located(text: string, at: number, fault: string): string {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  const column = at - before.lastIndexOf('\n');
  const near = oneLine(text.slice(Math.max(0, at - 20), at + 40), 60);
  return `${fault} (line ${line}, column ${column} of the answer, near ${JSON.stringify(near)})`;
}
