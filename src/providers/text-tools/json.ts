/** Where a text stops being JSON, and what is wrong there. */
export interface JsonFault {
  readonly fault: string;
  readonly at: number;
}
export type JsonRead = { readonly value: unknown; readonly end: number } | JsonFault;

/** Nobody means more than this, and what is nested deeper cannot be written down again safely. */
const MAX_DEPTH = 100;

const BLANK = /\s*/y;
const WORD = /[^\s,:[\]{}"`]*/y;
const INDENT = /[ \t]*/y;
const HEX = /[0-9a-f]{4}/iy;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;
const SPECIAL_IN_STRING = /["\\\u0000-\u001f]/g;

const LITERALS = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['True', true],
  ['False', false],
  ['None', null],
]);
const ESCAPES = new Map(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }),
);

/** Thrown to leave the reader. Not an Error: hostile text makes many of them, and their stacks would cost the most. */
class Stop implements JsonFault {
  constructor(
    readonly fault: string,
    readonly at: number,
  ) {}
}

/**
 * Reads one JSON value that begins somewhere in a text, in linear time. Mistakes that leave no doubt are forgiven:
 * a comma too many at the end, `//` comments, Python's words. Line breaks in strings are forgiven only with a
 * `closer`, which is what ends the block around the value: valid JSON has no line that begins with it, so a string
 * that reaches one was not closed.
 */
export function readJson(text: string, from: number, closer?: string): JsonRead {
  let at = from;

  function stop(fault: string, where = at): never {
    throw new Stop(where >= text.length ? 'it is not finished' : fault, Math.min(where, text.length));
  }

  function take(pattern: RegExp): string {
    pattern.lastIndex = at;
    const taken = pattern.exec(text)?.[0] ?? '';
    at += taken.length;
    return taken;
  }

  function skipBlank(): void {
    for (take(BLANK); text.startsWith('//', at); take(BLANK)) {
      const lineEnd = text.indexOf('\n', at);
      at = lineEnd < 0 ? text.length : lineEnd;
    }
  }

  function value(depth: number): unknown {
    skipBlank();
    if (depth > MAX_DEPTH) return stop(`it is nested more than ${MAX_DEPTH} deep`);
    switch (text[at]) {
      case '{':
        return object(depth);
      case '[':
        return list(depth);
      case '"':
        return string();
      default:
        return scalar();
    }
  }

  function object(depth: number): unknown {
    const entries: [string, unknown][] = [];
    at++;
    while (!closes('}')) {
      if (text[at] !== '"') stop('expected a key in double quotes, or }');
      const key = string();
      skipBlank();
      if (text[at] !== ':') stop('expected : after a key');
      at++;
      entries.push([key, value(depth + 1)]);
      separator('}');
    }
    return Object.fromEntries(entries);
  }

  function list(depth: number): unknown {
    const items: unknown[] = [];
    at++;
    while (!closes(']')) {
      items.push(value(depth + 1));
      separator(']');
    }
    return items;
  }

  function closes(bracket: string): boolean {
    skipBlank();
    if (text[at] !== bracket) return false;
    at++;
    return true;
  }

  function separator(bracket: string): void {
    skipBlank();
    if (text[at] === ',') at++;
    else if (text[at] !== bracket) stop(`expected , or ${bracket}`);
  }

  function scalar(): unknown {
    const start = at;
    const word = take(WORD);
    if (LITERALS.has(word)) return LITERALS.get(word);
    return NUMBER.test(word) ? Number(word) : stop('expected a value', start);
  }

  function string(): string {
    const start = at++;
    let content = '';
    for (;;) {
      SPECIAL_IN_STRING.lastIndex = at;
      const special = SPECIAL_IN_STRING.exec(text);
      if (!special) return stop('', text.length);
      content += text.slice(at, special.index);
      at = special.index + 1;
      if (special[0] === '"') return content;
      content += special[0] === '\\' ? escaped() : control(special[0], start);
    }
  }

  function escaped(): string {
    const letter = text[at++] ?? '';
    if (letter === 'u') {
      const code = take(HEX);
      return code
        ? String.fromCharCode(Number.parseInt(code, 16))
        : stop('\\u needs four hex digits', at - 2);
    }
    return ESCAPES.get(letter) ?? stop(`\\${letter} is no escape in JSON; a backslash is \\\\`, at - 2);
  }

  function control(character: string, start: number): string {
    if (closer === undefined) stop('a line break in a string is \\n', at - 1);
    if (character === '\n') {
      INDENT.lastIndex = at;
      const lineStart = at + (INDENT.exec(text)?.[0].length ?? 0);
      if (text.startsWith(closer, lineStart)) stop('a string is not closed', start);
    }
    return character;
  }

  try {
    return { value: value(0), end: at };
  } catch (error) {
    if (error instanceof Stop) return { fault: error.fault, at: error.at };
    throw error;
  }
}
