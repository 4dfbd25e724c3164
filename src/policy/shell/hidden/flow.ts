import {
  forEachChild,
  type AndOr,
  type Assignment,
  type Command,
  type For,
  type Pipeline,
  type Redirection,
  type SyntaxNode,
  type Word,
} from 'unbash';
import { shellWord } from '../shell-word.js';

/** Where a command gets its input from. */
export type InputSource =
  | { readonly type: 'nothing' }
  /** Its content is not known. */
  | { readonly type: 'unknown' }
  | { readonly type: 'output'; readonly node: SyntaxNode }
  | { readonly type: 'word'; readonly word: Word; readonly site: Site }
  | { readonly type: 'text'; readonly text: string };

/** What is known at the place of a command. */
export interface Site {
  readonly input: InputSource;
  /** Variables that the line has certainly set. */
  readonly set: ReadonlySet<string>;
}

/** Where the value of a variable comes from. */
export type VariableSource =
  | { readonly type: 'word' | 'split'; readonly word: Word; readonly site: Site }
  /** A line or a word of the input; `bareInput` if backslashes are removed from it. */
  | { readonly type: 'input' | 'bareInput'; readonly source: InputSource }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'number' }
  | { readonly type: 'unknown' };

/** How values and output flow through a line, whatever the order in which its parts run. */
export interface Flow {
  readonly sites: ReadonlyMap<Command, Site>;
  readonly variables: ReadonlyMap<string, readonly VariableSource[]>;
  /** `$1`, `$@` and the like. */
  readonly positional: readonly VariableSource[];
  readonly functions: ReadonlySet<string>;
  /** Code that is not visible here may set variables. */
  readonly anything: boolean;
}

interface State {
  readonly input: InputSource;
  readonly set: Set<string>;
}

const UNKNOWN_INPUT: InputSource = { type: 'unknown' };

/** `nested`: a script that gets its input from another command. */
export function flowOf(tree: SyntaxNode, nested: boolean): Flow {
  const walk = new FlowWalk();
  walk.visit(tree, { input: nested ? UNKNOWN_INPUT : { type: 'nothing' }, set: new Set() });
  return walk.flow();
}

/** Builtins that set variables in ways that are not tracked. */
const UNFOLLOWED = new Set(['eval', 'source', '.', 'trap', 'getopts', 'let', 'wait', 'enable', 'alias']);
const DECLARING = new Set(['declare', 'typeset', 'local', 'export', 'readonly']);
const NAME = /^[A-Za-z_]\w*$/;

class FlowWalk {
  readonly #sites = new Map<Command, Site>();
  readonly #variables = new Map<string, VariableSource[]>();
  readonly #positional: VariableSource[] = [];
  readonly #functions = new Set<string>();
  /** Variables that are unset again somewhere. */
  readonly #lost = new Set<string>();
  /** What is set at each of the sites. */
  readonly #sets: Set<string>[] = [];
  #anything = false;

  flow(): Flow {
    for (const [command, site] of this.#sites) {
      const [name, ...words] = commandWords(command);
      if (this.#functions.has(literalOf(name) ?? '')) this.#pass(words, site);
    }
    for (const set of this.#sets) for (const name of this.#lost) set.delete(name);
    return {
      sites: this.#sites,
      variables: this.#variables,
      positional: this.#positional,
      functions: this.#functions,
      anything: this.#anything,
    };
  }

  visit(node: SyntaxNode, state: State): void {
    switch (node.type) {
      case 'Command':
        return this.#command(node, state);
      case 'Redirected':
        this.visit(node.command, { ...state, input: this.#inputBy(node.redirects, state) });
        return node.redirects.forEach((redirect) => this.visit(redirect, state));
      case 'Pipeline':
        return this.#pipeline(node, state);
      case 'AndOr':
        return this.#andOr(node, state);
      case 'For':
        return this.#for(node, state);
      case 'While':
      case 'If':
      case 'Elif':
        this.visit(node.clause, state);
        return forEachChild(node, (child) => child !== node.clause && this.visit(child, copyState(state)));
      case 'Function':
        this.#functions.add(node.name.value);
        return this.visit(node.body, { input: UNKNOWN_INPUT, set: new Set() });
      case 'ArithmeticWord':
        this.#compute(node.value);
        return this.#parts(node, state);
      // Any other node only matters for the nodes in it.
      default:
        return this.#parts(node, state);
    }
  }

  #parts(node: SyntaxNode, state: State): void {
    const isBackground = 'background' in node && node.background;
    const inner = SHARED.has(node.type) && !isBackground ? state : copyState(state);
    forEachChild(node, (child) => this.visit(child, inner));
  }

  #compute(expression: string): void {
    for (const name of expression.match(/[A-Za-z_]\w*/g) ?? []) this.#give(name, { type: 'number' });
  }

  #command(command: Command, state: State): void {
    const site = this.#site({ ...state, input: this.#inputBy(command.redirects, state) });
    this.#sites.set(command, site);
    forEachChild(command, (child) => this.visit(child, { input: site.input, set: new Set(site.set) }));
    const isRead = literalOf(command.name) === 'read';
    for (const part of command.prefix) {
      if (part.type !== 'Assignment' || (isRead && part.text === 'IFS=')) continue;
      this.#assign(part, site);
      // Before a command, it is not set for the words of that command.
      if (!command.name && !part.index && !part.append) state.set.add(part.name);
    }
    // `env x=1 sh -c …` sets it for the script.
    for (const { text } of commandWords(command)) {
      const name = /^([A-Za-z_]\w*)=/.exec(text)?.[1];
      if (name !== undefined) this.#give(name, { type: 'unknown' });
    }
    this.#builtin(command, site, state);
  }

  #builtin(command: Command, site: Site, state: State): void {
    const all = commandWords(command);
    const at = all.findIndex((word) => !/^(command|builtin)$/.test(literalOf(word) ?? ''));
    const name = literalOf(all[at]) ?? '';
    const words = all.slice(at + 1);
    if (UNFOLLOWED.has(name) || (name === 'printf' && !/^[^-]/.test(literalOf(words[0]) ?? ''))) {
      this.#anything = true;
    } else if (name === 'read' || name === 'mapfile' || name === 'readarray') {
      this.#read(name, words, site, state);
    } else if (DECLARING.has(name)) {
      this.#declare(command, words, site);
    } else if (name === 'unset') {
      for (const word of words) this.#lose(literalOf(word));
    } else if (name === 'set') {
      this.#pass(words, site);
    }
  }

  #read(builtin: string, words: readonly Word[], { input }: Site, state: State): void {
    const texts = words.map((word) => literalOf(word) ?? '');
    if (words.some((word) => literalOf(word) === undefined)) this.#anything = true;
    const given = readBy(builtin, texts, input);
    const names = texts.filter((text) => NAME.test(text));
    for (const name of ['REPLY', 'MAPFILE', ...names]) {
      // The last of several names gets the rest of the line: words with blanks between them.
      const getsRest = builtin === 'read' && names.length > 1 && name === names.at(-1);
      this.#give(name, getsRest ? { type: 'unknown' } : given);
      // At the end of the input it becomes empty.
      this.#give(name, { type: 'text', text: '' });
      state.set.add(name);
    }
  }

  #declare(command: Command, words: readonly Word[], site: Site): void {
    for (const argument of command.args) {
      if (argument.type !== 'Assignment') continue;
      this.#assign(argument, site);
      this.#lose(argument.name);
    }
    for (const text of words.map(literalOf)) {
      const [, name, value] = /^([A-Za-z_]\w*)(?:=(.*))?$/s.exec(text ?? '') ?? [];
      // Some options change values, and `-n` makes one variable stand for another.
      if (text === undefined || (name === undefined && !/^-[aAfFgIprtx]+$/.test(text))) this.#anything = true;
      if (name === undefined) continue;
      if (value !== undefined) this.#give(name, { type: 'text', text: value });
      this.#lose(name);
    }
  }

  #assign({ name, value, append }: Assignment, site: Site): void {
    if (value.type === 'ArrayValue')
      for (const word of value.elements)
        this.#give(name, word.text.startsWith('[') ? { type: 'unknown' } : { type: 'split', word, site });
    else this.#give(name, append ? { type: 'unknown' } : { type: 'word', word: value, site });
  }

  #give(name: string, given: VariableSource): void {
    // It decides where all others are split.
    if (name === 'IFS') this.#anything = true;
    const known = this.#variables.get(name);
    if (known) known.push(given);
    else this.#variables.set(name, [given]);
  }

  #pass(words: readonly Word[], site: Site): void {
    for (const word of words) this.#positional.push({ type: 'split', word, site });
  }

  #lose(name: string | undefined): void {
    if (name === undefined) this.#anything = true;
    else this.#lost.add(name);
  }

  #pipeline({ commands }: Pipeline, state: State): void {
    commands.forEach((command, i) => {
      const before = commands[i - 1];
      const input: InputSource = before ? { type: 'output', node: before } : state.input;
      this.visit(command, commands.length > 1 ? { input, set: new Set(state.set) } : state);
    });
  }

  /**
   * What the first command sets is set for what follows; what the others set, only for the rest of the chain, as long
   * as each needs the one before.
   */
  #andOr({ commands, operators }: AndOr, state: State): void {
    let chain = state;
    commands.forEach((command, i) => {
      if (i === 1 || operators[i - 1] === '||') chain = copyState(state);
      this.visit(command, chain);
    });
  }

  #site({ input, set }: State): Site {
    const own = new Set(set);
    this.#sets.push(own);
    return { input, set: own };
  }

  #inputBy(redirects: readonly Redirection[], state: State): InputSource {
    const sources = redirects.map((redirect) => this.#source(redirect, state));
    return sources.findLast((source) => source !== undefined) ?? state.input;
  }

  /** The input that a redirection sets; undefined if it does not change the input. */
  #source(redirect: Redirection, state: State): InputSource | undefined {
    const { descriptor } = redirect;
    if (descriptor && !('value' in descriptor && descriptor.value === 0)) return undefined;
    if (redirect.type === 'HereString') {
      const word = redirect.target;
      return word ? { type: 'word', word, site: this.#site(state) } : UNKNOWN_INPUT;
    }
    if (redirect.type === 'HereDoc') {
      const isPlain = redirect.delimiter?.quoted || !/[$`\\]/.test(redirect.body.text);
      return isPlain ? { type: 'text', text: redirect.body.text } : UNKNOWN_INPUT;
    }
    return redirect.operator.startsWith('<') ? printedFor(redirect.target) : undefined;
  }

  #for({ name, wordlist, body }: For, state: State): void {
    const site = this.#site(state);
    for (const word of wordlist ?? []) {
      this.visit(word, state);
      this.#give(name.value, { type: 'split', word, site });
    }
    if (!wordlist) this.#give(name.value, { type: 'unknown' });
    const inner = copyState(state);
    inner.set.add(name.value);
    this.visit(body, inner);
  }
}

/**
 * What `read` or `mapfile` puts into its variables. Unless listed here, an option may cut lines or read elsewhere.
 */
function readBy(builtin: string, texts: readonly string[], source: InputSource): VariableSource {
  const options = texts.filter((text) => text.startsWith('-'));
  const isRead = builtin === 'read';
  const isKnown = options.every((text) => (isRead ? /^-[ra]+$/ : /^-t$/).test(text));
  if (!isKnown) return { type: 'unknown' };
  // Without -r, `read` removes backslashes.
  const isRaw = !isRead || options.some((text) => text.includes('r'));
  return { type: isRaw ? 'input' : 'bareInput', source };
}

/** Nodes whose parts run one after the other, in this shell. */
const SHARED = new Set<SyntaxNode['type']>(['Script', 'CompoundList', 'Statement', 'BraceGroup']);

/** What `< <(command)` reads; the content of a file is not known. */
function printedFor(target: Word | undefined): InputSource {
  const [part, ...more] = target?.parts ?? [];
  const script = part?.type === 'ProcessSubstitution' && more.length === 0 ? part.script : undefined;
  return script ? { type: 'output', node: script } : UNKNOWN_INPUT;
}

function copyState({ input, set }: State): State {
  return { input, set: new Set(set) };
}

/** Name and arguments. What looks like an assignment is left out. */
export function commandWords({ name, args }: Command): Word[] {
  const words = name ? [name] : [];
  for (const argument of args) if (argument.type === 'Word') words.push(argument);
  return words;
}

/** The value of a word in which nothing is expanded. */
export function literalOf(word: Word | undefined): string | undefined {
  return word && isParsed(word) ? shellWord(word).literal : undefined;
}

/** A word without parts contains nothing to expand, or it was not understood. */
export function isParsed({ parts, text }: Word): boolean {
  return parts !== undefined || !/[$`]|[<>]\(/.test(text.replaceAll(/\\./gs, ''));
}
