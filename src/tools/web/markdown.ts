import TurndownService, { type DomNode } from 'turndown';
import { tidyHtml } from './tidy-html.js';

export interface MarkdownPage {
  readonly title: string;
  readonly markdown: string;
}

/** How much HTML of one page is converted: it limits the time, and no model reads more. */
const MAX_HTML = 512 * 1024;

/** A page as Markdown: its text, structure, links and tables; no scripts, styles or menus. */
export function markdownOf(html: string, base: URL): MarkdownPage {
  const tidy = tidyHtml(html, base, MAX_HTML);
  const lines = converter().turndown(tidy.html).split('\n');
  const text = lines
    .map((line) => line.trimEnd())
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n');
  const note = tidy.cut ? '\n\n[… the rest of this long page was left out …]' : '';
  return { title: plainTitle(tidy.title), markdown: text + note };
}

function converter(): TurndownService {
  const service = new TurndownService({
    headingStyle: 'atx',
    hr: '---',
    bulletListMarker: '-',
    codeBlockStyle: 'fenced',
    blankReplacement: (content: string, node: DomNode) => {
      if (isCell(node)) return cell('', node);
      return node.nodeName === 'TR' ? tableRow(content, node) : node.isBlock ? '\n\n' : '';
    },
  });
  // The reader wants the words as they are, not Markdown that renders to them.
  service.escape = (text) => text;
  return service
    .addRule('item', { filter: 'li', replacement: item })
    .addRule('link', { filter: 'a', replacement: link })
    .addRule('program', { filter: 'pre', replacement: (_content, node) => fenced(node.textContent) })
    .addRule('cell', { filter: ['td', 'th'], replacement: cell })
    .addRule('row', { filter: 'tr', replacement: tableRow })
    .addRule('rows', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content })
    .addRule('caption', { filter: 'caption', replacement: (content) => `${content.trim()}\n\n` })
    .addRule('table', {
      filter: 'table',
      replacement: (content) => `\n\n${content.replace(/^\n+/, '')}\n\n`,
    });
}

/** On one line, even if it contains a whole card of blocks. */
function link(content: string, node: DomNode): string {
  const text = content.trim().replaceAll(/\s*\n\s*/g, ' ');
  const href = node.getAttribute('href');
  return href && text ? `[${text}](${href})` : text;
}

function fenced(code: string): string {
  const text = code.replace(/^\n/, '').trimEnd();
  const longest = (text.match(/^`{3,}/gm) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return `\n\n${fence}\n${text}\n${fence}\n\n`;
}

/** How many items each list has had so far. */
const counts = new WeakMap<DomNode, number>();

function item(content: string, node: DomNode): string {
  const list = node.parentNode;
  const number = ((list && counts.get(list)) ?? 0) + 1;
  if (list) counts.set(list, number);
  const bullet = list?.nodeName === 'OL' ? `${number}. ` : '- ';
  const text = content.trim().replaceAll('\n', `\n${' '.repeat(bullet.length)}`);
  return `${bullet}${text}\n`;
}

function isCell({ nodeName }: DomNode): boolean {
  return nodeName === 'TD' || nodeName === 'TH';
}

interface Table {
  /** It contains other tables, so it is only layout: its cells are blocks of text. */
  readonly isLayout: boolean;
  readonly firstRow: DomNode | undefined;
}

/** Examined once for each table, not for each of its cells. */
const tables = new WeakMap<DomNode, Table>();

function tableAround(node: DomNode): Table {
  let outer = node.parentNode;
  while (outer && outer.nodeName !== 'TABLE') outer = outer.parentNode;
  if (!outer) return { isLayout: true, firstRow: undefined };
  let table = tables.get(outer);
  if (!table) {
    table = { isLayout: Boolean(outer.querySelector('table')), firstRow: outer.querySelector('tr') };
    tables.set(outer, table);
  }
  return table;
}

function cell(content: string, node: DomNode): string {
  if (tableAround(node).isLayout) return `\n\n${content.trim()}\n\n`;
  const text = content
    .trim()
    .replaceAll('|', '\\|')
    .replaceAll(/\s*\n\s*/g, '<br>');
  return `| ${text} ${'| '.repeat(spanOf(node) - 1)}`;
}

function tableRow(content: string, node: DomNode): string {
  const { isLayout, firstRow } = tableAround(node);
  if (isLayout) return content;
  const line = `\n${content.trim()} |`;
  if (node !== firstRow) return line;
  const cells = [...node.querySelectorAll('td,th')];
  const columns = cells.reduce((sum, one) => sum + spanOf(one), 0);
  const divider = `\n|${' --- |'.repeat(columns)}`;
  // Markdown tables need a head; without one, an empty one is added.
  const isHead = cells.some(({ nodeName }) => nodeName === 'TH');
  return isHead ? line + divider : `\n|${'  |'.repeat(columns)}${divider}${line}`;
}

function spanOf(one: DomNode): number {
  return Number(one.getAttribute('colspan') ?? 1);
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
};

/** A title without markup: the few entities that occur in one are decoded. */
function plainTitle(title: string): string {
  return title.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name) return ENTITIES[String(name).toLowerCase()] ?? String(whole);
    const point = decimal ? Number(decimal) : Number.parseInt(String(hex), 16);
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : String(whole);
  });
}
