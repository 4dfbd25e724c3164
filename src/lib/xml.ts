import { cleanText } from './text.js';

/** Characters that XML 1.0 cannot represent. (Lone surrogates are replaced before.) */
const IMPOSSIBLE = /[\u0001-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

const entity = (character: string): string => ENTITIES[character] ?? character;

/** Text between tags. */
export function xmlText(text: string): string {
  return possible(text).replaceAll(/[&<>\r]/g, entity);
}

/** An attribute with its value. White space is preserved. */
export function xmlAttribute(name: string, value: string | number): string {
  return `${name}="${possible(String(value)).replaceAll(/[&<>"'\t\n\r]/g, entity)}"`;
}

function possible(text: string): string {
  return cleanText(text).replaceAll(IMPOSSIBLE, '\ufffd');
}
