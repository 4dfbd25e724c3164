/** A piece of a regular expression, as far as it affects where it can match. */
export type Node = (
  | { readonly type: 'character'; readonly text: string }
  /** One character of a set that all programs interpret alike. */
  | { readonly type: 'set'; readonly text: string }
  /** One character of a set that programs may interpret differently. */
  | { readonly type: 'any' }
  /** Any text, such as a back reference. */
  | { readonly type: 'unknown' }
  /** No text: the edge of a word, or a look-around. */
  | { readonly type: 'nothing' }
  | { readonly type: 'group'; readonly branches: Branches }
) & {
  /** As written, or empty. */
  readonly quantifier: string;
  /** How often it must be there. */
  readonly least: number;
};

/** Alternatives, each a sequence. */
export type Branches = readonly (readonly Node[])[];

type Bare = Node extends infer N ? (N extends Node ? Omit<N, 'quantifier' | 'least'> : never) : never;

const ANY: Bare = { type: 'any' };
const NOTHING: Bare = { type: 'nothing' };

/** More groups could be nested deeper than the stack allows. */
const MAX_GROUPS = 200;

interface Reader {
  readonly source: string;
  at: number;
}

/** Reads a valid JavaScript regular expression; undefined if it contains something unknown. */
export function readExpression(source: string): Branches | undefined {
  if (source.split('(').length > MAX_GROUPS) return undefined;
  const reader = { source, at: 0 };
  const branches = readBranches(reader);
  return reader.at === source.length ? branches : undefined;
}

function readBranches(reader: Reader): Branches {
  const branches: Node[][] = [[]];
  while (reader.at < reader.source.length && reader.source[reader.at] !== ')') {
    if (reader.source[reader.at] === '|') {
      reader.at++;
      branches.push([]);
    } else {
      branches.at(-1)?.push({ ...readBare(reader), ...readQuantifier(reader) } as Node);
    }
  }
  return branches;
}

function readBare(reader: Reader): Bare {
  const character = reader.source[reader.at++] as string;
  switch (character) {
    case '(':
      return readGroup(reader);
    case '[':
      return readSet(reader);
    case '\\':
      return readRegexEscape(reader);
    case '.':
      return ANY;
    case '^':
    case '$':
      return NOTHING;
    default:
      return plainCharacter(character);
  }
}

/** Beyond ASCII, the bytes depend on a file's encoding. */
function plainCharacter(character: string): Bare {
  return /^[\t -~]$/.test(character) ? { type: 'character', text: character } : ANY;
}

function readGroup(reader: Reader): Bare {
  const opening = next(reader, /\?(?:<?[=!]|<\w+>|[a-z-]*:)/y);
  const branches = readBranches(reader);
  reader.at++;
  if (/[=!]$/.test(opening)) return NOTHING;
  // Flags may change the meaning of case.
  return /[a-z-]:$/.test(opening) ? { type: 'unknown' } : { type: 'group', branches };
}

function readSet(reader: Reader): Bare {
  const start = reader.at - 1;
  while (reader.at < reader.source.length && reader.source[reader.at] !== ']') {
    reader.at += reader.source[reader.at] === '\\' ? 2 : 1;
  }
  const text = reader.source.slice(start, ++reader.at);
  // Names and numbers; signs have a meaning in some programs, and letters after a backslash in all.
  return /^\[[\w .,:;@/]+(?:-[\w.]+)*\]$/.test(text) ? { type: 'set', text } : ANY;
}

function readRegexEscape(reader: Reader): Bare {
  const escape = next(reader, /u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|k<\w+>|p\{[^}]*\}|\d+|[^]/iy);
  if (/^(?:[1-9]\d*|k<.*>)$/.test(escape)) return { type: 'unknown' };
  if (/^[bB]$/.test(escape)) return NOTHING;
  if (/^[dw]$/.test(escape)) return { type: 'set', text: escape === 'd' ? '[0-9]' : '[0-9A-Za-z_]' };
  return escape.length === 1 && /\W/.test(escape) ? plainCharacter(escape) : ANY;
}

function readQuantifier(reader: Reader): { readonly quantifier: string; readonly least: number } {
  const quantifier = next(reader, /(?:[*+?]|\{\d+(?:,\d*)?\})\??/y);
  if (quantifier === '') return { quantifier, least: 1 };
  if ('*?'.includes(quantifier[0] as string)) return { quantifier, least: 0 };
  return { quantifier, least: Number(/\d+/.exec(quantifier)?.[0] ?? 1) };
}

/** What an expression matches right here; moves past it. */
function next(reader: Reader, expression: RegExp): string {
  expression.lastIndex = reader.at;
  const [found = ''] = expression.exec(reader.source) ?? [];
  reader.at += found.length;
  return found;
}
