import { wordsOf } from '../../lib/text.js';
import { own } from '../../lib/own.js';

const nameSet = (text: string): ReadonlySet<string> => new Set(wordsOf(text));

/** Elements that are left out with all their contents. */
export const NOISE = nameSet('nav svg select button template canvas object audio video menu');
const VOID = nameSet('br hr img');
const BLOCKS = nameSet('p div h1 h2 h3 h4 h5 h6 ul ol dl table pre blockquote hr');
const CELLS = nameSet('td th');
/** Empty elements that have a meaning. */
const MEANT_EMPTY = nameSet('td th tr');
const TABLE_PARTS = nameSet('table caption thead tbody tfoot tr td th');

interface ImpliedEnd {
  /** These start tags … */
  readonly at: ReadonlySet<string>;
  /** … close these elements … */
  readonly closes: ReadonlySet<string>;
  /** … unless one of these is in between. */
  readonly within: ReadonlySet<string>;
}

const IMPLIED_ENDS: readonly ImpliedEnd[] = [
  { at: nameSet('li'), closes: nameSet('li'), within: nameSet('ul ol table') },
  { at: nameSet('dt dd'), closes: nameSet('dt dd'), within: nameSet('dl table') },
  { at: CELLS, closes: CELLS, within: nameSet('table') },
  { at: nameSet('tr'), closes: nameSet('tr'), within: nameSet('table') },
  {
    at: nameSet('thead tbody tfoot'),
    closes: nameSet('thead tbody tfoot caption'),
    within: nameSet('table'),
  },
  { at: nameSet('a'), closes: nameSet('a'), within: nameSet('table') },
  { at: BLOCKS, closes: nameSet('p'), within: nameSet('li dd td th blockquote div table') },
  // It was not closed: whole chapters are not meant to be bold.
  {
    at: BLOCKS,
    closes: nameSet('b strong i em del s code'),
    within: nameSet('li dd td th blockquote div table a'),
  },
];

const MAX_DEPTH = 48;
/** Each of these multiplies the length of its contents, or the work. */
const MAX_OPEN: Readonly<Record<string, number>> = { ul: 8, ol: 8, blockquote: 8, table: 3 };

interface OpenElement {
  readonly name: string;
  /** Where it begins in the output. */
  readonly from: number;
  /** There is something in it. */
  filled: boolean;
}

/** Writes well-formed HTML of limited depth, whatever tags it gets in whatever order. */
export class Outline {
  readonly #out: string[] = [];
  readonly #stack: OpenElement[] = [];
  readonly #open = new Map<string, number>();
  /** Start tags that were left out; their end tags are left out as well. */
  readonly #dropped = new Map<string, number>();
  #hidden = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  text(text: string): void {
    this.#write(text);
    if (/\S/.test(text)) this.#fill();
  }

  start(name: string, tag: string): void {
    // The lines of a program contain only text.
    if (this.isOpen('pre') && !NOISE.has(name)) {
      if (name === 'br') this.text('\n');
      else if (!VOID.has(name)) addCount(this.#dropped, name, 1);
      return;
    }
    this.#closeImplied(name);
    if (VOID.has(name)) {
      this.#write(tag);
      if (tag !== '') this.#fill();
      return;
    }
    const limit = own(MAX_OPEN, name) ?? MAX_DEPTH;
    if (this.#stack.length >= MAX_DEPTH || (this.#open.get(name) ?? 0) >= limit) {
      addCount(this.#dropped, name, 1);
      return;
    }
    this.#stack.push({ name, from: this.#out.length, filled: MEANT_EMPTY.has(name) });
    addCount(this.#open, name, 1);
    if (NOISE.has(name)) this.#hidden++;
    else this.#write(tag);
  }

  end(name: string): void {
    if ((this.#dropped.get(name) ?? 0) > 0) {
      addCount(this.#dropped, name, -1);
      if (this.isOpen('pre') && BLOCKS.has(name)) this.text('\n');
      return;
    }
    if (!this.isOpen(name)) return;
    for (let i = this.#stack.length - 1; i >= 0; i--) {
      const outer = this.#stack[i]?.name ?? '';
      if (outer === name) {
        this.#closeThrough(i);
        return;
      }
      // The contents of a table cell cannot end what is around the table.
      if (CELLS.has(outer) && !TABLE_PARTS.has(name)) return;
    }
  }

  isOpen(name: string): boolean {
    return (this.#open.get(name) ?? 0) > 0;
  }

  /** Closes all open elements; returns the HTML. */
  finish(): string {
    this.#closeThrough(0);
    return this.#out.join('');
  }

  #closeImplied(name: string): void {
    for (const { at, closes, within } of IMPLIED_ENDS) {
      if (!at.has(name)) continue;
      for (let i = this.#stack.length - 1; i >= 0; i--) {
        const outer = this.#stack[i]?.name ?? '';
        if (closes.has(outer)) this.#closeThrough(i);
        else if (within.has(outer)) break;
      }
    }
  }

  #closeThrough(index: number): void {
    while (this.#stack.length > index) {
      const { name, from, filled } = this.#stack.pop() as OpenElement;
      addCount(this.#open, name, -1);
      if (NOISE.has(name)) this.#hidden--;
      else if (filled) {
        this.#write(`</${name}>`);
        this.#fill();
      } else this.#takeBack(from);
    }
  }

  #write(text: string): void {
    if (this.#hidden > 0 || text === '') return;
    this.#out.push(text);
    this.#length += text.length;
  }

  #fill(): void {
    const innermost = this.#stack.at(-1);
    if (innermost && this.#hidden === 0) innermost.filled = true;
  }

  /** Removes an element without content; only the words around it are kept apart. */
  #takeBack(from: number): void {
    for (const piece of this.#out.splice(from)) this.#length -= piece.length;
    this.#write(' ');
  }
}

function addCount(map: Map<string, number>, name: string, by: number): void {
  map.set(name, (map.get(name) ?? 0) + by);
}
