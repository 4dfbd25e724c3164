import {
  isMap,
  isNode,
  isPair,
  isSeq,
  LineCounter,
  parseDocument,
  stringify,
  type Document,
  type ParsedNode,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';

/** A place in a file, counted from 1. */
export interface FilePosition {
  readonly line: number;
  readonly column: number;
}

export type Path = readonly (string | number)[];

export type ParsedYaml =
  | {
      readonly ok: true;
      readonly value: unknown;
      readonly locate: (path: Path) => FilePosition;
      /** The place of a piece of the text at a path, if it appears there literally. */
      readonly find: (path: Path, piece: string) => FilePosition | undefined;
    }
  | { readonly ok: false; readonly message: string; readonly place: FilePosition };

/** Aliases may not expand a small file into a large one. */
const MAX_ALIASES = 50;

/** YAML 1.2 with the core schema: `off` is a word, keys are unique, and every value has a place. */
export function parseYaml(text: string): ParsedYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    version: '1.2',
    schema: 'core',
    strict: true,
    uniqueKeys: true,
    stringKeys: true,
    lineCounter: lines,
    prettyErrors: false,
  });
  const placeAt = (offset: number): FilePosition => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const [problem] = [...document.errors, ...document.warnings];
  if (problem) return { ok: false, message: yamlMessage(problem), place: placeAt(problem.pos[0]) };
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    const find = (path: Path, piece: string) => {
      const node = document.getIn(path, true);
      const [start, end] = (isNode(node) && node.range) || [0, 0];
      const at = text.slice(start, end).indexOf(piece);
      return at < 0 ? undefined : placeAt(start + at);
    };
    return { ok: true, value, find, locate: (path) => placeAt(offsetOf(document, path)) };
  } catch (error) {
    return { ok: false, message: yamlMessage(error as Error), place: placeAt(0) };
  }
}

/** The place of a piece in a plain text. */
export function findIn(text: string, piece: string): FilePosition | undefined {
  const at = text.indexOf(piece);
  if (at < 0) return undefined;
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** The library recurses, and reports deep nesting as a stack overflow. */
function yamlMessage({ message }: Error): string {
  return message.includes('call stack') ? 'it is nested too deep' : message;
}

/** The offset of the last step's key, or of the deepest value on the way to it. */
function offsetOf(document: Document.Parsed, path: Path): number {
  let node: ParsedNode | null = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(
        (item) => isPair(item) && isNode(item.key) && String(item.key) === String(step),
      );
      if (!pair) return offset;
      offset = (pair.key as ParsedNode).range?.[0] ?? offset;
      node = pair.value as ParsedNode | null;
    } else if (isSeq(node)) {
      node = (node.items[Number(step)] as ParsedNode | undefined) ?? null;
      offset = node?.range?.[0] ?? offset;
    } else {
      return offset;
    }
  }
  return offset;
}

/** A value as YAML, for people: lists and maps over several lines, no line wrapped. */
export function yamlText(value: unknown): string {
  return stringify(value, { lineWidth: 0, version: '1.2', schema: 'core' });
}

/** More items of a list, written in lines and in brackets. */
export interface NewItems {
  /** A block, its dashes indented by two. */
  readonly lines: string;
  readonly bracketed: readonly string[];
}

interface Insertion {
  readonly at: number;
  readonly text: string;
}

/**
 * A document with more items in a top-level list, which is added if missing. Only the items are inserted: every byte
 * of the text stays. Undefined if they cannot be inserted.
 */
export function withMoreItems(text: string, key: string, items: NewItems): string | undefined {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const { contents } = parseDocument(text, { version: '1.2', schema: 'core', keepSourceTokens: true });
  if (!isMap(contents)) return undefined;
  const insertions = contents.has(key)
    ? intoList(text, contents.get(key, true), items)
    : contents.flow
      ? intoBrackets(text, contents, [`"${key}": [${items.bracketed.join(', ')}]`])
      : [atEnd(text, `${key}:\n${items.lines}\n`)];
  if (!insertions) return undefined;
  let end = text;
  for (const { at, text: more } of insertions.toReversed())
    end = end.slice(0, at) + more.replaceAll('\n', eol) + end.slice(at);
  return end;
}

function intoList(text: string, list: unknown, { lines, bracketed }: NewItems): Insertion[] | undefined {
  if (!isSeq(list)) return undefined;
  const parsed = list as YAMLSeq.Parsed;
  return list.flow ? intoBrackets(text, parsed, bracketed) : behindLines(text, parsed, lines);
}

/** After the line in which the last item ends, including its comment. */
function behindLines(text: string, list: YAMLSeq.Parsed, lines: string): Insertion[] | undefined {
  const { srcToken: token } = list;
  const end = list.items.at(-1)?.range[1];
  if (token?.type !== 'block-seq' || end === undefined) return undefined;
  const indented = lines.replaceAll(/^ {2}/gm, ' '.repeat(token.indent));
  const newline = text[end - 1] === '\n' ? end - 1 : text.indexOf('\n', end);
  return newline < 0
    ? [{ at: text.length, text: `\n${indented}\n` }]
    : [{ at: newline + 1, text: `${indented}\n` }];
}

/** After the last one in brackets: on their own lines if the closing bracket is. */
function intoBrackets(
  text: string,
  list: YAMLSeq.Parsed | YAMLMap.Parsed,
  more: readonly string[],
): Insertion[] | undefined {
  const brackets = bracketsOf(list);
  if (!brackets) return undefined;
  const { end, close, isOpen, first } = brackets;
  const line = text.lastIndexOf('\n', close) + 1;
  if (line <= end) return [{ at: isOpen ? close : end, text: `${isOpen ? '' : ', '}${more.join(', ')}` }];
  const indent = indentAt(text, first) ?? `${indentAt(text, close) ?? ''}  `;
  const lines = `${more.map((one) => indent + one).join(',\n')}\n`;
  return [...(isOpen ? [] : [{ at: end, text: ',' }]), { at: line, text: lines }];
}

/** Where brackets begin their first item, end their last one, and close; `isOpen` if an item may follow. */
function bracketsOf({ items, srcToken: token }: YAMLSeq.Parsed | YAMLMap.Parsed) {
  if (token?.type !== 'flow-collection') return undefined;
  const close = token.end.find(({ type }) => /^flow-(seq|map)-end$/.test(type))?.offset;
  const last = items.at(-1);
  const [first = 0] = items.map((item) => (isPair(item) ? item.key : item)?.range[0]);
  const end = (isPair(last) ? (last.value ?? last.key) : last)?.range[1] ?? token.start.offset + 1;
  // A trailing comma begins an item that is not there.
  const { key, value } = token.items.at(-1) ?? {};
  return close === undefined ? undefined : { first, end, close, isOpen: !last || !(key ?? value) };
}

/** The indentation of something that begins its line. */
function indentAt(text: string, offset: number): string | undefined {
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^ *$/.test(before) ? before : undefined;
}

/** Before the mark that ends a document. */
function atEnd(text: string, more: string): Insertion {
  const mark = /^\.\.\.(?=\s|$)/m.exec(text);
  const at = mark?.index ?? text.length;
  return { at, text: at === 0 || text[at - 1] === '\n' ? more : `\n${more}` };
}
