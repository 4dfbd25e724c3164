import { isUtf8 } from 'node:buffer';

/** How much of a page is searched for its own declaration. */
const SEARCHED_BYTES = 2048;

/**
 * The text of a page: by its byte order mark, its Content-Type, its own declaration, or as UTF-8. An unknown
 * encoding is taken for UTF-8 too, and what is not valid UTF-8 for old Western text.
 */
export function decodePage(bytes: Buffer, contentType: string): string {
  const label =
    byMark(bytes) ?? /;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(contentType)?.[1] ?? byOwnWord(bytes);
  const decoder = (label && decoderFor(label)) || decoderFor(isUtf8(bytes) ? 'utf-8' : 'windows-1252');
  const text = decoder?.decode(bytes) ?? '';
  return decoder?.encoding === 'windows-1252' ? withQuotes(text) : text;
}

/** What Western text has where Latin-1 has control characters. Some versions of Node do not decode those. */
const WESTERN = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

function withQuotes(text: string): string {
  return text.replaceAll(
    /[\u0080-\u009f]/g,
    (character) => WESTERN[character.charCodeAt(0) - 0x80] ?? character,
  );
}

function byMark(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined;
}

/** `<meta charset>`, `<meta http-equiv>`, or an XML declaration. */
function byOwnWord(bytes: Buffer): string | undefined {
  const start = bytes.subarray(0, SEARCHED_BYTES).toString('latin1');
  const label =
    /<meta\s[^>]*?charset\s*=\s*["']?([\w:.-]+)/i.exec(start)?.[1] ??
    /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w:.-]+)/i.exec(start)?.[1];
  // This declaration could be read, so it is not UTF-16, whatever it says.
  return label && /^utf-?16/i.test(label) ? 'utf-8' : label;
}

function decoderFor(label: string) {
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}
