import { badInput } from './inputs.js';

/**
 * Words as a shell would split them: blanks separate, quotes and backslashes group. Nothing is expanded, and
 * nothing is run.
 */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let rest = text;
  while (rest !== '') {
    const [piece] = PIECE.exec(rest) ?? [];
    if (piece === undefined) throw badInput('args', rest.slice(0, 40), 'Close the quote.');
    rest = rest.slice(piece.length);
    if (/^\s/.test(piece)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + meaningOf(piece);
    }
  }
  return word === undefined ? words : [...words, word];
}

const PIECE = /^(?:\s+|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|[^\s'"\\]+)/;

function meaningOf(piece: string): string {
  switch (piece[0]) {
    case "'":
      return piece.slice(1, -1);
    case '"':
      return piece.slice(1, -1).replaceAll(/\\(["\\$`])/g, '$1');
    case '\\':
      return piece.slice(1);
    default:
      return piece;
  }
}
