import { wordsOf } from '../../lib/text.js';
import { endOfDelimited } from './delimited.js';
import type { Hazard, ShellWord } from './model.js';

/** The word that makes an awk command do more than compute. The first `named` words are judged elsewhere. */
export function awkHazard(words: readonly ShellWord[], files = false, named = 1): Hazard | undefined {
  const { at, isGiven, isOption } = firstOperand(words, named);
  const text = words[at]?.literal;
  if (at >= words.length) return undefined;
  if (isOption) return hazard(at);
  if (isGiven) return connection(words, at);
  if (at >= named && (text === undefined || !onlyComputes(text, files))) return hazard(at);
  return connection(words, Math.max(at + 1, named));
}

/**
 * The index of the program, or of the first file if a rule names the program's file, or of an option that is not
 * known.
 */
function firstOperand(words: readonly ShellWord[], named: number) {
  let isGiven = false;
  for (let i = 1; i < words.length; i++) {
    const text = words[i]?.literal ?? '';
    const isNamed = i < named && /^(-f|--file)$/.test(text);
    isGiven ||= isNamed;
    // `-F,` and `-vx=1`. Whether any other option takes the next word is not known.
    if (/^-[Fv]$/.test(text) || isNamed) i++;
    else if (text === '--') return { at: i + 1, isGiven, isOption: false };
    else if (!/^-[Fv]./s.test(text)) return { at: i, isGiven, isOption: text.startsWith('-') };
  }
  return { at: words.length, isGiven, isOption: false };
}

function hazard(index: number): Hazard {
  return { index, reason: 'the awk program could run other programs or write files' };
}

/** gawk opens such a path as a network connection; for others, it is a file that does not exist. */
const CONNECTION = '/inet';

function connection(words: readonly ShellWord[], from: number): Hazard | undefined {
  const index = words.findIndex(({ literal, prefix }, i) => {
    if (i < from) return false;
    if (literal !== undefined) return literal.startsWith(CONNECTION);
    return prefix !== '' && (prefix.startsWith(CONNECTION) || CONNECTION.startsWith(prefix));
  });
  return index < 0
    ? undefined
    : { index, reason: 'gawk could open a network connection instead of this file' };
}

/** Names that run something. */
const RUNNING = new Set(wordsOf('system extension SYMTAB FUNCTAB'));
/** Names that reach outside the program, or change which files it reads. */
const OUTSIDE = new Set([...RUNNING, ...wordsOf('getline ENVIRON ARGV ARGC ARGIND PROCINFO')]);
/** An expression begins after these. */
const KEYWORDS = new Set(wordsOf('print printf return else do in exit BEGIN END'));
/** Words that are a value or a keyword, depending on the awk and on what follows. */
const UNCLEAR = new Set(
  wordsOf(
    'if while for length break continue delete next nextfile case default switch BEGINFILE ENDFILE func',
  ),
);
/** Blanks, comments and line continuations. */
const BLANK = /(?:[ \t]|\\\n|#[^\n]*)+/y;
const NAME = /[A-Za-z_]\w*/y;
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
const OPERATOR = /\*\*=|&&|\|\||\+\+|--|[-+*/%^=!<>]=|!~|\*\*|>>|\|&|[-+*/%^=!<>~?:,;(){}[\]$|\n]/y;

/** The token before: a value, a closing parenthesis, something that a value follows, or unclear. */
type Before = 'value' | 'closed' | 'open' | 'unclear';

const BEFORE = new Map<string, Before>([
  [')', 'closed'],
  [']', 'value'],
  ...['++', '--', '$'].map((operator): [string, Before] => [operator, 'unclear']),
]);

/**
 * Whether an awk program only computes and prints to its output. It is split into strings, regular expressions, names
 * and operators. What awks read differently, or what only a grammar could tell apart, is rejected. With `files`, it
 * may also read and write files.
 */
export function onlyComputes(program: string, files = false): boolean {
  const reader = new AwkReader(program, files);
  let at: number | undefined = 0;
  while (at !== undefined && at < program.length) at = reader.pass(at);
  return at !== undefined;
}

/** Reads an awk program token by token. */
class AwkReader {
  readonly #program: string;
  readonly #files: boolean;
  /** Decides whether the next slash may begin a regular expression: not after a value. */
  #before: Before = 'open';
  #depth = 0;
  /**
   * How many brackets were open at the last `print`. Inside more brackets, or outside a `print`, `>` is a comparison.
   */
  #printing: number | undefined;

  constructor(program: string, files: boolean) {
    this.#program = program;
    this.#files = files;
  }

  /** The end of the token at `at`; undefined if it could do more than compute. */
  pass(at: number): number | undefined {
    const blank = matchEnd(BLANK, this.#program, at);
    if (blank !== undefined) return blank;
    const name = matchEnd(NAME, this.#program, at);
    if (name !== undefined) return this.#name(this.#program.slice(at, name)) ? name : undefined;
    const number = matchEnd(NUMBER, this.#program, at);
    if (number !== undefined) return this.#value(number);
    const character = this.#program[at] as string;
    const isRegex = character === '/' && this.#before === 'open';
    if (character !== '"' && !isRegex) return this.#operator(at);
    const end = endOfDelimited(this.#program, at + 1, character, isRegex);
    return end === undefined ? undefined : this.#value(end + 1);
  }

  #value(end: number): number {
    this.#before = 'value';
    return end;
  }

  #name(word: string): boolean {
    if (/^printf?$/.test(word)) this.#printing = this.#depth;
    this.#before = KEYWORDS.has(word) ? 'open' : UNCLEAR.has(word) ? 'unclear' : 'value';
    return !(this.#files ? RUNNING : OUTSIDE).has(word);
  }

  #operator(at: number): number | undefined {
    const end = matchEnd(OPERATOR, this.#program, at);
    const operator = this.#program.slice(at, end);
    if (end === undefined || !this.#onlyComputes(operator, at)) return undefined;
    if (/[([]/.test(operator)) this.#depth++;
    else if (/[)\]]/.test(operator)) this.#depth--;
    else if (/[;}]/.test(operator)) this.#printing = undefined;
    this.#before = BEFORE.get(operator) ?? 'open';
    return end;
  }

  #onlyComputes(operator: string, at: number): boolean {
    if (/^\|&?$/.test(operator)) return false;
    if (operator.startsWith('/')) return isDivision(this.#program, at, this.#before);
    if (operator === '\n') return this.#depth <= 0;
    if (this.#files) return true;
    const isPrinting = this.#printing !== undefined && this.#depth <= this.#printing;
    return operator !== '>>' && !(operator === '>' && isPrinting);
  }
}

/**
 * A slash after a value divides. After a parenthesis, some awks may read it as the start of a regular expression that
 * ends at a later slash of the line: then the text in between must mean the same either way.
 */
function isDivision(program: string, at: number, before: Before): boolean {
  if (before !== 'closed') return before === 'value';
  const [line = ''] = program.slice(at + 1).split('\n', 1);
  const other = line.lastIndexOf('/');
  return other < 0 || /^[\w\s.+*%$/-]*$/.test(line.slice(0, other));
}

function matchEnd(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
