import type { Assignment, Command, Redirection, Word } from 'unbash';
import { isInteger } from './arithmetic.js';
import { innerScripts } from './inner-scripts.js';
import type { Dialect, ShellWord } from './model.js';
import type { ScriptNotes } from './script-notes.js';
import { printWord, type WordReader } from './print-word.js';
import { quote } from './quote.js';
import { onlyInBash, reject } from './unreadable.js';
import { INTEGERS } from './variables.js';
import { shellWord } from './shell-word.js';

/** The context of a command, for its words and assignments. */
export interface CommandReader extends WordReader {
  readonly notes: ScriptNotes;
  /** Reads a script for another shell, and returns it as it will run. */
  inner(source: string, dialect?: Dialect): string;
  /** Rejects parts with anything but blanks between them. */
  checkGaps(parts: readonly (Word | Assignment | Redirection)[]): void;
}

/** Builtins that set variables to values from elsewhere. */
const SETTERS = /^(?:read|mapfile|readarray|getopts|printf|declare|typeset|local|export|readonly)$/;

/** Builtins whose arguments are assignments. */
const DECLARATION = /^(?:declare|typeset|local|export|readonly)$/;

/** The words of a command as they are judged, and as they will run. */
export function readWords(
  { name, args }: Command,
  reader: CommandReader,
): { words: ShellWord[]; printed: string[] } {
  const spelt = new Map<ShellWord, string>();
  const isDeclaration = DECLARATION.test(shellWordOf(name)?.literal ?? '');
  for (const one of name ? [name, ...args] : args) {
    if (one.type === 'Word') spelt.set(shellWord(one), printWord(one, reader));
    else if (isDeclaration) spelt.set(unknownWord(one.text), readAssignment(one, reader));
    else reject(`${one.text} is not supported`);
  }
  const words = [...spelt.keys()];
  noteSetters(words, reader);
  // If the builtin's name were quoted, the values of its assignments would be split into words.
  if (isDeclaration && args.some(({ type }) => type === 'Assignment'))
    spelt.set(words[0] as ShellWord, words[0]?.literal as string);
  for (const { source, dialect, words: parts } of innerScripts(words)) {
    const [first, ...others] = parts;
    if (first) spelt.set(first, quote(reader.inner(source, dialect)));
    for (const other of others) spelt.delete(other);
  }
  return { words, printed: [...spelt.values()] };
}

/** `read x` and the like put text into variables; which ones may not be known. */
function noteSetters(words: readonly ShellWord[], { notes }: CommandReader): void {
  const name = words.find(({ literal }) => !/^(builtin|command)$/.test(literal ?? ''))?.literal;
  if (!SETTERS.test(name ?? '')) return;
  for (const { literal } of words) {
    if (literal === undefined) notes.anyText();
    else if (/^[A-Za-z_]\w*$/.test(literal)) notes.text(literal);
  }
}

export function readAssignment({ name, value, index, append }: Assignment, reader: CommandReader): string {
  if (index && !isInteger(index.text)) reject('it computes a subscript');
  if (index) onlyInBash(reader.dialect, 'arrays');
  if (append) onlyInBash(reader.dialect, '+=');
  const isNumber = value.type === 'Word' && !append && isNumeric(value);
  if (!isNumber) reader.notes.text(name);
  const printed =
    value.type === 'Word' ? readValue(value, reader) : `(${readElements(value.elements, reader)})`;
  return `${variableName(name)}${index ? `[${index.text}]` : ''}${append ? '+=' : '='}${printed}`;
}

function readValue(word: Word, reader: CommandReader): string {
  const bare = (word.parts ?? []).filter(({ type }) => type === 'Literal');
  if ((word.parts ? bare : [word]).some(({ text }) => /:~/.test(text)))
    reject(`the ~ in ${word.text} is not supported`);
  return printWord(word, reader);
}

function readElements(words: readonly Word[], reader: CommandReader): string {
  onlyInBash(reader.dialect, 'ArrayValue');
  reader.checkGaps(words);
  return words
    .map((word) => {
      if (/^\[.*\]\+?=/s.test(word.text)) reject(`${word.text} computes a subscript`);
      return printWord(word, reader);
    })
    .join(' ');
}

export function variableName(name: string): string {
  if (INTEGERS.has(name)) reject(`whatever ${name} is set to is evaluated`);
  return /^[A-Za-z_]\w*$/.test(name) ? name : reject(`${name} is not a valid name for a variable`);
}

function shellWordOf(word: Word | undefined): ShellWord | undefined {
  return word && shellWord(word);
}

/** `declare x=1`: an argument like any other, except that its value is not known. */
function unknownWord(text: string): ShellWord {
  return { text, value: text, literal: undefined, prefix: text, splits: false, glob: false, tilde: false };
}

/** A literal number, or `$((…))` and nothing else. */
function isNumeric(word: Word): boolean {
  const isComputed = word.parts?.length === 1 && word.parts[0]?.type === 'ArithmeticExpansion';
  return isComputed || isInteger(shellWord(word).literal ?? '');
}
