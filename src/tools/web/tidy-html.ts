import { parseUrl } from '../../lib/parse-url.js';
import { wordsOf } from '../../lib/text.js';
import { NOISE, Outline } from './html-outline.js';
import { attributeOf, endOfTag } from './html-tags.js';
import { plainSpaces } from './plain-spaces.js';

/** A page reduced to the structure that Markdown has. */
export interface TidyPage {
  readonly html: string;
  readonly title: string;
  /** It is incomplete, because it was too long. */
  readonly cut: boolean;
}

const KEPT = new Set(
  wordsOf(
    'h1 h2 h3 h4 h5 h6 p br hr a img em i strong b del s code pre blockquote ul ol li dl dt dd table caption thead tbody tfoot tr td th',
  ),
);
const CONTAINERS = new Set(
  wordsOf(
    'div section article main header footer aside figure figcaption details summary address fieldset form legend center dialog',
  ),
);
/** Elements whose content is not markup. */
const RAW = new Set(wordsOf('script style noscript iframe textarea title xmp noembed noframes'));

const MAX_TITLE = 300;
const MAX_LINK = 4000;
const MAX_COLUMNS = 20;
/** In a row. More are an endless gap, for which see `plainSpaces`. */
const MAX_BREAKS = 100;

interface Scan {
  readonly html: string;
  readonly outline: Outline;
  /** What relative links start from. */
  base: URL;
  title: string;
  /** Line breaks since the last word. */
  breaks: number;
}

/**
 * Reads HTML in one pass and writes it again, well-formed: every element closed in order, of limited depth,
 * without attributes except link targets. Other pages can easily make parsers and converters take for ever; here
 * every character is looked at a limited number of times.
 */
export function tidyHtml(html: string, base: URL, maxLength: number): TidyPage {
  const outline = new Outline();
  const scan: Scan = { html, outline, base, title: '', breaks: 0 };
  let at = 0;
  while (at < html.length && outline.length < maxLength) {
    const next = html.indexOf('<', at);
    const text = html.slice(at, next < 0 ? html.length : next);
    const words = plainSpaces(text.slice(0, maxLength - outline.length));
    if (/\S/.test(words)) scan.breaks = 0;
    outline.text(words);
    at = next < 0 ? html.length : markup(scan, next);
  }
  const cut = outline.length >= maxLength;
  return { html: outline.finish(), title: scan.title, cut };
}

/** Reads what begins with `<`; returns where to continue. */
function markup(scan: Scan, at: number): number {
  const { html, outline } = scan;
  TAG.lastIndex = at;
  const [start, slash, word = ''] = TAG.exec(html) ?? [];
  if (start === undefined) return noTag(scan, at);
  const stop = endOfTag(html, at + start.length);
  if (stop < 0) return html.length;
  const name = CONTAINERS.has(word.toLowerCase()) ? 'div' : word.toLowerCase();
  const attributes = html.slice(at + start.length, stop);
  if (slash) {
    outline.end(name);
    return stop + 1;
  }
  if (name === 'br' && ++scan.breaks > MAX_BREAKS) return stop + 1;
  if (RAW.has(name)) return rawText(scan, name, stop + 1);
  if (name === 'base') scan.base = absolute(attributeOf(attributes, 'href'), scan.base) ?? scan.base;
  if (KEPT.has(name) || name === 'div' || NOISE.has(name)) {
    outline.start(name, tagFor(name, attributes, scan.base));
  }
  return stop + 1;
}

const TAG = /<(\/?)([a-z][^\s/>]*)/iy;

/** A comment, a declaration, or just a character. */
function noTag({ html, outline }: Scan, at: number): number {
  if (!/[!?/]/.test(html[at + 1] ?? '')) {
    outline.text('&lt;');
    return at + 1;
  }
  const isComment = html.startsWith('<!--', at);
  const close = html.indexOf(isComment ? '-->' : '>', at + 2);
  return close < 0 ? html.length : close + (isComment ? 3 : 1);
}

function rawText(scan: Scan, name: string, from: number): number {
  const closing = new RegExp(`</${name}(?=[\\s/>])`, 'gi');
  closing.lastIndex = from;
  const close = closing.exec(scan.html)?.index ?? scan.html.length;
  if (name === 'title' && scan.title === '' && !scan.outline.isOpen('svg')) {
    scan.title = scan.html.slice(from, close).trim().slice(0, MAX_TITLE);
  }
  const stop = scan.html.indexOf('>', close);
  return stop < 0 ? scan.html.length : stop + 1;
}

function tagFor(name: string, attributes: string, base: URL): string {
  if (name === 'img') return image(attributes, base);
  if (name === 'a') {
    const href = absolute(attributeOf(attributes, 'href'), base)?.href;
    return href === undefined ? '<a>' : `<a href="${quotedAttribute(href)}">`;
  }
  const span = name === 'td' || name === 'th' ? Math.floor(Number(attributeOf(attributes, 'colspan'))) : 1;
  return span > 1 && span <= MAX_COLUMNS ? `<${name} colspan="${span}">` : `<${name}>`;
}

/** An image with a description; the others are decoration. */
function image(attributes: string, base: URL): string {
  const alt = attributeOf(attributes, 'alt')?.trim();
  const src = absolute(attributeOf(attributes, 'src'), base)?.href;
  return alt && src
    ? `<img src="${quotedAttribute(src)}" alt="${quotedAttribute(alt.slice(0, MAX_TITLE))}">`
    : '';
}

function absolute(target: string | undefined, base: URL): URL | undefined {
  if (target === undefined || target.length > MAX_LINK) return undefined;
  const url = parseUrl(target, base);
  return url && /^(https?|mailto):$/.test(url.protocol) ? url : undefined;
}

function quotedAttribute(value: string): string {
  return value.replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
