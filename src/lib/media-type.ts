interface Signature {
  /** Undefined for what looks like one of the others but is not. */
  readonly type: string | undefined;
  readonly at?: number;
  readonly bytes: string;
}

/** What files begin with, in Latin-1. Only types that models take. */
const SIGNATURES: readonly Signature[] = [
  { type: 'image/png', bytes: '\x89PNG\r\n\x1a\n' },
  { type: 'image/jpeg', bytes: '\xff\xd8\xff' },
  { type: 'image/gif', bytes: 'GIF8' },
  { type: 'image/webp', at: 8, bytes: 'WEBP' },
  { type: 'image/bmp', bytes: 'BM' },
  { type: 'image/heic', at: 4, bytes: 'ftyphei' },
  { type: 'image/heif', at: 4, bytes: 'ftypmif' },
  { type: 'application/pdf', bytes: '%PDF-' },
  { type: 'audio/wav', at: 8, bytes: 'WAVE' },
  { type: 'audio/aiff', at: 8, bytes: 'AIFF' },
  { type: 'video/avi', at: 8, bytes: 'AVI ' },
  { type: 'audio/mpeg', bytes: 'ID3' },
  { type: 'audio/mpeg', bytes: '\xff\xfb' },
  { type: 'audio/mpeg', bytes: '\xff\xf3' },
  { type: 'audio/aac', bytes: '\xff\xf1' },
  { type: 'audio/flac', bytes: 'fLaC' },
  { type: 'audio/ogg', bytes: 'OggS' },
  { type: 'video/webm', bytes: '\x1a\x45\xdf\xa3' },
  { type: undefined, at: 4, bytes: 'ftypavi' },
  { type: 'video/quicktime', at: 4, bytes: 'ftypqt' },
  { type: 'audio/mp4', at: 4, bytes: 'ftypM4A' },
  { type: 'video/mp4', at: 4, bytes: 'ftyp' },
];

/** The media type of a file by its content, never by its name; undefined if it is none that a model takes. */
export function mediaTypeOf(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 32)).toString('latin1');
  const found = SIGNATURES.find(({ at = 0, bytes: magic }) => start.startsWith(magic, at));
  if (!found) return undefined;
  // Letters are a weak sign: a text may begin with them. Real media have zeros in their header.
  const isWord = /^[ -~]+$/.test(found.bytes) && found.type !== 'application/pdf';
  return isWord && !start.includes('\0') ? undefined : found.type;
}
