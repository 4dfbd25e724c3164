export type LineEnding = '\n' | '\r\n';

/** The ending of all lines of a text; undefined if they differ or there is none. */
export function uniformEnding(text: string): LineEnding | undefined {
  const firstNewline = text.indexOf('\n');
  if (firstNewline < 0) return undefined;
  const crlf = text[firstNewline - 1] === '\r';
  for (let at = firstNewline; at >= 0; at = text.indexOf('\n', at + 1)) {
    if ((text[at - 1] === '\r') !== crlf) return undefined;
  }
  return crlf ? '\r\n' : '\n';
}

export function withEnding(text: string, ending: LineEnding): string {
  const lf = text.replaceAll('\r\n', '\n');
  return ending === '\n' ? lf : lf.replaceAll('\n', '\r\n');
}
