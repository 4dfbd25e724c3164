import type { DoubleQuotedChild, ParsedScript, Word, WordPart } from 'unbash';
import { printArithmetic } from './arithmetic.js';
import type { Dialect } from './model.js';
import { printParameter } from './print-parameter.js';
import { printBraces, printGlob } from './print-pattern.js';
import { quote } from './quote.js';
import { onlyInBash, refuse } from './unreadable.js';
import { shellWord } from './words.js';

/** The reader of the script that contains a word. */
export interface WordReader {
  readonly dialect: Dialect;
  /** Reads a script inside of a word, and gives it back as it will run. */
  script(script: ParsedScript | undefined): string;
  /** Hears which variables arithmetic looks at; undefined if it could run something. */
  numbers(names: readonly string[] | undefined, where: string): void;
}

/**
 * A word as the shell is given it: what was taken for a text is quoted, so that it can be nothing else, and each
 * expansion that was accepted has one spelling. Of the source nothing is repeated but what is listed as harmless.
 */
export function printWord(word: Word, reader: WordReader): string {
  const { literal, tilde } = shellWord(word);
  if (!word.parts) checkPlain(word.text);
  if (tilde) return printTilde(word, reader);
  // Braces come first: `$x{a,b}` is `$xa $xb`.
  const isGlued = word.parts?.some(
    ({ type }, i, parts) => type === 'SimpleExpansion' && parts[i + 1]?.type === 'BraceExpansion',
  );
  if (isGlued) refuse(`${word.text} is not understood here`);
  // Also where it is a text in the end: each part has to be one that is understood.
  const printed = joinPieces((word.parts ?? []).flatMap((part) => wordPieces(part, reader)));
  return literal === undefined ? printed : quote(literal);
}

/** A piece of a word: a text, whatever it looks like, or what the shell is to expand. */
type Piece = { readonly text: string } | { readonly code: string };

/** Texts that meet are one text. */
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

/** What the shell does not take for a text, but a parser may. Behind a backslash it is one, and so is a last `$`. */
function checkPlain(text: string, code = /[`()<>]|\$(?!$)/): void {
  if (code.test(text.replaceAll(/\\[^]/g, ''))) refuse(`${text} cannot be taken apart`);
}

function wordPieces(part: WordPart, reader: WordReader): Piece[] {
  switch (part.type) {
    case 'Literal':
      checkPlain(part.text);
      // A line continuation is nothing at all.
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

/** In double quotes everything but an expansion is a text; a dollar is one where no name follows. */
function quotedPiece(part: DoubleQuotedChild, reader: WordReader): Piece {
  if (part.type !== 'Literal') return { code: `"${printExpansion(part, reader)}"` };
  checkPlain(part.text, /`|\$[\w{([@*#?$!-]/);
  return { text: part.value };
}

const VARIABLE = /^\$(?:([A-Za-z_]\w*)|([0-9@*#?$!-]))$/;

/** An expansion, without the quotes around it. */
export function printExpansion(part: WordPart, reader: WordReader): string {
  switch (part.type) {
    case 'SimpleExpansion': {
      const [, name, special] = VARIABLE.exec(part.text) ?? [];
      if (name === undefined && special === undefined) refuse(`${part.text} is not understood here`);
      return name === undefined ? `$${special}` : `\${${name}}`;
    }
    case 'ParameterExpansion': {
      const expansion = (inner: WordPart) => printExpansion(inner, reader);
      return printParameter(part, { dialect: reader.dialect, expansion });
    }
    case 'CommandExpansion':
      // `${ command; }` is for a bash that few have.
      if (part.text.startsWith('${')) refuse(`${part.text} is not understood here`);
      return `$(${reader.script(part.script)})`;
    case 'ArithmeticExpansion':
      return `$((${printArithmetic(part.expression, reader)}))`;
    default:
      return refuse(`it uses ${part.type}, which is not understood here`);
  }
}

/** `~`, `~+`, `~name`: up to the first slash, which has to stay without quotes, too. */
function printTilde({ text, value, parts }: Word, reader: WordReader): string {
  const [first, ...others] = parts ?? [];
  if (first && first.type !== 'Literal') refuse(`${text} is not understood here`);
  const [prefix] = /^~[\w.+-]*(?:\/|$)/.exec(first?.text ?? text) ?? [];
  if (prefix === undefined) refuse(`${text} is not understood here`);
  const rest = (first?.value ?? value).slice(prefix.length);
  const behind = others.flatMap((part) => wordPieces(part, reader));
  return joinPieces([{ code: prefix }, ...(rest === '' ? [] : [{ text: rest }]), ...behind]);
}
