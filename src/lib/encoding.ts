import { isUtf8 } from 'node:buffer';

export type Encoding = 'utf8' | 'utf16le' | 'utf16be' | 'utf32le' | 'utf32be' | 'latin1';

/** A text file's content, and all that is needed to write it back byte for byte. */
export interface DecodedText {
  readonly text: string;
  readonly encoding: Encoding;
  readonly bom: boolean;
}

// Longer marks first: that of UTF-32LE begins with that of UTF-16LE.
const MARKS: readonly (readonly [Encoding, readonly number[]])[] = [
  ['utf32le', [0xff, 0xfe, 0, 0]],
  ['utf32be', [0, 0, 0xfe, 0xff]],
  ['utf8', [0xef, 0xbb, 0xbf]],
  ['utf16le', [0xff, 0xfe]],
  ['utf16be', [0xfe, 0xff]],
];

/** The text of a file, or undefined if it is binary. Old single-byte text is read as Latin-1, without loss. */
export function decodeText(bytes: Buffer): DecodedText | undefined {
  for (const [encoding, mark] of MARKS) {
    if (mark.every((byte, i) => bytes[i] === byte)) {
      const text = decode(bytes.subarray(mark.length), encoding);
      return text === undefined ? undefined : { text, encoding, bom: true };
    }
  }
  if (bytes.includes(0)) return undefined;
  if (isUtf8(bytes)) return { text: bytes.toString('utf8'), encoding: 'utf8', bom: false };
  return isSingleByteText(bytes)
    ? { text: bytes.toString('latin1'), encoding: 'latin1', bom: false }
    : undefined;
}

function decode(bytes: Buffer, encoding: Encoding): string | undefined {
  switch (encoding) {
    case 'utf8':
      return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
    case 'latin1':
      return bytes.toString('latin1');
    case 'utf16le':
      return bytes.length % 2 === 0 ? bytes.toString('utf16le') : undefined;
    case 'utf16be':
      return bytes.length % 2 === 0 ? Buffer.from(bytes).swap16().toString('utf16le') : undefined;
    case 'utf32le':
    case 'utf32be':
      return decodeUtf32(bytes, encoding === 'utf32le');
    default:
      return encoding satisfies never;
  }
}

function decodeUtf32(bytes: Buffer, little: boolean): string | undefined {
  if (bytes.length % 4 !== 0) return undefined;
  const pieces: string[] = [];
  for (let i = 0; i < bytes.length; i += 4) {
    const point = little ? bytes.readUInt32LE(i) : bytes.readUInt32BE(i);
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return undefined;
    pieces.push(String.fromCodePoint(point));
  }
  return pieces.join('');
}

/** Text contains no control characters other than white space. */
function isSingleByteText(bytes: Buffer): boolean {
  let controls = 0;
  for (const byte of bytes.subarray(0, 64 * 1024)) {
    if (byte < 32 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13 && byte !== 27) controls++;
  }
  return controls === 0;
}

/** The bytes of a text in a file's own encoding; undefined if that cannot represent a character. */
export function encodeText({ text, encoding, bom }: DecodedText): Buffer | undefined {
  if (encoding === 'latin1' && /[^\u0000-\u00ff]/.test(text)) return undefined;
  const body = encode(text, encoding);
  const mark = bom ? MARKS.find(([name]) => name === encoding)?.[1] : undefined;
  return mark ? Buffer.concat([Buffer.from(mark), body]) : body;
}

function encode(text: string, encoding: Encoding): Buffer {
  switch (encoding) {
    case 'utf8':
    case 'latin1':
    case 'utf16le':
      return Buffer.from(text, encoding);
    case 'utf16be':
      return Buffer.from(text, 'utf16le').swap16();
    case 'utf32le':
    case 'utf32be':
      return encodeUtf32(text, encoding === 'utf32le');
    default:
      return encoding satisfies never;
  }
}

function encodeUtf32(text: string, little: boolean): Buffer {
  const points = Array.from(text, (character) => character.codePointAt(0) as number);
  const bytes = Buffer.alloc(points.length * 4);
  points.forEach((point, i) =>
    little ? bytes.writeUInt32LE(point, i * 4) : bytes.writeUInt32BE(point, i * 4),
  );
  return bytes;
}

/** The text of bytes that were read as one character each, so that no path or setting is lost. */
export function utf8Of(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
