/** The longest run of bytes that is looked for at once. Longer values are looked for piece by piece. */
export const MAX_PIECE = 64;
/** What is shorter would be found everywhere. */
export const MIN_LENGTH = 8;

/** Everything that a value looks like in the hands of programs, as pieces of bytes without line breaks. */
export function spellingsOf(value: string): Buffer[] {
  const bytes = Buffer.from(value);
  const texts = new Set([
    ...escapedTexts(value),
    ...[0, 1, 2].flatMap((shift) => base64Core(bytes, shift)),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...percentTexts(value, bytes),
  ]);
  return [...new Set([...texts].map(withoutBreaks))].flatMap((text) => piecesOf(Buffer.from(text)));
}

/** The value itself and nothing else: for lines of a longer one, which is looked for in every spelling. */
export function plainPieces(value: string): Buffer[] {
  return piecesOf(Buffer.from(withoutBreaks(value)));
}

/** Programs break long lines wherever they like: nothing of ours counts on where. */
function withoutBreaks(text: string): string {
  return text.replaceAll(/[\r\n]/g, '');
}

function escapedTexts(value: string): string[] {
  const json = escapeJson(value);
  const ascii = json.replaceAll(
    /[^\0-\u007f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const texts = [value, json, ascii, escapeJson(json), escapeJson(ascii), json.replaceAll('/', '\\/')];
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

/** What the value becomes inside base64 of something longer: the characters that only depend on the value. */
function base64Core(bytes: Buffer, shift: number): string[] {
  const whole = Buffer.concat([Buffer.alloc(shift), bytes]);
  const first = Math.ceil((shift * 8) / 6);
  const end = Math.floor((whole.length * 8) / 6);
  const core = whole.toString('base64').slice(first, end);
  return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
}

/** With as few escapes as one may do with, with a few more, and with all; in both cases of their letters. */
function percentTexts(value: string, bytes: Buffer): string[] {
  const usual = encodeURIComponent(value.toWellFormed());
  const strict = usual.replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const all = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const form = strict.replaceAll('%20', '+');
  // Some leave the slashes of a path alone, and some all that a whole address may have in it.
  const path = strict.replaceAll('%2F', '/');
  const address = encodeURI(value.toWellFormed());
  const few = [usual, strict, path, address];
  return [...few, ...few.map(lowerEscapes), form, all, all.toUpperCase()];
}

function lowerEscapes(text: string): string {
  return text.replaceAll(/%[\dA-F]{2}/g, (escape) => escape.toLowerCase());
}

function piecesOf(bytes: Buffer): Buffer[] {
  if (bytes.length < MIN_LENGTH) return [];
  const count = Math.ceil(bytes.length / MAX_PIECE);
  const cut = (i: number) => Math.floor((i * bytes.length) / count);
  return Array.from({ length: count }, (_, i) => bytes.subarray(cut(i), cut(i + 1)));
}
