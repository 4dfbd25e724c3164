import {
  parse,
  type AndOr,
  type ArithmeticFor,
  type Assignment,
  type Case,
  type Command,
  type CompoundList,
  type For,
  type Function as FunctionNode,
  type If,
  type ParsedScript,
  type Pipeline,
  type Redirection,
  type Script,
  type Statement,
  type SyntaxNode,
  type Word,
} from 'unbash';
import { printArithmetic } from './arithmetic.js';
import { printHereDocument } from './here-document.js';
import type { Dialect, Reading, ShellScript } from './model.js';
import { ScriptNotes } from './script-notes.js';
import { printDescriptor, printRedirect, redirectsOf } from './print-redirects.js';
import { printTest } from './print-test.js';
import { printWord } from './print-word.js';
import { readAssignment, readWords, variableName, type CommandReader } from './read-command.js';
import { suspicion } from './suspicious.js';
import { onlyInBash, reject, Unreadable } from './unreadable.js';

/** Nested scripts are read this far. */
const MAX_DEPTH = 8;

/**
 * Finds every simple command of a line, and prints the line from what it found. A line that is not fully understood
 * is not read at all. A `nested` script inherits variables that it does not show.
 */
export function readScript(source: string, nested = false, dialect: Dialect = 'bash', depth = 0): Reading {
  if (depth > MAX_DEPTH) return { ok: false, reason: 'it is nested too deeply' };
  const doubt = suspicion(source, dialect);
  return doubt ? { ok: false, reason: doubt } : parseScript(source, nested, dialect, depth);
}

/** Reads a script that is not suspicious, such as one that was printed here. */
export function parseScript(source: string, nested: boolean, dialect: Dialect, depth = 0): Reading {
  try {
    return { ok: true, script: new Reader(nested, dialect, depth).read(source) };
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, reason: error.message };
    return { ok: false, reason: 'it cannot be parsed' };
  }
}

/**
 * Walks the tree once, and prints what it has read on the way, so that every printed command was also found. A kind
 * of node without a printer makes the whole line unreadable.
 */
class Reader implements CommandReader {
  readonly dialect: Dialect;
  readonly notes: ScriptNotes;
  readonly #depth: number;
  /** Commands that have to succeed before the next one runs. */
  readonly #conditions = new Set<SyntaxNode>();
  #hereDocuments = 0;
  /** Here-documents whose text must follow the line that is being printed. */
  #bodies: string[] = [];
  /** The text that the positions of nodes refer to. */
  #source = '';

  constructor(nested: boolean, dialect: Dialect, depth: number) {
    this.notes = new ScriptNotes(nested);
    this.dialect = dialect;
    this.#depth = depth;
  }

  read(source: string): ShellScript {
    this.#source = source;
    const tree = parse(source);
    const text = this.#script(tree);
    this.notes.checkNumbers();
    const { commands, functions } = this.notes;
    return { tree, commands, functions, text };
  }

  script(script: ParsedScript | undefined): string {
    if (!script) return reject('it has a substitution that cannot be parsed');
    const [bodies, source] = [this.#bodies, this.#source];
    this.#bodies = [];
    this.#source = script.source ?? source;
    const before = this.#hereDocuments;
    const text = this.notes.within('fork', () => this.#script(script));
    // bash 5.2 loses the separator after a here-document in `$(…)`, and runs two commands as one.
    if (this.#hereDocuments > before && !isOneCommand(script))
      reject('it has a here-document among other commands of a substitution');
    this.#bodies = bodies;
    this.#source = source;
    // `$((` would be arithmetic.
    return text.startsWith('(') ? ` ${text}` : text;
  }

  numbers(names: readonly string[] | undefined, where: string): void {
    this.notes.numbers(names, where);
  }

  #script({ errors, commands }: Script & Pick<ParsedScript, 'errors'>): string {
    if (errors && errors.length > 0) reject(`it cannot be parsed: ${errors[0]?.message}`);
    return this.#list(commands).replace(/; $/, '');
  }

  /** Prints each statement with its end, so that a word that closes the list may follow. */
  #list(statements: readonly Statement[]): string {
    return statements
      .map(({ command, background }) => {
        const text = this.notes.within(background ? 'fork' : undefined, () => this.#node(command));
        const documents = this.#bodies.splice(0).join('');
        return `${text}${background ? ' &' : ';'}${documents === '' ? ' ' : `\n${documents}`}`;
      })
      .join('');
  }

  #body({ commands }: CompoundList): string {
    return this.#list(commands);
  }

  #node(node: SyntaxNode): string {
    switch (node.type) {
      case 'Command':
        return this.#command(node);
      case 'Pipeline':
        return this.#pipeline(node);
      case 'AndOr':
        return this.#andOr(node);
      case 'Redirected': {
        this.notes.add({ redirects: redirectsOf(node.redirects) });
        const command = this.#node(node.command);
        return [command, ...this.#redirects(node.redirects)].join(' ');
      }
      case 'If':
        return this.notes.within('branch', () => this.#if(node));
      case 'Case':
        return this.notes.within('branch', () => this.#case(node));
      case 'For':
        return this.notes.within('loop', () => this.#for(node));
      case 'ArithmeticFor':
        onlyInBash(this.dialect, node.type);
        return this.notes.within('loop', () => this.#arithmeticFor(node));
      case 'While': {
        const { kind, clause, body } = node;
        return this.notes.within('loop', () => `${kind} ${this.#body(clause)}do ${this.#body(body)}done`);
      }
      case 'Function':
        return this.notes.within('loop', () => this.#function(node));
      case 'Subshell':
        return this.notes.within('fork', () => `(${this.#body(node.body)})`);
      case 'BraceGroup':
        return `{ ${this.#body(node.body)}}`;
      case 'TestCommand':
        onlyInBash(this.dialect, node.type);
        return `[[ ${printTest(node.expression, this)} ]]`;
      case 'ArithmeticCommand':
        onlyInBash(this.dialect, node.type);
        return `((${printArithmetic(node.expression, this)}))`;
      default:
        return reject(`it uses ${node.type}, which is not supported`);
    }
  }

  #pipeline({ prefixes, commands, operators }: Pipeline): string {
    const before = prefixes.map((prefix) =>
      prefix.type === 'Negation' ? '! ' : `time ${prefix.posix ? '-p ' : ''}`,
    );
    if (operators.includes('|&')) onlyInBash(this.dialect, '|&');
    if (prefixes.some(({ type }) => type === 'Time')) onlyInBash(this.dialect, 'time');
    // Each part runs in a shell of its own.
    const kind = commands.length > 1 ? 'fork' : undefined;
    const parts = commands.map((command) => this.notes.within(kind, () => this.#node(command)));
    return before.join('') + withOperators(parts, operators);
  }

  #andOr({ commands, operators }: AndOr): string {
    operators.forEach((operator, i) => operator === '&&' && this.#conditions.add(commands[i] as SyntaxNode));
    // What comes after `||` may or may not run.
    const kind = operators.includes('||') ? 'branch' : undefined;
    return this.notes.within('branch', () => {
      const parts = commands.map((command) => this.notes.within(kind, () => this.#node(command)));
      return withOperators(parts, operators);
    });
  }

  #if({ clause, then, elif, else: otherwise }: If): string {
    const branches = [{ clause, then }, ...elif].map(
      (branch) => `if ${this.#body(branch.clause)}then ${this.#body(branch.then)}`,
    );
    return `${branches.join('el')}${otherwise ? `else ${this.#body(otherwise)}` : ''}fi`;
  }

  #case({ word, items }: Case): string {
    const subject = printWord(word, this);
    const cases = items.map(({ pattern, body, terminator = ';;' }) => {
      if (terminator !== ';;') onlyInBash(this.dialect, terminator);
      const patterns = pattern.map((one) => printWord(one, this));
      return `(${patterns.join(' | ')}) ${this.#body(body)}${terminator} `;
    });
    return `case ${subject} in ${cases.join('')}esac`;
  }

  #for({ name, wordlist, body }: For): string {
    const variable = variableName(name.value);
    this.notes.text(variable);
    this.notes.add({ assignments: [variable] });
    this.checkGaps(wordlist ?? []);
    const words = wordlist?.map((word) => ` ${printWord(word, this)}`).join('');
    return `for ${variable}${words === undefined ? '' : ` in${words}`}; do ${this.#body(body)}done`;
  }

  #arithmeticFor({ initialize, test, update, body }: ArithmeticFor): string {
    const steps = [initialize, test, update].map((step) => step && printArithmetic(step, this));
    return `for ((${steps.join('; ')})); do ${this.#body(body)}done`;
  }

  #function({ name, body }: FunctionNode): string {
    if (!/^[A-Za-z_][\w-]*$/.test(name.value) || RESERVED.test(name.value))
      reject(`${name.text} is not a valid name for a function`);
    this.notes.functions.push(name.value);
    return `${name.value}() ${this.#node(body)}`;
  }

  #command(command: Command): string {
    this.checkGaps([...command.prefix, ...(command.name ? [command.name] : []), ...command.suffix]);
    const found = this.notes.add({});
    const redirects = redirectsOf(command.redirects);
    const set = command.prefix.filter((part): part is Assignment => part.type === 'Assignment');
    const before = set.map((assignment) => readAssignment(assignment, this));
    const { words, printed } = readWords(command, this);
    found({
      words,
      assignments: set.map(({ name }) => name),
      redirects,
      // Nothing in it may still run in the old directory.
      isCondition:
        this.#conditions.has(command) &&
        command.prefix.length === 0 &&
        command.redirects.length === 0 &&
        words.every(({ literal }) => literal !== undefined),
      node: command,
    });
    return [...before, ...printed, ...this.#redirects(command.redirects)].join(' ');
  }

  /** Prints a script for another shell, so that it also runs as it was read. */
  inner(source: string, dialect = this.dialect): string {
    const reading = readScript(source, true, dialect, this.#depth + 1);
    return reading.ok ? reading.script.text : reject(`the script in it is not accepted: ${reading.reason}`);
  }

  #redirects(redirections: readonly Redirection[]): string[] {
    return redirections.map((redirection) => {
      if (redirection.type !== 'HereDoc') return printRedirect(redirection, this);
      if (++this.#hereDocuments > 1) reject('it has more than one here-document');
      const { operator, body } = printHereDocument(redirection, this);
      this.#bodies.push(body);
      return `${printDescriptor(redirection.descriptor)}${operator}`;
    });
  }

  /**
   * The parser skips what it does not expect, and ends some words too early. So only blanks may come between the
   * parts of a command, and at least one before each word.
   */
  checkGaps(parts: readonly (Word | Assignment | Redirection)[]): void {
    parts.forEach((part, i) => {
      const last = parts[i - 1];
      if (!last) return;
      const gap = this.#source.slice(last.end, part.pos);
      const isGlued = gap === '' && 'text' in part;
      if (isGlued || !/^(?:[ \t\n]|\\\n)*$/.test(gap))
        reject(`it is not clear where ${this.#source.slice(part.pos, part.end)} begins`);
    });
  }
}

/** One simple command, or a pipeline in which only the first command has a here-document. */
function isOneCommand({ commands }: ParsedScript): boolean {
  const [only, ...others] = commands;
  if (others.length > 0 || !only || only.background) return false;
  const { command } = only;
  if (command.type !== 'Pipeline') return command.type === 'Command';
  const [first, ...rest] = command.commands;
  const has = (node: SyntaxNode | undefined) =>
    node?.type === 'Command' && node.redirects.some(({ type }) => type === 'HereDoc');
  return has(first) && rest.every((node) => node.type === 'Command' && !has(node));
}

const RESERVED =
  /^(?:if|then|elif|else|fi|for|in|while|until|do|done|case|esac|select|function|time|coproc)$/;

function withOperators(parts: readonly string[], operators: readonly string[]): string {
  return parts.map((part, i) => (i === 0 ? part : ` ${operators[i - 1]} ${part}`)).join('');
}
