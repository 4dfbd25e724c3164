import {
  isMap,
  isNode,
  isPair,
  isSeq,
  LineCounter,
  parseDocument,
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
  | { readonly ok: true; readonly value: unknown; readonly locate: (path: Path) => Place }
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
  if (problem) return { ok: false, message: messageOf(problem), place: placeAt(problem.pos[0]) };
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return { ok: true, value, locate: (path) => placeAt(offsetOf(document, path)) };
  } catch (error) {
    return { ok: false, message: messageOf(error), place: placeAt(0) };
  }
}

/** The library goes level by level, and says of what is nested too deep that it has no room left. */
function messageOf(error: unknown): string {
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
