import { pLimit } from '../../lib/limit.js';
import { oneLine, sentence } from '../../lib/text.js';
import { headOf } from '../../lib/truncate.js';
import type { Part } from '../../protocol/content.js';
import type { ExecuteContext, ToolReport } from '../../protocol/tool.js';
import { askProvider } from './ask-provider.js';
import { fetchUrl } from './fetch-url.js';
import { pageOf } from './page.js';
import { renderSections, type Section } from './sections.js';
import type { WebSettings } from './settings.js';

const AT_ONCE = 4;
/** For all media of one call: requests to a model are limited. */
const MEDIA_BYTES = 10 * 1024 * 1024;
const EXCERPT_LENGTH = 500;

interface Found {
  readonly ok: boolean;
  readonly section: Section;
  readonly media?: { readonly part: Part; readonly bytes: number };
}

/** Answers for the URLs of a prompt: by the provider, and directly for the URLs that it does not read. */
export async function fetchUrls(
  prompt: string,
  urls: readonly URL[],
  settings: WebSettings,
  { signal, openOutput }: ExecuteContext,
): Promise<ToolReport> {
  const asked = await askProvider(prompt, urls, settings, signal);
  const extras = asked.usage && { usage: asked.usage };
  const found = signal.aborted
    ? []
    : await pLimit(AT_ONCE).map(asked.missing, (url) => fetchOne(url, settings, signal));
  if (signal.aborted) {
    return { ok: false, error: { type: 'cancelled', message: 'Fetching was cancelled.' }, ...extras };
  }
  const weighed = withoutHeavyMedia(found);
  const note = asked.note ? [{ head: `${asked.note} What a direct fetch returned:`, label: '' }] : [];
  const sections = [...(asked.section ? [asked.section] : note), ...weighed.map(({ section }) => section)];
  const { text, ...stored } = renderSections(sections, settings.outputCap, openOutput);
  if (!asked.section && weighed.every(({ ok }) => !ok)) {
    return { ok: false, error: { type: 'web_fetch_processing_error', message: text }, ...stored, ...extras };
  }
  const media = weighed.map((one) => one.media?.part).filter((part) => part !== undefined);
  return { ok: true, content: [{ text }, ...media], ...stored, ...extras };
}

async function fetchOne(url: URL, settings: WebSettings, signal: AbortSignal): Promise<Found> {
  const fetched = await fetchUrl(url, settings, signal);
  if (!fetched.ok) {
    const excerpt = fetched.excerpt && (await excerptOf(fetched.excerpt, url));
    return failure(url, fetched.fault, excerpt);
  }
  const page = await pageOf(fetched.body, fetched.contentType, fetched.url);
  if (page.type === 'refused') return failure(url, page.fault);
  const about = `fetched directly, HTTP ${fetched.status}, ${page.mime}`;
  const origin = fetched.url.href === url.href ? '' : `Final URL: ${fetched.url.href}\n`;
  if (page.type === 'media') {
    const head = `${url.href} (${about}, ${page.bytes} bytes): attached. It is untrusted, too.`;
    const media = { part: { ...page.part, mediaName: url.href }, bytes: page.bytes };
    return { ok: true, section: { head, label: url.href, ...(origin && { body: origin }) }, media };
  }
  const title = page.title ? `Title: ${page.title}\n` : '';
  const above = origin || title ? `${origin}${title}\n` : '';
  const body = above + (page.text.trim() === '' ? '(the page has no text)' : page.text);
  return { ok: true, section: { head: `${url.href} (${about}):`, label: url.href, body } };
}

function failure(url: URL, fault: string, excerpt = ''): Found {
  const section = {
    head: `${url.href} could not be fetched: ${sentence(oneLine(fault, 500))}`,
    label: url.href,
  };
  return { ok: false, section: excerpt === '' ? section : { ...section, body: excerpt } };
}

/** The first words of an error page. */
async function excerptOf(
  excerpt: { readonly contentType: string; readonly body: Buffer },
  url: URL,
): Promise<string> {
  const page = await pageOf(excerpt.body, excerpt.contentType, url);
  return page.type === 'text' ? headOf(page.text.trim(), EXCERPT_LENGTH) : '';
}

function withoutHeavyMedia(found: readonly Found[]): Found[] {
  let bytes = 0;
  return found.map((one) => {
    bytes += one.media?.bytes ?? 0;
    if (!one.media || bytes <= MEDIA_BYTES) return one;
    bytes -= one.media.bytes;
    const head = `${one.section.label} could not be attached: all media of a call may have ${MEDIA_BYTES / 1024 / 1024} MiB. Fetch it in a separate call.`;
    return { ok: false, section: { head, label: one.section.label } };
  });
}
