import {
  forEachChild,
  parse,
  type Assignment,
  type Command,
  type HereDoc,
  type ParameterExpansionPart,
  type Redirection,
  type SyntaxNode,
  type Word,
} from 'unbash';
import { isInteger, namesInArithmetic, namesInTest } from './arithmetic.js';
import type { Dialect, Reading, Redirect, Scope, ShellWord, SimpleCommand } from './model.js';
import { suspicion } from './suspicious.js';
import { shellWord } from './words.js';

/** What we have thought about. A node of any other kind makes the whole line unreadable. */
const KNOWN = new Set<SyntaxNode['type']>([
  ...(['Script', 'Statement', 'CompoundList', 'Command', 'Pipeline', 'AndOr', 'Time', 'Negation'] as const),
  ...(['If', 'Elif', 'For', 'ArithmeticFor', 'While', 'Case', 'CaseItem', 'Subshell', 'BraceGroup'] as const),
  ...([
    'Function',
    'Redirected',
    'Redirect',
    'HereString',
    'HereDoc',
    'HereDocDelimiter',
    'HereDocBody',
  ] as const),
  ...([
    'FileDescriptor',
    'Word',
    'Assignment',
    'ArrayValue',
    'Literal',
    'SingleQuoted',
    'DoubleQuoted',
  ] as const),
  ...(['AnsiCQuoted', 'Glob', 'BraceExpansion', 'SimpleExpansion', 'ParameterExpansion', 'Default'] as const),
  ...(['Remove', 'Replace', 'CaseModification', 'Slice', 'CommandExpansion', 'ProcessSubstitution'] as const),
  ...(['ArithmeticExpansion', 'ArithmeticCommand', 'ArithmeticBinary', 'ArithmeticUnary'] as const),
  ...(['ArithmeticTernary', 'ArithmeticGroup', 'ArithmeticWord', 'TestCommand', 'TestUnary'] as const),
  ...(['TestBinary', 'TestLogical', 'TestNot', 'TestGroup'] as const),
]);

/** What sh does not know. Some of it sh takes for something else: to it `[[ a || b ]]` and `((b))` run b. */
const ONLY_BASH = new Set<SyntaxNode['type']>([
  ...(['TestCommand', 'ArithmeticCommand', 'ArithmeticFor', 'ProcessSubstitution', 'HereString'] as const),
  ...(['ArrayValue', 'AnsiCQuoted', 'BraceExpansion', 'Replace', 'Slice', 'CaseModification'] as const),
]);

class Unreadable extends Error {}

function refuse(reason: string): never {
  throw new Unreadable(reason);
}

/**
 * Finds every simple command of a line. What cannot be understood for certain is not read at all. A `nested` script
 * inherits variables that are not seen here.
 */
export function readScript(source: string, nested = false, dialect: Dialect = 'bash'): Reading {
  const doubt = suspicion(source, dialect);
  if (doubt) return { ok: false, reason: doubt };
  try {
    return { ok: true, script: new Reader(nested, dialect).read(source) };
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, reason: error.message };
    return { ok: false, reason: 'it cannot be parsed' };
  }
}

class Reader {
  readonly #commands: SimpleCommand[] = [];
  readonly #functions: string[] = [];
  /** Variables that may hold anything but a number. */
  readonly #texts = new Set<string>();
  /** Variables that arithmetic looks at. */
  readonly #numbers = new Set<string>();
  readonly #nested: boolean;
  readonly #dialect: Dialect;
  /** Commands that have to succeed before the next one runs. */
  readonly #conditions = new Set<SyntaxNode>();
  #hereDocs = 0;
  #scopes: readonly Scope[] = [];
  #lastScope = 0;

  constructor(nested: boolean, dialect: Dialect) {
    this.#nested = nested;
    this.#dialect = dialect;
  }

  read(source: string) {
    this.#visit(parse(source));
    for (const name of this.#numbers) {
      if (this.#texts.has(name)) refuse(`arithmetic on ${name} could run what is stored in it`);
    }
    return { commands: this.#commands, functions: this.#functions };
  }

  #visit(node: SyntaxNode): void {
    if (!KNOWN.has(node.type)) refuse(`it uses ${node.type}, which is not understood here`);
    if (this.#dialect === 'sh' && ONLY_BASH.has(node.type))
      refuse(`sh does not know ${node.type}; only bash does`);
    switch (node.type) {
      case 'Script':
        if (node.errors && node.errors.length > 0) refuse(`it cannot be parsed: ${node.errors[0]?.message}`);
        break;
      case 'Command':
        this.#addCommand(node);
        break;
      case 'Redirected':
        this.#push([], [], redirectsOf(node.redirects));
        break;
      case 'Assignment':
        this.#noteAssignment(node);
        break;
      case 'For':
        this.#texts.add(node.name.value);
        this.#push([], [node.name.value], []);
        break;
      case 'Function':
        this.#functions.push(node.name.value);
        break;
      case 'HereDoc':
        this.#checkHereDoc(node);
        break;
      case 'ParameterExpansion':
        checkParameter(node);
        break;
      case 'CommandExpansion':
      case 'ProcessSubstitution':
        if (!node.script) refuse('it has a substitution that cannot be read');
        break;
      case 'ArithmeticWord':
        this.#noteNumbers(namesInArithmetic(node), 'arithmetic');
        break;
      case 'TestUnary':
      case 'TestBinary':
        this.#noteNumbers(namesInTest(node), 'a test');
        break;
      default:
    }
    if (node.type === 'AndOr') {
      node.operators.forEach(
        (operator, i) => operator === '&&' && this.#conditions.add(node.commands[i] as SyntaxNode),
      );
    }
    const outer = this.#scopes;
    const kind = scopeOf(node);
    if (kind) this.#scopes = [...outer, { id: ++this.#lastScope, kind }];
    // Each part of a pipeline, and what comes after an `||`, is on its own.
    const parts = node.type === 'Pipeline' && node.commands.length > 1 ? 'fork' : alternatives(node);
    forEachChild(node, (child) => {
      const inner = this.#scopes;
      if (parts) this.#scopes = [...inner, { id: ++this.#lastScope, kind: parts }];
      this.#visit(child);
      this.#scopes = inner;
    });
    this.#scopes = outer;
  }

  #push(
    words: ShellWord[],
    assignments: readonly string[],
    redirects: readonly Redirect[],
    isCondition = false,
  ): void {
    this.#commands.push({ words, assignments, redirects, scopes: this.#scopes, isCondition });
  }

  #addCommand(command: Command): void {
    const words: ShellWord[] = command.name ? [shellWord(command.name)] : [];
    for (const argument of command.args) {
      if (argument.type === 'Word') words.push(shellWord(argument));
      // `declare x=1`: an argument like any other for whoever gets it.
      else words.push({ ...bare(argument.text), literal: undefined });
    }
    const assignments = command.prefix.filter((part): part is Assignment => part.type === 'Assignment');
    this.#push(
      words,
      assignments.map(({ name }) => name),
      redirectsOf(command.redirects),
      // Nothing in it may still run in the old directory.
      this.#conditions.has(command) &&
        command.prefix.length === 0 &&
        command.redirects.length === 0 &&
        words.every(({ literal }) => literal !== undefined),
    );
  }

  #noteAssignment({ name, value, index, append }: Assignment): void {
    if (index && !isInteger(index.text)) refuse('it computes a subscript');
    const isNumber = value.type === 'Word' && !append && (isInteger(value.text) || isComputed(value));
    if (!isNumber) this.#texts.add(name);
  }

  #noteNumbers(names: readonly string[] | undefined, where: string): void {
    if (!names) refuse(`${where} in it could run commands`);
    if (this.#nested && names.length > 0) refuse(`${where} in it looks at variables from outside`);
    for (const name of names) this.#numbers.add(name);
    // Arithmetic can set variables as well.
    if (names.length > 0) this.#push([], names, []);
  }

  #checkHereDoc({ delimiter, closing, body }: HereDoc): void {
    this.#hereDocs++;
    if (this.#hereDocs > 1) refuse('it has more than one here-document');
    if (!closing || !delimiter || !/^\w+$/.test(delimiter.value))
      refuse('it has a here-document without a plain end');
    if (!delimiter.quoted && /[\\`]/.test(body.text)) refuse('it has a here-document with escapes in it');
  }
}

function scopeOf(node: SyntaxNode): Scope['kind'] | undefined {
  switch (node.type) {
    case 'Subshell':
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      return 'fork';
    case 'Statement':
      return node.background ? 'fork' : undefined;
    case 'For':
    case 'ArithmeticFor':
    case 'While':
    case 'Function':
      return 'loop';
    case 'If':
    case 'Case':
    case 'AndOr':
      return 'branch';
    default:
      return undefined;
  }
}

function alternatives(node: SyntaxNode): Scope['kind'] | undefined {
  return node.type === 'AndOr' && node.operators.includes('||') ? 'branch' : undefined;
}

function bare(text: string): ShellWord {
  return { text, literal: text, prefix: text, splits: false, glob: false, tilde: false };
}

/** `$((…))` and nothing else: a number, whatever is in it. */
function isComputed({ parts }: Word): boolean {
  return parts?.length === 1 && parts[0]?.type === 'ArithmeticExpansion';
}

/** Only expansions that read a variable and cut or replace its text. */
function checkParameter({ prefix, index, operation, text }: ParameterExpansionPart): void {
  if (prefix === '!') refuse(`${text} reads a variable that is named elsewhere`);
  if (index && !/^(\d+|@|\*)$/.test(index.text)) refuse(`${text} computes a subscript`);
  if (operation?.type === 'Default' && /=/.test(operation.operator)) refuse(`${text} sets a variable`);
  if (operation?.type === 'Slice') {
    const numbers = [operation.offset, operation.length].filter((word): word is Word => word !== undefined);
    if (!numbers.every((word) => /^\s*-?\d+$/.test(word.text))) refuse(`${text} computes a position`);
  }
}

const READS = new Set(['<']);
const WRITES = new Set(['>', '>>', '>|', '&>', '&>>', '<>', '>&']);

function redirectsOf(redirections: readonly Redirection[]): Redirect[] {
  const uses: Redirect[] = [];
  for (const redirection of redirections) {
    if (redirection.descriptor?.type === 'FileDescriptorVariable')
      refuse('it keeps a descriptor in a variable');
    if (redirection.type !== 'Redirect') continue;
    const { operator, target } = redirection;
    if (!target) refuse('it has a redirection without a target');
    const word = shellWord(target);
    // `2>&1`, `>&-`: descriptors only.
    if ((operator === '>&' || operator === '<&') && /^(\d+-?|-)$/.test(word.literal ?? '')) continue;
    // `< <(command)`: the command is judged where it stands.
    if (operator === '<' && word.text.startsWith('<(') && target.parts?.length === 1) continue;
    if (READS.has(operator)) uses.push({ access: 'read', target: word });
    else if (WRITES.has(operator)) uses.push({ access: 'write', target: word });
    else refuse(`it has a redirection ${operator} of something unknown`);
  }
  return uses;
}
