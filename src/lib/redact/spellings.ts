/** The longest run of bytes to search for at once. Longer values are searched for in pieces. */
export const MAX_PIECE = 64;
/** Shorter values would be found everywhere. */
export const MIN_LENGTH = 8;

/** All forms in which programs may write a value. */
export function spellingsOf(value: string): readonly string[] {
  const hex = Buffer.from(value).toString('hex');
  const escapes = percentBytes(hex);
  return [
    value,
    ...(NEEDS_NO_ESCAPES.test(value) ? [] : [...escapedTexts(value), ...percentTexts(value)]),
    ...[0, 1, 2].flatMap((shift) => base64Core(value, shift)),
    ...[hex, hex.toUpperCase(), escapes, escapes.toUpperCase()],
  ];
}

function percentBytes(hex: string): string {
  let text = '';
  for (let i = 0; i < hex.length; i += 2) text += `%${hex.slice(i, i + 2)}`;
  return text;
}

/** True for most tokens: they look the same in JSON, in HTML and in addresses. */
const NEEDS_NO_ESCAPES = /^[\w.~-]*$/;

function escapedTexts(value: string): string[] {
  const json = escapeJson(value);
  const ascii = json.replaceAll(
    /[^\0-\u007f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const texts = [json, ascii, escapeJson(json), escapeJson(ascii), json.replaceAll('/', '\\/')];
  return [...texts, value.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] as string)];
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The value inside the base64 of something longer: the characters that depend on the value only. */
function base64Core(value: string, shift: number): string[] {
  const whole = Buffer.from('\0'.repeat(shift) + value);
  const first = Math.ceil((shift * 8) / 6);
  const end = Math.floor((whole.length * 8) / 6);
  const core = whole.toString('base64').slice(first, end);
  return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
}

/** With as few escapes as possible, and with a few more; in upper and lower case. */
function percentTexts(value: string): string[] {
  const usual = encodeURIComponent(value.toWellFormed());
  const strict = usual.replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const form = strict.replaceAll('%20', '+');
  // Some leave the slashes of a path as they are, and some everything that an address may contain.
  const path = strict.replaceAll('%2F', '/');
  const address = encodeURI(value.toWellFormed());
  const few = [usual, strict, path, address];
  return [...few, ...few.map(lowerEscapes), form];
}

function lowerEscapes(text: string): string {
  return text.replaceAll(/%[\dA-F]{2}/g, (escape) => escape.toLowerCase());
}

/** The pieces to search for: programs break long lines anywhere, so their position does not count. */
export function spellingPieces(spelling: string): readonly Buffer[] {
  const bytes = Buffer.from(spelling.replaceAll('\n', '').replaceAll('\r', ''));
  if (bytes.length < MIN_LENGTH) return [];
  if (bytes.length <= MAX_PIECE) return [bytes];
  const count = Math.ceil(bytes.length / MAX_PIECE);
  const cut = (i: number) => Math.floor((i * bytes.length) / count);
  return Array.from({ length: count }, (_, i) => bytes.subarray(cut(i), cut(i + 1)));
}
