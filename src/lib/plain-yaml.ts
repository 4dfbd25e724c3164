import type { ParsedYaml, Path, Place } from './yaml.js';

/*
 * YAML as policies are mostly written: block mappings and sequences, texts on one line, lists in brackets. The library
 * reads all of YAML and takes twenty milliseconds for a page, which every run with a policy would wait for. This reads
 * what has one meaning only, and says nothing about the rest: mistakes included, that is for the library.
 */

interface Node {
  readonly value: unknown;
  readonly place: Place;
  /** Of a mapping by its keys, of a sequence by the numbers of its items. */
  readonly inside?: ReadonlyMap<string, { readonly place: Place; readonly node: Node }>;
}

interface Line {
  readonly number: number;
  readonly indent: number;
  readonly text: string;
}

/** Thrown by what is not read here. */
const OTHER = new Error('not plain');
const other = (): never => {
  throw OTHER;
};

/** ASCII without tabs and control characters, and letters and signs of other scripts. */
const TEXT = /^[\n -~\u00a1-\u1fff\u2010-\u2027\u2030-\ud7ff]*$/;
const ENTRY = /^([A-Za-z_][\w.-]{0,100}):(?: +(.*))?$/;
const SPECIAL = /^(?:~|null|true|false|__proto__)$/i;
const COMMENT = '(?: +#.*| *)';
const QUOTED = new RegExp(`^(?:'([^']*)'|"([^"\\\\]*)")${COMMENT}$`);
const FLOW = new RegExp(`^(?:\\[(.*)\\]|\\{(.*)\\})${COMMENT}$`);
const FLOW_KEY = / *([A-Za-z_][\w.-]{0,100}):(?= )/y;
/** What stands between brackets or behind a key between braces, with the comma behind it. */
const ITEM = / *(?:'([^']*)'|"([^"\\]*)"|([\w./~$](?:[\w ./~$@%+=^*<>&|;!?()-]|:(?=[\w/]))*)) *(,|$)/y;
const PLAIN = /^[\w./~$](?:(?!: |:$| #).)*$/;
const MAX_DEPTH = 50;

/** Undefined if the text is not that plain. */
export function parsePlainYaml(text: string): ParsedYaml | undefined {
  if (!TEXT.test(text)) return undefined;
  try {
    const root = new Reader(text).document();
    return { ok: true, value: root.value, locate: (path) => placeIn(root, path) };
  } catch (error) {
    if (error === OTHER) return undefined;
    throw error;
  }
}

function placeIn(root: Node, path: Path): Place {
  let { place } = root;
  let node: Node | undefined = root;
  for (const step of path) {
    const found: { readonly place: Place; readonly node: Node } | undefined = node.inside?.get(String(step));
    if (!found) return place;
    ({ place, node } = found);
  }
  return place;
}

class Reader {
  readonly #lines: Line[] = [];
  #next = 0;

  constructor(text: string) {
    for (const [i, line] of text.split('\n').entries()) {
      const own = line.trimStart();
      if (own !== '' && !own.startsWith('#'))
        this.#lines.push({ number: i + 1, indent: line.length - own.length, text: own.trimEnd() });
    }
  }

  document(): Node {
    const node = this.#mapping(0, 0);
    return this.#line ? other() : node;
  }

  get #line(): Line | undefined {
    return this.#lines[this.#next];
  }

  #mapping(indent: number, depth: number): Node {
    const entries = new Map<string, { place: Place; node: Node }>();
    const value: Record<string, unknown> = {};
    for (let line = this.#line; line && line.indent >= indent; line = this.#line) {
      const [, key = '', rest] = (line.indent === indent && ENTRY.exec(line.text)) || other();
      if (entries.has(key) || SPECIAL.test(key) || depth > MAX_DEPTH) other();
      this.#next++;
      const isHere = rest !== undefined && !rest.startsWith('#');
      const node = isHere ? scalar(rest, line, line.text.length - rest.length) : this.#below(indent, depth);
      entries.set(key, { place: placeOf(line), node });
      value[key] = node.value;
    }
    const [first] = entries.values();
    return first ? { value, place: first.place, inside: entries } : other();
  }

  /** What stands below its key, deeper; a sequence may stand right below it. */
  #below(indent: number, depth: number): Node {
    const line = this.#line ?? other();
    if (line.text.startsWith('- ') && line.indent >= indent) return this.#sequence(line.indent, depth + 1);
    return line.indent > indent ? this.#mapping(line.indent, depth + 1) : other();
  }

  #sequence(indent: number, depth: number): Node {
    const items: Node[] = [];
    const place = placeOf(this.#line ?? other());
    for (let line = this.#line; line && line.indent >= indent; line = this.#line) {
      if (line.indent > indent) other();
      // Below its key and as deep, a sequence ends where the next key begins.
      if (!line.text.startsWith('- ')) break;
      const text = line.text.slice(1).trimStart();
      const skipped = line.text.length - text.length;
      if (ENTRY.test(text)) {
        this.#lines[this.#next] = { number: line.number, indent: indent + skipped, text };
        items.push(this.#mapping(indent + skipped, depth + 1));
      } else {
        this.#next++;
        items.push(scalar(text, line, skipped));
      }
    }
    const inside = items.map((node, i) => [String(i), { place: node.place, node }] as const);
    return { value: items.map(({ value }) => value), place, inside: new Map(inside) };
  }
}

function placeOf({ number, indent }: Line, at = 0): Place {
  return { line: number, column: indent + at + 1 };
}

/** A value that stands on its line. */
function scalar(text: string, line: Line, at: number): Node {
  const place = placeOf(line, at);
  const [quoted, single, double] = QUOTED.exec(text) ?? [];
  if (quoted !== undefined) return { value: single ?? double, place };
  const [flow, items, entries] = FLOW.exec(text) ?? [];
  if (flow !== undefined) return collection(items ?? entries ?? '', line, at, entries !== undefined);
  const bare = text.split(' #', 1)[0]?.trimEnd() ?? '';
  return PLAIN.test(bare) ? { value: resolved(bare), place } : other();
}

/** A list or a mapping on one line, with nothing but texts in it. */
function collection(text: string, line: Line, at: number, hasKeys: boolean): Node {
  const inside = new Map<string, { place: Place; node: Node }>();
  let end = 0;
  const take = (pattern: RegExp): { found: RegExpExecArray; place: Place } => {
    pattern.lastIndex = end;
    const found = pattern.exec(text) ?? other();
    const start = end + found[0].length - found[0].trimStart().length;
    end = pattern.lastIndex;
    return { found, place: placeOf(line, at + 1 + start) };
  };
  for (let isOpen = text.trim() !== ''; isOpen;) {
    const key = hasKeys ? take(FLOW_KEY) : undefined;
    const { found, place } = take(ITEM);
    const [, single, double, bare = '', comma] = found;
    const name = key?.found[1] ?? String(inside.size);
    if (inside.has(name) || (key && SPECIAL.test(name))) other();
    const node = { value: single ?? double ?? resolved(bare.trimEnd()), place };
    inside.set(name, { place: key?.place ?? place, node });
    isOpen = comma === ',';
  }
  const values = [...inside].map(([name, { node }]) => [name, node.value] as const);
  const value = hasKeys ? Object.fromEntries(values) : values.map(([, one]) => one);
  return { value, place: placeOf(line, at), inside };
}

/** Numbers and words that mean something, as far as nobody can take them for something else. */
function resolved(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (SPECIAL.test(text)) other();
  if (/^(?:0|[1-9]\d{0,14})$/.test(text)) return Number(text);
  const isText =
    /^(?:[A-Za-z_/~$]|\.[/_A-Za-z]|\d+[A-Za-z]{1,2}$)/.test(text) && !/^\.(?:inf|nan)$/i.test(text);
  return isText ? text : other();
}
