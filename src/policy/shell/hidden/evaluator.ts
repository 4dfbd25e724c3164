import {
  forEachChild,
  type Command,
  type ParameterExpansionPart,
  type Redirection,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash';
import { shellWord } from '../shell-word.js';
import { isParsed, type Flow, type VariableSource, type Site, type InputSource } from './flow.js';
import {
  splitTexts,
  unionOf,
  EMPTY,
  hasShellWildcard,
  concatenated,
  NUMBER,
  exactText,
  UNKNOWN,
  type PossibleTexts,
} from './possible-texts.js';
import { asText, braceTexts, unquoted, withoutAffix } from './text-operations.js';

/** What is known about the environment of a line. */
export interface LineEnvironment {
  readonly home: string | undefined;
  /** The folders that its commands may run in. */
  readonly directories: readonly string[];
  /** The environment of programs. */
  readonly variable: (name: string) => string | undefined;
  /** Variables of the surrounding shell; undefined if there is none. */
  readonly outer: ((name: string) => PossibleTexts) | undefined;
}

/** What a command may print, for everything that its words may be. */
export type OutputOf = (command: Command, values: Evaluator) => PossibleTexts;

/** Variables that the shell sets. */
const SET_BY_SHELL =
  /^(_|BASH\w*|COMP_\w*|COPROC\w*|DIRSTACK|FUNCNAME|GROUPS|HIST\w*|HOST\w*|IFS|MACHTYPE|MAPFILE|OLDPWD|OPT\w+|OSTYPE|PIPESTATUS|PROMPT\w*|PS\d|READLINE\w*|REPLY|SHELLOPTS)$/;
/** Variables that some shells set to numbers. Others leave them unset, and a line may set or unset most of them. */
const NUMBERS = /^(EUID|UID|PPID|RANDOM|SRANDOM|SECONDS|EPOCHSECONDS|LINENO|SHLVL|COLUMNS|LINES|OPTIND)$/;

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
export class Evaluator {
  readonly flow: Flow;
  readonly environment: LineEnvironment;
  readonly #prints: OutputOf;
  readonly #known = new Map<unknown, PossibleTexts>();
  readonly #busy = new Set<unknown>();

  constructor(flow: Flow, environment: LineEnvironment, prints: OutputOf) {
    this.flow = flow;
    this.environment = environment;
    this.#prints = prints;
  }

  /** What a word may be before it is split at blanks. */
  word(word: Word, site: Site): PossibleTexts {
    if (!isParsed(word)) return UNKNOWN;
    if (!word.parts) return this.#home(word.text, exactText(word.value));
    return this.#home(word.text, this.#parts(word.parts, site));
  }

  /** What a word may be after it is split, if it is. */
  splitWord(word: Word, site: Site): PossibleTexts {
    const value = this.word(word, site);
    return shellWord(word).splits ? splitTexts(value) : value;
  }

  /** Any part of what a command gets as its input. */
  input(source: InputSource): PossibleTexts {
    switch (source.type) {
      case 'nothing':
        return EMPTY;
      case 'unknown':
        return UNKNOWN;
      case 'output':
        return splitTexts(this.output(source.node));
      case 'word':
        return splitTexts(this.word(source.word, source.site));
      case 'text':
        return splitTexts(exactText(source.text));
      default:
        return source satisfies never;
    }
  }

  /** Everything that a part of the line may print. */
  output(node: SyntaxNode): PossibleTexts {
    return this.#once(node, () => {
      switch (node.type) {
        case 'Command':
          return this.#prints(node, this);
        case 'Pipeline':
          return this.output(node.commands.at(-1) as SyntaxNode);
        case 'Redirected':
          if (node.redirects.some(mixesErrors)) return UNKNOWN;
          return unionOf(EMPTY, this.output(node.command));
        case 'Word':
        case 'Function':
        case 'Redirect':
          return [];
        default: {
          const values: PossibleTexts[] = MAY_SKIP.has(node.type) ? [EMPTY] : [];
          forEachChild(node, (child) => void values.push(this.output(child)));
          return unionOf(...values);
        }
      }
    });
  }

  variable(name: string, site: Site): PossibleTexts {
    if (/^[#?$]$/.test(name)) return NUMBER;
    // Without a job in the background, it is empty.
    if (name === '!') return unionOf(EMPTY, NUMBER);
    if (/^([1-9]\d*|[@*])$/.test(name)) return this.#positional();
    if (!/^[A-Za-z_]\w*$/.test(name)) return UNKNOWN;
    if (this.flow.anything) return UNKNOWN;
    const set = unionOf(this.#assigned(name), NUMBERS.test(name) ? NUMBER : []);
    return site.set.has(name) ? set : unionOf(set, this.#initial(name));
  }

  /** The possible values of a variable in a script inside a command. */
  inherited(name: string): PossibleTexts {
    return this.variable(name, { input: { type: 'nothing' }, set: new Set() });
  }

  #assigned(name: string): PossibleTexts {
    const given = this.flow.variables.get(name) ?? [];
    return this.#once(`$${name}`, () => unionOf(...given.map((one) => this.#given(one))));
  }

  #positional(): PossibleTexts {
    return this.#once('$@', () => {
      const passed = unionOf(EMPTY, ...this.flow.positional.map((one) => this.#given(one)));
      return this.environment.outer || this.flow.anything ? UNKNOWN : passed;
    });
  }

  /** Its value before the line sets it. */
  #initial(name: string): PossibleTexts {
    const { outer, variable, directories } = this.environment;
    if (name === 'PWD') return unionOf(...directories.map(exactText));
    if (outer) return outer(name);
    const value = variable(name);
    if (value !== undefined) return exactText(value);
    return SET_BY_SHELL.test(name) ? UNKNOWN : EMPTY;
  }

  #given(given: VariableSource): PossibleTexts {
    switch (given.type) {
      case 'word':
        return this.word(given.word, given.site);
      case 'split':
        return this.splitWord(given.word, given.site);
      case 'input':
        return asText(this.input(given.source));
      case 'bareInput':
        return unquoted(asText(this.input(given.source)));
      case 'text':
        return exactText(given.text);
      case 'number':
        return NUMBER;
      case 'unknown':
        return UNKNOWN;
      default:
        return given satisfies never;
    }
  }

  #parts(parts: readonly WordPart[], site: Site): PossibleTexts {
    return parts.map((part) => this.#part(part, site)).reduce(concatenated, EMPTY);
  }

  #part(part: WordPart, site: Site): PossibleTexts {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        return exactText(part.value);
      case 'DoubleQuoted':
        return this.#parts(part.parts, site);
      case 'Glob':
        return exactText(part.text);
      case 'BraceExpansion':
        return braceTexts(part.text);
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
        return exactText('/dev/null');
      default:
        return UNKNOWN;
    }
  }

  #parameter({ parameter, prefix, operation }: ParameterExpansionPart, site: Site): PossibleTexts {
    if (prefix === '#') return NUMBER;
    if (prefix !== undefined) return UNKNOWN;
    const value = this.variable(parameter, site);
    if (!operation) return value;
    if (operation.type === 'Default') {
      const other = this.word(operation.operand, site);
      return operation.operator.endsWith('+') ? unionOf(EMPTY, other) : unionOf(value, other);
    }
    if (operation.type !== 'Remove') return UNKNOWN;
    const removed = isParsed(operation.operand) ? shellWord(operation.operand).literal : undefined;
    if (removed === undefined || hasShellWildcard(removed)) return UNKNOWN;
    return unionOf(
      value.map((possible) => withoutAffix(possible, removed, operation.operator.startsWith('#'))),
    );
  }

  /** `~/x`, also in the value of a variable. */
  #home(text: string, value: PossibleTexts): PossibleTexts {
    if (!text.startsWith('~')) return value;
    const { home } = this.environment;
    if (home === undefined || !/^~(\/|$)/.test(text)) return UNKNOWN;
    if (this.flow.anything || this.flow.variables.has('HOME')) return UNKNOWN;
    return value.map((possible) =>
      possible.type === 'text' ? { ...possible, text: home + possible.text.slice(1) } : possible,
    );
  }

  /** A value that depends on itself may be anything. */
  #once(key: unknown, make: () => PossibleTexts): PossibleTexts {
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
