import {
  forEachChild,
  type Command,
  type ParameterExpansionPart,
  type Redirection,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash';
import { shellWord } from '../words.js';
import { isTakenApart, type Flow, type Given, type Site, type Source } from './flow.js';
import {
  divided,
  either,
  EMPTY,
  hasWildcard,
  joinedValues,
  NUMBER,
  textValue,
  UNKNOWN,
  type Value,
} from './forms.js';
import { asText, braced, unquoted, without } from './reshaped.js';

/** What is known about the surroundings of a line. */
export interface Surroundings {
  readonly home: string | undefined;
  /** The folders that its commands may run in. */
  readonly directories: readonly string[];
  /** The environment of programs. */
  readonly variable: (name: string) => string | undefined;
  /** Variables of the surrounding shell; undefined if there is none. */
  readonly outer: ((name: string) => Value) | undefined;
}

/** What a command may print, for everything that its words may be. */
export type Prints = (command: Command, values: Values) => Value;

/** Variables that the shell sets. */
const OWN =
  /^(_|BASH\w*|COMP_\w*|COPROC\w*|DIRSTACK|FUNCNAME|GROUPS|HIST\w*|HOST\w*|IFS|MACHTYPE|MAPFILE|OLDPWD|OPT\w+|OSTYPE|PIPESTATUS|PROMPT\w*|PS\d|READLINE\w*|REPLY|SHELLOPTS)$/;
const NUMBERS =
  /^([#?$!]|EUID|UID|PPID|RANDOM|SRANDOM|SECONDS|EPOCHSECONDS|LINENO|SHLVL|COLUMNS|LINES|OPTIND)$/;

/** Parts of these may not be executed. */
const MAY_SKIP = new Set<SyntaxNode['type']>([
  'AndOr',
  'If',
  'Elif',
  'While',
  'For',
  'ArithmeticFor',
  'Case',
]);

/** What words, variables and outputs of a line may be. What is not understood may be anything. */
export class Values {
  readonly flow: Flow;
  readonly surroundings: Surroundings;
  readonly #prints: Prints;
  readonly #known = new Map<unknown, Value>();
  readonly #busy = new Set<unknown>();

  constructor(flow: Flow, surroundings: Surroundings, prints: Prints) {
    this.flow = flow;
    this.surroundings = surroundings;
    this.#prints = prints;
  }

  /** What a word may be before it is split at blanks. */
  word(word: Word, site: Site): Value {
    if (!isTakenApart(word)) return UNKNOWN;
    if (!word.parts) return this.#home(word.text, textValue(word.value));
    return this.#home(word.text, this.#parts(word.parts, site));
  }

  /** What a word may be after it is split, if it is. */
  dividedWord(word: Word, site: Site): Value {
    const value = this.word(word, site);
    return shellWord(word).splits ? divided(value) : value;
  }

  /** Any part of what a command gets as its input. */
  input(source: Source): Value {
    switch (source.type) {
      case 'nothing':
        return EMPTY;
      case 'unknown':
        return UNKNOWN;
      case 'output':
        return divided(this.output(source.node));
      case 'word':
        return divided(this.word(source.word, source.site));
      case 'text':
        return divided(textValue(source.text));
      default:
        return source satisfies never;
    }
  }

  /** Everything that a part of the line may print. */
  output(node: SyntaxNode): Value {
    return this.#once(node, () => {
      switch (node.type) {
        case 'Command':
          return this.#prints(node, this);
        case 'Pipeline':
          return this.output(node.commands.at(-1) as SyntaxNode);
        case 'Redirected':
          if (node.redirects.some(mixesErrors)) return UNKNOWN;
          return this.output(node.command);
        case 'Word':
        case 'Function':
        case 'Redirect':
          return [];
        default: {
          const values: Value[] = MAY_SKIP.has(node.type) ? [EMPTY] : [];
          forEachChild(node, (child) => void values.push(this.output(child)));
          return either(...values);
        }
      }
    });
  }

  variable(name: string, site: Site): Value {
    if (NUMBERS.test(name)) return NUMBER;
    if (/^([1-9]\d*|[@*])$/.test(name)) return this.#positional();
    if (!/^[A-Za-z_]\w*$/.test(name)) return UNKNOWN;
    if (this.flow.anything) return UNKNOWN;
    const set = this.#assigned(name);
    return site.set.has(name) ? set : either(set, this.#initial(name));
  }

  /** The possible values of a variable in a script inside a command. */
  inherited(name: string): Value {
    return this.variable(name, { input: { type: 'nothing' }, set: new Set() });
  }

  #assigned(name: string): Value {
    const given = this.flow.variables.get(name) ?? [];
    return this.#once(`$${name}`, () => either(...given.map((one) => this.#given(one))));
  }

  #positional(): Value {
    return this.#once('$@', () => {
      const passed = either(EMPTY, ...this.flow.positional.map((one) => this.#given(one)));
      return this.surroundings.outer || this.flow.anything ? UNKNOWN : passed;
    });
  }

  /** Its value before the line sets it. */
  #initial(name: string): Value {
    const { outer, variable, directories } = this.surroundings;
    if (name === 'PWD') return either(...directories.map(textValue));
    if (outer) return outer(name);
    const value = variable(name);
    if (value !== undefined) return textValue(value);
    return OWN.test(name) ? UNKNOWN : EMPTY;
  }

  #given(given: Given): Value {
    switch (given.type) {
      case 'word':
        return this.word(given.word, given.site);
      case 'divided':
        return this.dividedWord(given.word, given.site);
      case 'input':
        return asText(this.input(given.source));
      case 'bareInput':
        return unquoted(asText(this.input(given.source)));
      case 'text':
        return textValue(given.text);
      case 'number':
        return NUMBER;
      case 'unknown':
        return UNKNOWN;
      default:
        return given satisfies never;
    }
  }

  #parts(parts: readonly WordPart[], site: Site): Value {
    return parts.map((part) => this.#part(part, site)).reduce(joinedValues, EMPTY);
  }

  #part(part: WordPart, site: Site): Value {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        return textValue(part.value);
      case 'DoubleQuoted':
        return this.#parts(part.parts, site);
      case 'Glob':
        return textValue(part.text);
      case 'BraceExpansion':
        return braced(part.text);
      case 'SimpleExpansion':
        return this.variable(part.text.slice(1), site);
      case 'ParameterExpansion':
        return this.#parameter(part, site);
      case 'CommandExpansion':
        return part.script ? asText(this.output(part.script)) : UNKNOWN;
      case 'ArithmeticExpansion':
        return NUMBER;
      case 'ProcessSubstitution':
        // The name of a pipe. The command behind it is judged on its own.
        return textValue('/dev/null');
      default:
        return UNKNOWN;
    }
  }

  #parameter({ parameter, prefix, operation }: ParameterExpansionPart, site: Site): Value {
    if (prefix === '#') return NUMBER;
    if (prefix !== undefined) return UNKNOWN;
    const value = this.variable(parameter, site);
    if (!operation) return value;
    if (operation.type === 'Default') {
      const other = this.word(operation.operand, site);
      return operation.operator.endsWith('+') ? either(EMPTY, other) : either(value, other);
    }
    if (operation.type !== 'Remove') return UNKNOWN;
    const removed = isTakenApart(operation.operand) ? shellWord(operation.operand).literal : undefined;
    if (removed === undefined || hasWildcard(removed)) return UNKNOWN;
    return either(value.map((form) => without(form, removed, operation.operator.startsWith('#'))));
  }

  /** `~/x`, also in the value of a variable. */
  #home(text: string, value: Value): Value {
    if (!text.startsWith('~')) return value;
    const { home } = this.surroundings;
    if (home === undefined || !/^~(\/|$)/.test(text)) return UNKNOWN;
    return value.map((form) => (form.type === 'text' ? { ...form, text: home + form.text.slice(1) } : form));
  }

  /** A value that depends on itself may be anything. */
  #once(key: unknown, make: () => Value): Value {
    const known = this.#known.get(key);
    if (known) return known;
    if (this.#busy.has(key)) return UNKNOWN;
    this.#busy.add(key);
    const value = make();
    this.#busy.delete(key);
    this.#known.set(key, value);
    return value;
  }
}

/** `2>&1`: error messages are not known. */
export function mixesErrors(redirect: Redirection): boolean {
  return redirect.type === 'Redirect' && redirect.operator.includes('&');
}
