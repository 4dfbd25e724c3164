import type { HereDoc } from 'unbash';
import { printExpansion, type WordReader } from './print-word.js';
import { reject } from './unreadable.js';

export interface PrintedDocument {
  /** What goes into the command: the operator and the delimiter. */
  readonly operator: string;
  /** What follows the command's line, with the line that ends it. */
  readonly body: string;
}

/** Prints a here-document of text, or of text and expansions. One that needs escapes is rejected. */
export function printHereDocument(document: HereDoc, reader: WordReader): PrintedDocument {
  const { delimiter, closing, body, operator } = document;
  if (!closing || !delimiter || !/^\w+$/.test(delimiter.value))
    reject('its here-document does not end with a plain word');
  const { quoted } = delimiter;
  if (!quoted && /[\\`]/.test(body.text)) reject('it has a here-document with escapes in it');
  const parts = quoted ? [] : (body.parts ?? []);
  const lines = parts.length === 0 ? printText(body.text, quoted) : printParts(document, reader);
  const text = operator === '<<-' ? lines.replaceAll(/^\t+/gm, '') : lines;
  const end = freeWord(text);
  return { operator: `<<${quoted ? `'${end}'` : end}`, body: `${text}${end}\n` };
}

function printParts({ body }: HereDoc, reader: WordReader): string {
  return (body.parts ?? [])
    .map((part) => (part.type === 'Literal' ? printText(part.value, false) : printExpansion(part, reader)))
    .join('');
}

function printText(text: string, quoted: boolean): string {
  return quoted || !/[$\\`]/.test(text) ? text : reject('it has a here-document with a $ in its text');
}

/** A word that is not a line of the text. */
function freeWord(text: string): string {
  const lines = new Set(text.split('\n'));
  let word = 'END';
  for (let i = 1; lines.has(word); i++) word = `END_${i}`;
  return word;
}
