import type { Content, Part } from '../../protocol/content.js';
import type { Stretch } from './parse.js';
import { renderCall } from './prompt.js';
import { resultText } from './results.js';

/**
 * A part of an answer that was cut where calls begin and end. `written` is the model's text there, if that is not
 * shown as text; `continues` says that the part was one with the part before it. From these the answer can be
 * restored exactly, also from a transcript.
 */
interface CutPart extends Part {
  readonly written?: string;
  readonly continues?: true;
}

/** The parts that may contain calls. */
export function isProse(part: Part): part is Part & { readonly text: string } {
  return typeof part.text === 'string' && !part.thought && !part.functionCall;
}

/** Cuts an answer: prose stays text, calls become function calls. `stretches` count characters of all its prose. */
export function cutParts(parts: readonly Part[], stretches: readonly Stretch[]): Part[] {
  const spans = spansOf(stretches);
  let offset = 0;
  let next = 0;
  return parts.flatMap((part) => {
    if (!isProse(part)) return [part];
    const start = offset;
    offset += part.text.length;
    const pieces: CutPart[] = [];
    for (let at = start; at < offset;) {
      const span = spans[next] ?? { start: at, end: offset };
      const to = Math.min(span.end, offset);
      pieces.push(...contentPieces(part.text.slice(at - start, to - start), span, span.start === at));
      if (to === span.end) next++;
      at = to;
    }
    return pieces.length < 2 && pieces[0]?.written === undefined ? [part] : pieces.map(inheriting(part));
  });
}

interface Span {
  readonly start: number;
  readonly end: number;
  /** Undefined for prose. */
  readonly calls?: Stretch['calls'];
}

/** The stretches, and the prose before each of them. */
function spansOf(stretches: readonly Stretch[]): Span[] {
  const spans: Span[] = [];
  let at = 0;
  for (const stretch of stretches) {
    if (stretch.start > at) spans.push({ start: at, end: stretch.start });
    spans.push(stretch);
    at = stretch.end;
  }
  return spans;
}

function contentPieces(words: string, { calls }: Span, isBeginning: boolean): CutPart[] {
  if (!calls) return [{ text: words }];
  if (calls.length === 0 || !isBeginning) return [{ written: words }];
  return calls.map((functionCall, i) => ({ written: i === 0 ? words : '', functionCall }));
}

/** The first piece of a part keeps its other fields, in their old places. */
function inheriting(part: Part): (piece: CutPart, i: number) => CutPart {
  return (piece, i) =>
    i > 0
      ? { ...piece, continues: true }
      : withFields(part, (key) => (key === 'text' ? Object.entries(piece) : undefined));
}

/** A content of the history in the form for a model without tools. */
export function plainContent(content: Content): Content {
  const { role, parts } = content;
  const isPlain = !parts.some((part) => part.functionCall || part.functionResponse || isCut(part));
  if (isPlain) return content;
  return { role, parts: role === 'model' ? joinedParts(parts) : parts.map(answered) };
}

function isCut(part: CutPart): boolean {
  return part.written !== undefined || part.continues !== undefined;
}

function answered(part: Part): Part {
  return part.functionResponse ? { text: resultText(part.functionResponse) } : part;
}

function joinedParts(parts: readonly CutPart[]): Part[] {
  const whole: Part[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    const words = part.written ?? part.text ?? '';
    if (part.continues && last) whole[whole.length - 1] = { ...last, text: `${last.text}${words}` };
    else if (part.written !== undefined) whole.push(restored(part));
    // A call not made in text: by another protocol, or unasked.
    else if (part.functionCall) whole.push({ text: renderCall(part.functionCall) });
    else whole.push(part);
  }
  return whole;
}

function restored(part: CutPart): Part {
  return withFields(part, (key, value) => {
    if (key === 'written') return [['text', value]];
    return key === 'functionCall' ? [] : undefined;
  });
}

/** A part with some fields replaced, each in its place. */
function withFields(
  part: Part,
  replace: (key: string, value: unknown) => [string, unknown][] | undefined,
): Part {
  return Object.fromEntries(
    Object.entries(part).flatMap(([key, value]) => replace(key, value) ?? [[key, value]]),
  );
}
