import { mediaTypeOf } from '../../lib/media-type.js';
import { cleanText, oneLine } from '../../lib/text.js';
import { headOf } from '../../lib/truncate.js';
import type { Part } from '../../protocol/content.js';
import { decodePage } from './charset.js';
import { kindOfType, mimeOf } from './content-type.js';

/** A fetched body, as a model can use it. */
export type Page =
  | { readonly type: 'text'; readonly mime: string; readonly title: string; readonly text: string }
  | { readonly type: 'media'; readonly mime: string; readonly bytes: number; readonly part: Part }
  | { readonly type: 'refused'; readonly fault: string };

/** Of one page, cut or not: anything longer is not kept. */
const MAX_TEXT = 1_000_000;

/** Makes text or media of a body, by its Content-Type and its bytes. */
export async function pageOf(body: Buffer, contentType: string, url: URL): Promise<Page> {
  const kind = kindOfType(contentType);
  const mime = mimeOf(contentType);
  if (kind === 'media' || kind === 'untold') {
    const found = mediaTypeOf(body);
    if (found && /^image\/|^application\/pdf$/.test(found)) return media(body, found);
    if (kind === 'media') return unreadablePage(mime, body);
  }
  const text = decodePage(body, contentType);
  if (text.includes('\0')) return unreadablePage(mime || 'binary data', body);
  const isHtml =
    kind === 'html' || (kind === 'untold' && /^\s*<(!doctype html|html|head|body)\b/i.test(text));
  if (!isHtml) return plainPage(mime || 'text/plain', '', text);
  const { markdownOf } = await import('./markdown.js');
  const { title, markdown } = markdownOf(text, url);
  return plainPage(mime || 'text/html', title, markdown);
}

function plainPage(mime: string, title: string, text: string): Page {
  const clean = cleanText(text);
  const cut = clean.length > MAX_TEXT ? `${headOf(clean, MAX_TEXT)}\n[… the rest was left out …]` : clean;
  return { type: 'text', mime, title: oneLine(title), text: cut };
}

function media(body: Buffer, mime: string): Page {
  const part = { inlineData: { mimeType: mime, data: body.toString('base64') } };
  return { type: 'media', mime, bytes: body.length, part };
}

function unreadablePage(mime: string, body: Buffer): Page {
  return { type: 'refused', fault: `it is ${mime} of ${body.length} bytes, which cannot be shown` };
}
