/** Where a text stops being JSON, and what is wrong there. */
export interface JsonFault {
  readonly fault: string;
  readonly at: number;
}
export type JsonRead = { readonly value: unknown; readonly end: number } | JsonFault;

/** No real call has more than this, and deeper nesting cannot be written again safely. */
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

/** Thrown to leave the reader. Not an Error: hostile text makes many of them, and stacks would cost the most. */
class Stop implements JsonFault {
  constructor(
    readonly fault: string,
    readonly at: number,
  ) {}
}

/**
 * Reads one JSON value that begins somewhere in a text, in linear time. Unambiguous mistakes are forgiven: an
 * extra comma at the end, `//` comments, Python's words. Line breaks in strings are forgiven only with a `closer`,
 * which ends the block around the value: valid JSON has no line that begins with it, so a string that reaches one
 * was not closed.
 */
export function readJson(text: string, from: number, closer?: string): JsonRead {
  try {
    return new JsonReader(text, from, closer).read();
  } catch (error) {
    if (error instanceof Stop) return { fault: error.fault, at: error.at };
    throw error;
  }
}

class JsonReader {
  readonly #text: string;
  readonly #closer: string | undefined;
  #at: number;

  constructor(text: string, from: number, closer: string | undefined) {
    this.#text = text;
    this.#at = from;
    this.#closer = closer;
  }

  read(): { readonly value: unknown; readonly end: number } {
    return { value: this.#value(0), end: this.#at };
  }

  #stop(fault: string, where = this.#at): never {
    throw new Stop(
      where >= this.#text.length ? 'it is not finished' : fault,
      Math.min(where, this.#text.length),
    );
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const taken = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += taken.length;
    return taken;
  }

  #skipBlank(): void {
    for (this.#take(BLANK); this.#text.startsWith('//', this.#at); this.#take(BLANK)) {
      const lineEnd = this.#text.indexOf('\n', this.#at);
      this.#at = lineEnd < 0 ? this.#text.length : lineEnd;
    }
  }

  #value(depth: number): unknown {
    this.#skipBlank();
    if (depth > MAX_DEPTH) return this.#stop(`it is nested more than ${MAX_DEPTH} deep`);
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#list(depth);
      case '"':
        return this.#string();
      default:
        return this.#scalar();
    }
  }

  #object(depth: number): unknown {
    const entries: [string, unknown][] = [];
    this.#at++;
    while (!this.#closes('}')) {
      if (this.#text[this.#at] !== '"') this.#stop('expected a key in double quotes, or }');
      const key = this.#string();
      this.#skipBlank();
      if (this.#text[this.#at] !== ':') this.#stop('expected : after a key');
      this.#at++;
      entries.push([key, this.#value(depth + 1)]);
      this.#separator('}');
    }
    return Object.fromEntries(entries);
  }

  #list(depth: number): unknown {
    const items: unknown[] = [];
    this.#at++;
    while (!this.#closes(']')) {
      items.push(this.#value(depth + 1));
      this.#separator(']');
    }
    return items;
  }

  #closes(bracket: string): boolean {
    this.#skipBlank();
    if (this.#text[this.#at] !== bracket) return false;
    this.#at++;
    return true;
  }

  #separator(bracket: string): void {
    this.#skipBlank();
    if (this.#text[this.#at] === ',') this.#at++;
    else if (this.#text[this.#at] !== bracket) this.#stop(`expected , or ${bracket}`);
  }

  #scalar(): unknown {
    const start = this.#at;
    const word = this.#take(WORD);
    if (LITERALS.has(word)) return LITERALS.get(word);
    return NUMBER.test(word) ? Number(word) : this.#stop('expected a value', start);
  }

  #string(): string {
    const start = this.#at++;
    let content = '';
    for (;;) {
      SPECIAL_IN_STRING.lastIndex = this.#at;
      const special = SPECIAL_IN_STRING.exec(this.#text);
      if (!special) return this.#stop('', this.#text.length);
      content += this.#text.slice(this.#at, special.index);
      this.#at = special.index + 1;
      if (special[0] === '"') return content;
      content += special[0] === '\\' ? this.#escaped() : this.#control(special[0], start);
    }
  }

  #escaped(): string {
    const letter = this.#text[this.#at++] ?? '';
    if (letter === 'u') {
      const code = this.#take(HEX);
      return code
        ? String.fromCharCode(Number.parseInt(code, 16))
        : this.#stop('\\u needs four hex digits', this.#at - 2);
    }
    return (
      ESCAPES.get(letter) ?? this.#stop(`\\${letter} is no escape in JSON; a backslash is \\\\`, this.#at - 2)
    );
  }

  #control(character: string, start: number): string {
    if (this.#closer === undefined) this.#stop('a line break in a string is \\n', this.#at - 1);
    if (character === '\n') {
      INDENT.lastIndex = this.#at;
      const lineStart = this.#at + (INDENT.exec(this.#text)?.[0].length ?? 0);
      if (this.#text.startsWith(this.#closer, lineStart)) this.#stop('a string is not closed', start);
    }
    return character;
  }
}
