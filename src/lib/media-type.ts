/** Enough to recognize every type. */
const HEADER_BYTES = 64;

/**
 * The first bytes of files, read as Latin-1. Only types that models take. If a mark consists of letters, which
 * a text could begin with, it includes something that no text has.
 */
const SIGNATURES: readonly (readonly [type: string, header: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n\x1a\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a[^]*[\0-\x08]/],
  ['image/webp', /^RIFF[^]{4}WEBP/],
  ['image/bmp', /^BM[^]{4}\0{4}[^]{2}\0\0/],
  ['image/heic', /^\0\0[^]{2}ftyphe[iv]/],
  ['image/heif', /^\0\0[^]{2}ftyp(mif1|msf1)(?![^]*avif)/],
  ['application/pdf', /^%PDF-\d\.\d/],
  ['audio/wav', /^RIFF[^]{4}WAVE/],
  ['audio/aiff', /^FORM[^]{4}AIF[FC]/],
  ['audio/mpeg', /^ID3[\x02-\x04]/],
  ['audio/mpeg', /^\xff[\xe2\xe3\xf2\xf3\xfa\xfb][\x10-\xef]/],
  ['audio/aac', /^\xff[\xf1\xf9][^\xff]/],
  ['audio/flac', /^fLaC[\0\x80]/],
  ['audio/ogg', /^OggS\0(?![^]*theora)/],
  ['audio/mp4', /^\0\0[^]{2}ftypM4[AB]/],
  ['video/avi', /^RIFF[^]{4}AVI /],
  ['video/webm', /^\x1a\x45\xdf\xa3(?![^]*matroska)/],
  ['video/x-flv', /^FLV\x01/],
  ['video/mpeg', /^\0\0\x01[\xb3\xba]/],
  ['video/quicktime', /^\0\0[^]{2}ftypqt/],
  ['video/3gpp', /^\0\0[^]{2}ftyp3g/],
  ['video/mp4', /^\0\0[^]{2}ftyp(?!avi|mif1|msf1|crx|jp2|jxl)/],
];

/** Most files are text: V8 compiles one expression for them, not all. */
const ANY = new RegExp(SIGNATURES.map(([, { source }]) => source).join('|'));

/** The media type of a file by its content, never by its name; undefined if it is none that a model takes. */
export function mediaTypeOf(bytes: Uint8Array): string | undefined {
  const header = headText(bytes, HEADER_BYTES);
  if (!ANY.test(header)) return undefined;
  return SIGNATURES.find(([, signature]) => signature.test(header))?.[0];
}

/** The first bytes of a file as Latin-1: one character a byte. */
export function headText(bytes: Uint8Array, length: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, length)).toString('latin1');
}
