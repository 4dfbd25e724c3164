import { parseUrl } from './parse-url.js';
import { oneLine } from './text.js';

const MAX_URLS = 20;
/** No server takes longer URLs, and messages repeat them. */
const MAX_LENGTH = 8000;

const isUrlWord = (word: string) => /^https?:\/\//i.test(word);
/** A word that other readers might take for a URL, although it does not begin like one. */
const hidesUrl = (word: string) => /:\/\/|https?:\S/i.test(word);

export type UrlWords =
  { readonly ok: true; readonly urls: readonly URL[] } | { readonly ok: false; readonly fault: string };

/**
 * The URLs of a text: its words that begin with http:// or https://, each as written, once. A URL wrapped in
 * something else is a fault: others would read it, and nothing would judge it.
 */
export function urlWords(text: string): UrlWords {
  const urls = new Map<string, URL>();
  for (const word of text.match(/\S+/g) ?? []) {
    if (!isUrlWord(word)) {
      if (hidesUrl(word))
        return invalidWords(
          `write each URL as a word of its own that begins with http:// or https://, which ${shownWord(word)} is not`,
        );
      continue;
    }
    const url = parseUrl(word);
    if (!url) return invalidWords(`${shownWord(word)} is not a URL that can be read`);
    if (url.href.length > MAX_LENGTH)
      return invalidWords(`${shownWord(word)} has more than ${MAX_LENGTH} characters`);
    urls.set(url.href, url);
  }
  if (urls.size === 0)
    return invalidWords('it contains no URL; write at least one as a word, such as https://example.org/page');
  if (urls.size > MAX_URLS)
    return invalidWords(`it contains ${urls.size} URLs; at most ${MAX_URLS} are fetched in one call`);
  return { ok: true, urls: [...urls.values()] };
}

/** The text with every URL in the one spelling that cannot be read differently. */
export function normalizeUrlWords(text: string): string {
  return text.replaceAll(/\S+/g, (word) => (isUrlWord(word) ? (parseUrl(word)?.href ?? word) : word));
}

function invalidWords(message: string): UrlWords {
  return { ok: false, fault: message };
}

function shownWord(word: string): string {
  return oneLine(word, 100);
}
