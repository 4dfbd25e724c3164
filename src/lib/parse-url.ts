/**
 * A URL, or undefined if it is not one. Node's own `URL.canParse` sometimes rejects names beyond ASCII once it has
 * been optimized.
 */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** Without percent-encoding; a text that is not encoded in this way stays as it is. */
export function decodedUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
