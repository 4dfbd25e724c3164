/** A heading of a Markdown text. */
export interface Heading {
  /** The line where it begins, and the one after it. */
  readonly line: number;
  readonly next: number;
  readonly level: number;
  readonly title: string;
}

export interface Outline {
  readonly headings: readonly Heading[];
  /** The end of the text that can be added to: at a code block or comment that is never closed, or at the end. */
  readonly end: number;
}

const ATX = /^ {0,3}(#{1,6})(?=[ \t]|$)/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const COMMENT = /^ {0,3}<!--/;
/** What a paragraph cannot begin with: list items, quotes, tables, HTML, indented code. */
const NO_PARAGRAPH = /^(?: {4}|\t| {0,3}(?:[-*+>|<]|\d{1,9}[.)][ \t]))/;

/**
 * Finds the headings of a Markdown text, except those in code blocks and comments. Lines come without line ends. One
 * pass, and no pattern that a long line could slow down: the text may be untrusted.
 */
export function outlineOf(lines: readonly string[]): Outline {
  const headings: Heading[] = [];
  let paragraph: number | undefined;
  let inText = false;
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as string;
    const blockEnd = endOfBlock(lines, i);
    if (blockEnd === lines.length) return { headings, end: i };
    const heading = blockEnd === undefined ? headingAt(lines, i, paragraph) : undefined;
    if (heading) headings.push(heading);
    const isBreak = blockEnd !== undefined || heading !== undefined || line.trim() === '';
    if (isBreak) paragraph = undefined;
    // A line right below a list item or a quote continues it.
    else if (!inText) paragraph = NO_PARAGRAPH.test(line) ? undefined : i;
    inText = !isBreak;
    i = blockEnd ?? i;
  }
  return { headings, end: lines.length };
}

/** A heading that ends at a line: one with `#`, or the underline of the paragraph before it. */
function headingAt(lines: readonly string[], i: number, paragraph: number | undefined): Heading | undefined {
  const line = lines[i] as string;
  const [start = '', marks] = ATX.exec(line) ?? [];
  if (marks !== undefined) {
    const title = line
      .slice(start.length)
      .trim()
      .replace(/(?:^|[ \t])#+$/, '');
    return { line: i, next: i + 1, level: marks.length, title };
  }
  const [, underline] = (paragraph !== undefined && UNDERLINE.exec(line)) || [];
  if (paragraph === undefined || underline === undefined) return undefined;
  const title = lines.slice(paragraph, i).join(' ');
  return { line: paragraph, next: i + 1, level: underline.startsWith('=') ? 1 : 2, title };
}

/** The last line of a code block or comment that begins at a line; past the end if it is never closed. */
function endOfBlock(lines: readonly string[], start: number): number | undefined {
  const line = lines[start] as string;
  const [before = '', mark] = FENCE.exec(line) ?? [];
  if (mark !== undefined) {
    const isCode = mark.startsWith('~') || !line.slice(before.length).includes('`');
    return isCode ? firstFrom(lines, start + 1, (other) => isClosingFence(other, mark)) : undefined;
  }
  return COMMENT.test(line) ? firstFrom(lines, start, (other) => other.includes('-->')) : undefined;
}

function firstFrom(lines: readonly string[], start: number, fits: (line: string) => boolean): number {
  let i = start;
  while (i < lines.length && !fits(lines[i] as string)) i++;
  return i;
}

function isClosingFence(line: string, mark: string): boolean {
  const [, closing = ''] = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line) ?? [];
  return closing.length >= mark.length && closing[0] === mark[0];
}
