/**
 * A URL, or undefined if it is none. Node's own `URL.canParse` now and then refuses names beyond ASCII once it has
 * been optimized.
 */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
