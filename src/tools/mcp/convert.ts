import { mediaTypeOf } from '../../lib/media-type.js';
import { cleanText, oneLine } from '../../lib/text.js';
import type { Part } from '../../protocol/content.js';
import type { ToolReport } from '../../protocol/tool.js';
import { canonicalJson } from '../../lib/canonical-json.js';

/** More than this in one answer is mentioned, not sent. */
const MAX_MEDIA_BYTES = 20 * 1024 * 1024;
const MAX_UNKNOWN = 500;
const MAX_INDENTED = 100_000;

type Block = Readonly<Record<string, unknown>>;

interface Piece {
  readonly text: string;
  readonly media?: Part;
}

/** What the model gets of a server's answer. Nothing in it is dropped silently. */
export function reportOf(result: unknown): ToolReport {
  const { content, structuredContent, isError, toolResult } = (result ?? {}) as Block;
  const blocks = Array.isArray(content) ? (content as unknown[]) : [];
  const pieces = blocks.map(pieceOf);
  const texts = pieces.map(({ text }) => text);
  const structured = structuredContent ?? toolResult;
  if (structured !== undefined && !texts.some((text) => isSameText(text, structured))) {
    texts.push(shownJson(structured));
  }
  const text = texts.join('\n') || '(the answer is empty)';
  if (isError === true) return { ok: false, error: { type: 'mcp_tool_error', message: text } };
  const media = withinLimit(pieces.flatMap(({ media: part }) => (part ? [part] : [])));
  const left = pieces.filter((piece) => piece.media).length - media.length;
  const note = left > 0 ? `\n[${left} attachments were left out: together they are too large]` : '';
  return { ok: true, content: media.length > 0 ? [{ text: text + note }, ...media] : text + note };
}

function pieceOf(block: unknown): Piece {
  const fields = (typeof block === 'object' && block !== null ? block : { value: block }) as Block;
  switch (fields['type']) {
    case 'text':
      return { text: String(fields['text'] ?? '') };
    case 'image':
    case 'audio':
      return mediaPiece(String(fields['type']), fields['mimeType'], fields['data']);
    case 'resource':
      return resourcePiece((fields['resource'] ?? {}) as Block);
    case 'resource_link':
      return { text: linkText(fields) };
    default:
      return { text: `[content of an unknown type: ${oneLine(JSON.stringify(fields), MAX_UNKNOWN)}]` };
  }
}

function resourcePiece({ uri, mimeType, text, blob }: Block): Piece {
  const what = `resource ${oneLine(String(uri ?? '(without an address)'))}`;
  if (typeof text === 'string') return { text: `[${what}]\n${text}\n[end of the resource]` };
  return mediaPiece(what, mimeType, blob);
}

/** The bytes decide the type: an API rejects a whole request for one invalid image. */
function mediaPiece(what: string, claimed: unknown, data: unknown): Piece {
  const bytes = typeof data === 'string' ? Buffer.from(data, 'base64') : Buffer.alloc(0);
  const mimeType = mediaTypeOf(bytes);
  const named = oneLine(String(claimed ?? 'unknown type'), 100);
  if (mimeType) {
    const media = { inlineData: { mimeType, data: bytes.toString('base64') } };
    return { text: `[${what}: ${mimeType}, attached]`, media };
  }
  const isText = /^text\/|json|xml/.test(named) && bytes.length > 0;
  if (isText) return { text: `[${what}: ${named}]\n${cleanText(bytes.toString('utf8'))}` };
  return { text: `[${what}: ${named}, ${bytes.length} bytes, not something that can be shown]` };
}

function linkText({ uri, name, mimeType, description }: Block): string {
  const details = [mimeType, description].filter(Boolean).map((one) => oneLine(String(one), 300));
  const about = details.length > 0 ? ` (${details.join('; ')})` : '';
  return `[link to a resource: ${oneLine(String(name ?? ''))} ${oneLine(String(uri ?? ''))}${about}]`;
}

/** Indented if people can read it: around deep values, spaces may take far more room than the values. */
function shownJson(value: unknown): string {
  const short = JSON.stringify(value);
  return short.length > MAX_INDENTED ? short : JSON.stringify(value, null, 2);
}

/** Servers repeat structured content as text, for clients that do not know it: as JSON, or as its only value. */
function isSameText(text: string, structured: unknown): boolean {
  const [value, ...others] = Object.values(structured ?? {});
  if (value === text && others.length === 0) return true;
  try {
    return canonicalJson(JSON.parse(text)) === canonicalJson(structured);
  } catch {
    return false;
  }
}

function withinLimit(media: readonly Part[]): Part[] {
  let left = MAX_MEDIA_BYTES;
  return media.filter(({ inlineData }) => (left -= inlineData?.data.length ?? 0) >= 0);
}
