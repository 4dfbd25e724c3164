/** Shorter ones are in almost every file. */
const MIN_LENGTH = 2;

/**
 * Texts of which every match of a regular expression contains at least one. Undefined if there are none, or if we
 * cannot tell. Only ASCII: what else a file has depends on its encoding.
 */
export function requiredLiterals(source: string): readonly string[] | undefined {
  const reader = { source, at: 0 };
  const literals = readAlternatives(reader);
  return reader.at === source.length ? literals : undefined;
}

interface Reader {
  readonly source: string;
  at: number;
}

type Literals = readonly string[] | undefined;

/** What a piece of an expression stands for: one character, or something of which each match has one of some texts. */
type Piece =
  | { readonly type: 'character'; readonly text: string }
  | { readonly type: 'other'; readonly literals: Literals };

const OTHER: Piece = { type: 'other', literals: undefined };

/** `a|b|c` to its end, or to the bracket that closes it. */
function readAlternatives(reader: Reader): Literals {
  let all: Literals = [];
  for (;;) {
    const branch = readSequence(reader);
    all = all && branch ? [...all, ...branch] : undefined;
    if (reader.source[reader.at] !== '|') return all;
    reader.at++;
  }
}

/** The best texts of a sequence: those whose shortest is the longest. */
function readSequence(reader: Reader): Literals {
  let best: Literals;
  let run = '';
  const offer = (literals: Literals) => {
    if (literals && shortest(literals) >= MIN_LENGTH && shortest(literals) > shortest(best)) best = literals;
  };
  const closeRun = () => {
    offer(run === '' ? undefined : [run]);
    run = '';
  };
  while (reader.at < reader.source.length && !'|)'.includes(reader.source[reader.at] as string)) {
    const piece = readPiece(reader);
    const times = readQuantifier(reader);
    if (piece.type === 'character' && times !== 'maybe') run += piece.text;
    if (piece.type !== 'character' || times !== 'once') closeRun();
    if (piece.type === 'other' && times !== 'maybe') offer(piece.literals);
  }
  closeRun();
  return best;
}

function shortest(literals: Literals): number {
  return literals ? Math.min(...literals.map((literal) => literal.length)) : 0;
}

function readPiece(reader: Reader): Piece {
  const character = reader.source[reader.at++] as string;
  switch (character) {
    case '(':
      return readGroup(reader);
    case '[':
      skipClass(reader);
      return OTHER;
    case '\\':
      return readEscape(reader);
    case '.':
    case '^':
    case '$':
      return OTHER;
    default:
      return plain(character);
  }
}

function plain(character: string): Piece {
  return /^[\t -~]$/.test(character) ? { type: 'character', text: character } : OTHER;
}

function readGroup(reader: Reader): Piece {
  const [opening = ''] = /^\?(?:<?[=!]|<\w+>|[a-z-]*:)/.exec(reader.source.slice(reader.at)) ?? [];
  reader.at += opening.length;
  const literals = readAlternatives(reader);
  reader.at++;
  // What is looked at need not be part of the match, or must not even be there. Flags may change what case means.
  return /[=!]$|[a-z-]:$/.test(opening) ? OTHER : { type: 'other', literals };
}

function skipClass(reader: Reader): void {
  while (reader.at < reader.source.length && reader.source[reader.at] !== ']') {
    reader.at += reader.source[reader.at] === '\\' ? 2 : 1;
  }
  reader.at++;
}

function readEscape(reader: Reader): Piece {
  const [escape = ''] =
    /^(?:u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|k<\w+>|p\{[^}]*\}|\d+|[^])/i.exec(
      reader.source.slice(reader.at),
    ) ?? [];
  reader.at += escape.length;
  // A letter or a digit means something else than itself.
  return escape.length === 1 && /[^\w]/.test(escape) ? plain(escape) : OTHER;
}

function readQuantifier(reader: Reader): 'once' | 'maybe' | 'repeated' {
  const [quantifier, least] = /^(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/.exec(reader.source.slice(reader.at)) ?? [];
  if (quantifier === undefined) return 'once';
  reader.at += quantifier.length;
  return '*?'.includes(quantifier[0] as string) || Number(least ?? 1) === 0 ? 'maybe' : 'repeated';
}
