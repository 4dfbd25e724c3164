import { wordsOf } from '../../lib/text.js';
import { endOfDelimited } from './delimited.js';
import type { Hazard, ShellWord } from './model.js';

export function awkHazard(words: readonly ShellWord[], files = false): Hazard | undefined {
  for (let i = 1; i < words.length; i++) {
    const text = words[i]?.literal;
    if (text === '-F' || text === '-v') {
      i++;
      continue;
    }
    // `-F,` and `-vx=1`; of anything else it is not known whether it takes the next word.
    if (/^-[Fv]./s.test(text ?? '')) continue;
    if (text !== '--' && text?.startsWith('-')) return hazard(i);
    const at = text === '--' ? i + 1 : i;
    const program = words[at]?.literal;
    return program !== undefined && onlyComputes(program, files) ? undefined : hazard(at);
  }
  return undefined;
}

function hazard(index: number): Hazard {
  return { index, reason: 'the awk program could run others, or write files' };
}

/** Names that run something. */
const RUNNING = new Set(wordsOf('system extension SYMTAB FUNCTAB'));
/** Names that reach outside, or change which files are read. */
const OUTSIDE = new Set([...RUNNING, ...wordsOf('getline ENVIRON ARGV ARGC ARGIND PROCINFO')]);
/** Behind these an expression begins. */
const KEYWORDS = new Set(wordsOf('print printf return else do in exit BEGIN END'));
/** What may be a value or a keyword, by the awk and by what follows. */
const UNCLEAR = new Set(
  wordsOf(
    'if while for length break continue delete next nextfile case default switch BEGINFILE ENDFILE func',
  ),
);
/** Blanks and comments; a line may go on behind a backslash. */
const BLANK = /(?:[ \t]|\\\n|#[^\n]*)+/y;
const NAME = /[A-Za-z_]\w*/y;
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
const OPERATOR = /\*\*=|&&|\|\||\+\+|--|[-+*/%^=!<>]=|!~|\*\*|>>|\|&|[-+*/%^=!<>~?:,;(){}[\]$|\n]/y;

/** What came before: a value, the end of something in parentheses, something that a value follows, or who knows. */
type Before = 'value' | 'closed' | 'open' | 'unclear';

const BEFORE = new Map<string, Before>([
  [')', 'closed'],
  [']', 'value'],
  ...['++', '--', '$'].map((operator): [string, Before] => [operator, 'unclear']),
]);

/**
 * Whether an awk program only computes and prints to its output. It is taken apart into strings, regular expressions,
 * names and operators; what awks read differently, or cannot be told apart without a grammar, is not. With `files` it may
 * read and write those.
 */
export function onlyComputes(program: string, files = false): boolean {
  const forbidden = files ? RUNNING : OUTSIDE;
  // Where the next slash may begin a regular expression: not behind a value.
  let before: Before = 'open';
  let depth = 0;
  // How many brackets were open at a `print`: deeper, and outside of one, `>` is a comparison.
  let printing: number | undefined;
  for (let at = 0; at < program.length;) {
    const character = program[at] as string;
    const blank = endOf(BLANK, program, at);
    const name = blank === undefined ? endOf(NAME, program, at) : undefined;
    const number = endOf(NUMBER, program, at);
    if (blank !== undefined) at = blank;
    else if (name !== undefined) {
      const word = program.slice(at, name);
      if (forbidden.has(word)) return false;
      if (/^printf?$/.test(word)) printing = depth;
      before = KEYWORDS.has(word) ? 'open' : UNCLEAR.has(word) ? 'unclear' : 'value';
      at = name;
    } else if (number !== undefined) {
      before = 'value';
      at = number;
    } else if (character === '"' || (character === '/' && before === 'open')) {
      const end = endOfDelimited(program, at + 1, character, character === '/');
      if (end === undefined) return false;
      before = 'value';
      at = end + 1;
    } else {
      const end = endOf(OPERATOR, program, at);
      const operator = program.slice(at, end);
      if (end === undefined || /^\|&?$/.test(operator) || (!files && operator === '>>')) return false;
      if (operator.startsWith('/') && !isDivision(program, at, before)) return false;
      if (/[([]/.test(operator)) depth++;
      else if (/[)\]]/.test(operator)) depth--;
      if (operator === '\n' && depth > 0) return false;
      if (!files && operator === '>' && printing !== undefined && depth <= printing) return false;
      if (/[;}]/.test(operator)) printing = undefined;
      before = BEFORE.get(operator) ?? 'open';
      at = end;
    }
  }
  return true;
}

/**
 * A slash behind a value divides. Behind a parenthesis some may take it for the beginning of a regular expression, which
 * would end at another slash of the line: then nothing in between may look different to the two.
 */
function isDivision(program: string, at: number, before: Before): boolean {
  if (before !== 'closed') return before === 'value';
  const [line = ''] = program.slice(at + 1).split('\n', 1);
  const other = line.lastIndexOf('/');
  return other < 0 || /^[\w\s.+*%$/-]*$/.test(line.slice(0, other));
}

function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
