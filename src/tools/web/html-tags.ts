/** The place of a tag's `>`; -1 if there is none. Quotes count only where a value begins. */
export function endOfTag(html: string, from: number): number {
  let at = from;
  while (at < html.length) {
    const next = nextOf(html, at);
    if (next < 0) return -1;
    const found = html[next] as string;
    if (found === '>') return next;
    const close = /=\s*$/.test(html.slice(Math.max(from, next - 20), next))
      ? html.indexOf(found, next + 1)
      : next;
    if (close < 0) return -1;
    at = close + 1;
  }
  return -1;
}

/** The next `>` or quote. */
function nextOf(html: string, from: number): number {
  const pattern = /[>"']/g;
  pattern.lastIndex = from;
  return pattern.exec(html)?.index ?? -1;
}

/** Nobody needs more attributes than fit into this. */
const MAX_ATTRIBUTES = 8192;

/** The value of an attribute, as it is written. */
export function attributeOf(attributes: string, wanted: string): string | undefined {
  const pattern = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+)))?/g;
  for (const [, name, double, single, bare] of attributes.slice(0, MAX_ATTRIBUTES).matchAll(pattern)) {
    if (name?.toLowerCase() === wanted) return double ?? single ?? bare ?? '';
  }
  return undefined;
}
