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
} from 'yaml';

/** A place in a file, counted from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export type Path = readonly (string | number)[];

export type ParsedYaml =
  | {
      readonly ok: true;
      readonly value: unknown;
      readonly locate: (path: Path) => Place;
      /** Where a piece of the text at a path stands, if it stands there as it is. */
      readonly find: (path: Path, piece: string) => Place | undefined;
    }
  | { readonly ok: false; readonly message: string; readonly place: Place };

/** Aliases may not multiply a small file into a large one. */
const MAX_ALIASES = 50;

/** YAML 1.2 with the core schema: `off` is a word, keys are unique, and every value knows where it stands. */
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
  const placeAt = (offset: number): Place => {
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
    return { ok: false, message: yamlMessage(error), place: placeAt(0) };
  }
}

/** Where a piece of a plain text stands in it. */
export function findIn(text: string, piece: string): Place | undefined {
  const at = text.indexOf(piece);
  if (at < 0) return undefined;
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** The library goes level by level, and says of what is nested too deep that it has no room left. */
function yamlMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.includes('call stack') ? 'it is nested too deep' : message;
}

/** Where the key of the last step stands, or the deepest value on the way to it. */
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

/** A value as YAML, for people: lists and maps over several lines, no line broken in the middle. */
export function yamlText(value: unknown): string {
  return stringify(value, { lineWidth: 0, version: '1.2', schema: 'core' });
}

/** Where new items of a list of a document go, and how far they are indented; undefined if they cannot be put there. */
export function endOfList(text: string, key: string): { offset: number; indent: number } | undefined {
  const list = parseDocument(text, { version: '1.2', schema: 'core' }).get(key);
  if (!isSeq(list) || list.flow) return undefined;
  const [first, last] = [list.items[0], list.items.at(-1)];
  const start = isNode(first) ? first.range?.[0] : undefined;
  const end = isNode(last) ? last.range?.[1] : undefined;
  if (start === undefined || end === undefined) return undefined;
  const line = text.lastIndexOf('\n', start - 1) + 1;
  const dash = text.slice(line, start);
  const indent = dash.indexOf('-');
  // Behind the line that the last item ends in, with whatever is said of it there.
  const newline = text[end - 1] === '\n' ? end - 1 : text.indexOf('\n', end);
  return indent < 0 ? undefined : { offset: newline < 0 ? text.length : newline + 1, indent };
}

/** A document with a list that is written in brackets gets further items; its comments and order stay. */
export function withItems(text: string, key: string, items: readonly unknown[]): string {
  const document = parseDocument(text, { version: '1.2', schema: 'core' });
  const list = document.get(key);
  if (!isSeq(list)) throw new Error(`${key} is no list`);
  list.flow = false;
  for (const item of items) list.add(document.createNode(item));
  return document.toString({ lineWidth: 0 });
}
