import type { Word, WordPart } from 'unbash';
import type { ShellWord } from './model.js';

const LITERAL_PARTS = new Set<string>(['Literal', 'SingleQuoted', 'AnsiCQuoted']);

/** What is known about a word before it is expanded. */
export function shellWord(word: Word): ShellWord {
  const { text, value, parts = [] } = word;
  const tilde = text.startsWith('~');
  const isLiteral = parts.every(isLiteralPart);
  return {
    text,
    value,
    literal: isLiteral && !tilde ? value : undefined,
    prefix: isLiteral ? value : prefixOf(parts),
    splits: parts.some(mayDivide),
    glob: parts.some(({ type }) => type === 'Glob' || type === 'BraceExpansion'),
    tilde,
  };
}

function isLiteralPart(part: WordPart): boolean {
  if (part.type === 'DoubleQuoted') return part.parts.every(({ type }) => type === 'Literal');
  return LITERAL_PARTS.has(part.type);
}

function prefixOf(parts: readonly WordPart[]): string {
  // `<(command)` becomes the name of a pipe.
  if (parts[0]?.type === 'ProcessSubstitution') return '/dev/fd/';
  let prefix = '';
  for (const part of parts) {
    if (part.type === 'DoubleQuoted') {
      for (const inner of part.parts) {
        if (inner.type !== 'Literal') return prefix;
        prefix += inner.value;
      }
    } else if (isLiteralPart(part) && 'value' in part) {
      prefix += part.value;
    } else {
      return prefix;
    }
  }
  return prefix;
}

/**
 * Unquoted expansions are split into words, and `"$@"` even in quotes. Numbers and the file names of a glob are not.
 */
function mayDivide(part: WordPart): boolean {
  switch (part.type) {
    case 'SimpleExpansion':
    case 'ParameterExpansion':
    case 'CommandExpansion':
    case 'BraceExpansion':
      return true;
    case 'DoubleQuoted':
      return part.parts.some(
        ({ type, text }) => type !== 'Literal' && /@/.test(text) && !text.startsWith('$('),
      );
    default:
      return false;
  }
}
