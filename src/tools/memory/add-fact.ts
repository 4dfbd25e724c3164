import { oneLine } from '../../lib/text.js';
import { outlineOf } from './outline.js';

const TITLE = 'Memories';
/** Gemini CLI's name for its section: a file that has it keeps using it. */
const OTHER_TITLE = 'Gemini Added Memories';
const LIST_MARK = /^(?:[-*+•]|\d{1,9}[.)])(?:\s+|$)/;
/** Dashes before a text, but not those of a number or an option. */
const DASHES = /^(?:-+(?=\s)|-{3,}(?=[^\s-])|-(?=\p{L}{2}))\s*/u;
/** What would turn the text of a list item into a heading, a code block, a quote, a rule or HTML. */
const BLOCK_START = /^(?:#{1,6}(?=\s|$)|`{3}|~{3}|[>|<=]|[-*_](?:\s*[-*_]){2,}$|\[[^\]]*\]:)/;

/** A fact as it is written: one line of plain text. Empty if nothing is left. */
export function factLine(fact: string): string {
  let line = oneLine(fact, Infinity);
  for (let marked = ''; marked !== line;) {
    marked = line;
    line = line.replace(LIST_MARK, '').replace(DASHES, '');
  }
  if (!/[\p{L}\p{N}\p{P}\p{S}]/u.test(line)) return '';
  // By the standard it hides nothing inside a line, but not all readers follow that.
  const open = line.replaceAll('<!--', String.raw`\<!--`);
  return BLOCK_START.test(open) ? `\\${open}` : open;
}

/**
 * The text with a fact added to the end of its section "Memories", which is created if missing; undefined if the
 * fact is there already. Everything else stays as it is, including line ends.
 */
export function addFact(text: string, fact: string): string | undefined {
  const whole = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const lines = whole.map((line) => line.replace(/\r?\n$/, ''));
  const { headings, end } = outlineOf(lines);
  const sectionAt = (name: string) =>
    headings.findIndex(({ level, title }) => level === 2 && comparable(title) === comparable(name));
  const own = sectionAt(TITLE);
  const at = own >= 0 ? own : sectionAt(OTHER_TITLE);
  const heading = headings[at];
  if (!heading) return withSection(whole, end, fact);

  const next = headings.slice(at + 1).find(({ level }) => level <= heading.level);
  const bottom = next?.line ?? end;
  if (listItems(lines.slice(heading.next, bottom)).includes(comparable(fact))) return undefined;
  let after = bottom;
  while (after > heading.next && lines[after - 1]?.trim() === '') after--;
  // An underlined heading right after it would become part of the item.
  const isClose = next !== undefined && next.next - next.line > 1 && after === next.line;
  return insert(whole, after, isClose ? [`- ${fact}`, ''] : [`- ${fact}`]);
}

function withSection(whole: readonly string[], end: number, fact: string): string {
  const before = whole[end - 1];
  const gap = before !== undefined && before.trim() !== '' ? [''] : [];
  const rest = end < whole.length ? [''] : [];
  return insert(whole, end, [...gap, `## ${TITLE}`, '', `- ${fact}`, ...rest]);
}

/** Inserts lines, with the line end of their neighbour. A file without a final line end stays without one. */
function insert(whole: readonly string[], index: number, lines: readonly string[]): string {
  const before = whole.slice(0, index).join('');
  const neighbour = whole[Math.max(0, index - 1)] ?? '';
  const ending =
    neighbour.endsWith('\r\n') || (!neighbour.endsWith('\n') && before.includes('\r\n')) ? '\r\n' : '\n';
  const isOpen = before !== '' && !before.endsWith('\n');
  const added = isOpen ? ending + lines.join(ending) : lines.join(ending) + ending;
  return before + added + whole.slice(index).join('');
}

/** The items of all lists, normalized. A long one may continue over several lines. */
function listItems(lines: readonly string[]): string[] {
  const items: string[] = [];
  let open = false;
  for (const line of lines) {
    const text = line.trim();
    if (LIST_MARK.test(text)) items.push(text.replace(LIST_MARK, ''));
    else if (open && text !== '') items.push(`${items.pop()} ${text}`);
    open = text !== '' && items.length > 0;
  }
  return items.map(comparable);
}

function comparable(text: string): string {
  return text.normalize('NFC').toLowerCase().replaceAll(/\s+/g, ' ').trim();
}
