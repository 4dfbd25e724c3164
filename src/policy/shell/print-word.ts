import type { DoubleQuotedChild, ParsedScript, Word, WordPart } from 'unbash';
import { printArithmetic } from './arithmetic.js';
import type { Dialect } from './model.js';
import { printParameter } from './print-parameter.js';
import { printBraces, printGlob } from './print-pattern.js';
import { quote } from './quote.js';
import { onlyInBash, reject } from './unreadable.js';
import { shellWord } from './shell-word.js';

/** The reader of the script that contains a word. */
export interface WordReader {
  readonly dialect: Dialect;
  /** Reads a script inside a word, and returns it as it will run. */
  script(script: ParsedScript | undefined): string;
  /** Called with the variables that arithmetic reads; undefined if it could run something. */
  numbers(names: readonly string[] | undefined, where: string): void;
}

/**
 * Prints a word for the shell. What was read as text is quoted, so that it can mean nothing else, and each accepted
 * expansion has one spelling. Nothing of the source is repeated unless it is listed as harmless.
 */
export function printWord(word: Word, reader: WordReader): string {
  const { literal, tilde } = shellWord(word);
  if (!word.parts) checkPlain(word.text);
  if (tilde) return printTilde(word, reader);
  // Braces expand first: `$x{a,b}` is `$xa $xb`.
  const isGlued = word.parts?.some(
    ({ type }, i, parts) => type === 'SimpleExpansion' && parts[i + 1]?.type === 'BraceExpansion',
  );
  if (isGlued) reject(`${word.text} is not supported`);
  // Even for a word that is all text: every part must be understood.
  const printed = joinPieces((word.parts ?? []).flatMap((part) => wordPieces(part, reader)));
  return literal === undefined ? printed : quote(literal);
}

/** A piece of a word: text, whatever it looks like, or code for the shell to expand. */
type Piece = { readonly text: string } | { readonly code: string };

/** Adjacent texts become one. */
function joinPieces(pieces: readonly Piece[]): string {
  let printed = '';
  let text: string | undefined;
  for (const piece of [...pieces, { code: '' }]) {
    if ('text' in piece) text = (text ?? '') + piece.text;
    else {
      printed += (text === undefined ? '' : quote(text)) + piece.code;
      text = undefined;
    }
  }
  return printed;
}

/**
 * Rejects what a shell does not read as text, although a parser may. After a backslash it is text, and so is a final
 * `$`.
 */
function checkPlain(text: string, code = /[`()<>]|\$(?!$)/): void {
  if (code.test(text.replaceAll(/\\[^]/g, ''))) reject(`${text} cannot be parsed`);
}

function wordPieces(part: WordPart, reader: WordReader): Piece[] {
  switch (part.type) {
    case 'Literal':
      checkPlain(part.text);
      // A line continuation leaves nothing.
      return part.value === '' ? [] : [{ text: part.value }];
    case 'SingleQuoted':
      return [{ text: part.value }];
    case 'AnsiCQuoted':
      onlyInBash(reader.dialect, part.type);
      return [{ text: part.value }];
    case 'DoubleQuoted':
      return part.parts.length === 0 ? [{ text: '' }] : part.parts.map((one) => quotedPiece(one, reader));
    case 'Glob':
      return [{ code: printGlob(part) }];
    case 'BraceExpansion':
      onlyInBash(reader.dialect, part.type);
      return [{ code: printBraces(part.text) }];
    case 'ProcessSubstitution':
      onlyInBash(reader.dialect, part.type);
      return [{ code: `${part.operator}(${reader.script(part.script)})` }];
    default:
      return [{ code: printExpansion(part, reader) }];
  }
}

/** In double quotes, everything but an expansion is text, and so is a dollar that no name follows. */
function quotedPiece(part: DoubleQuotedChild, reader: WordReader): Piece {
  if (part.type !== 'Literal') return { code: `"${printExpansion(part, reader)}"` };
  checkPlain(part.text, /`|\$[\w{([@*#?$!-]/);
  return { text: part.value };
}

const VARIABLE = /^\$(?:([A-Za-z_]\w*)|([0-9@*#?$!-]))$/;

/** Prints an expansion, without the quotes around it. */
export function printExpansion(part: WordPart, reader: WordReader): string {
  switch (part.type) {
    case 'SimpleExpansion': {
      const [, name, special] = VARIABLE.exec(part.text) ?? [];
      if (name === undefined && special === undefined) reject(`${part.text} is not supported`);
      return name === undefined ? `$${special}` : `\${${name}}`;
    }
    case 'ParameterExpansion': {
      const expansion = (inner: WordPart) => printExpansion(inner, reader);
      return printParameter(part, { dialect: reader.dialect, expansion });
    }
    case 'CommandExpansion':
      // `${ command; }` needs a bash newer than most systems have.
      if (part.text.startsWith('${')) reject(`${part.text} is not supported`);
      return `$(${reader.script(part.script)})`;
    case 'ArithmeticExpansion':
      return `$((${printArithmetic(part.expression, reader)}))`;
    default:
      return reject(`it uses ${part.type}, which is not supported`);
  }
}

/** Prints `~`, `~+` or `~name`: everything up to and including the first slash must stay unquoted. */
function printTilde({ text, value, parts }: Word, reader: WordReader): string {
  const [first, ...others] = parts ?? [];
  if (first && first.type !== 'Literal') reject(`${text} is not supported`);
  const [prefix] = /^~[\w.+-]*(?:\/|$)/.exec(first?.text ?? text) ?? [];
  if (prefix === undefined) reject(`${text} is not supported`);
  const rest = (first?.value ?? value).slice(prefix.length);
  const behind = others.flatMap((part) => wordPieces(part, reader));
  return joinPieces([{ code: prefix }, ...(rest === '' ? [] : [{ text: rest }]), ...behind]);
}
