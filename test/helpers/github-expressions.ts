/** The part of GitHub's expressions that actions and workflows of this project use. */

export type Contexts = Readonly<Record<string, unknown>>;
type Functions = Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;

/** Text with every `${{ … }}` in it replaced by its value, as a string. */
export function interpolate(text: string, contexts: Contexts, functions: Functions = {}): string {
  return text.replaceAll(/\$\{\{([\s\S]*?)\}\}/g, (_, source: string) =>
    asString(evaluate(source, contexts, functions)),
  );
}

export function evaluate(source: string, contexts: Contexts, functions: Functions = {}): unknown {
  const tokens = tokenize(source);
  const parser = new Parser(tokens, contexts, {
    toJSON: (value) => JSON.stringify(value, null, 2),
    contains: (all, one) => String(all).toLowerCase().includes(String(one).toLowerCase()),
    format: (text, ...args) => String(text).replaceAll(/\{(\d+)\}/g, (_, i) => asString(args[Number(i)])),
    ...functions,
  });
  const value = parser.or();
  if (tokens.length > 0) throw new Error(`cannot read ${source.trim()} from ${tokens[0]}`);
  return value;
}

export function asString(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? 'Object' : String(value);
}

function tokenize(source: string): string[] {
  const token = /\s*('(?:[^']|'')*'|&&|\|\||==|!=|[!().,]|\[|\]|[\w*-]+)/y;
  const tokens: string[] = [];
  const text = source.trimEnd();
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const found = token.exec(text)?.[1];
    if (found === undefined) throw new Error(`cannot read ${text.slice(at)}`);
    tokens.push(found);
  }
  return tokens;
}

class Parser {
  readonly #tokens: string[];
  readonly #contexts: Contexts;
  readonly #functions: Functions;

  constructor(tokens: string[], contexts: Contexts, functions: Functions) {
    [this.#tokens, this.#contexts, this.#functions] = [tokens, contexts, functions];
  }

  or(): unknown {
    let value = this.#and();
    while (this.#take('||')) {
      const other = this.#and();
      value = value || other;
    }
    return value;
  }

  #and(): unknown {
    let value = this.#compared();
    while (this.#take('&&')) {
      const other = this.#compared();
      value = value && other;
    }
    return value;
  }

  #compared(): unknown {
    const left = this.#single();
    const operator = this.#take('==') ?? this.#take('!=');
    if (!operator) return left;
    const same = asString(left).toLowerCase() === asString(this.#single()).toLowerCase();
    return operator === '==' ? same : !same;
  }

  #single(): unknown {
    if (this.#take('!')) return !this.#single();
    const token = this.#next();
    if (token === '(') return this.#closed(this.or());
    if (token.startsWith("'")) return token.slice(1, -1).replaceAll("''", "'");
    if (/^-?\d+$/.test(token)) return Number(token);
    if (/^(true|false|null)$/.test(token)) return JSON.parse(token);
    return this.#take('(') ? this.#called(token) : this.#property(token);
  }

  #called(name: string): unknown {
    const args: unknown[] = [];
    while (this.#tokens[0] !== ')') {
      args.push(this.or());
      this.#take(',');
    }
    const call = this.#functions[name];
    if (!call) throw new Error(`there is no function ${name}`);
    return this.#closed(call(...args));
  }

  #property(name: string): unknown {
    if (!(name in this.#contexts)) throw new Error(`there is no context ${name}`);
    let value = this.#contexts[name];
    while (this.#take('.')) {
      const key = this.#next();
      value = (value as Record<string, unknown> | undefined)?.[key];
    }
    return value;
  }

  #closed(value: unknown): unknown {
    if (!this.#take(')')) throw new Error('a bracket is not closed');
    return value;
  }

  #take(token: string): string | undefined {
    return this.#tokens[0] === token ? this.#tokens.shift() : undefined;
  }

  #next(): string {
    const token = this.#tokens.shift();
    if (token === undefined) throw new Error('the expression ends too early');
    return token;
  }
}
