import { sha256 } from './ids.js';

/** Marks where a text begins and ends by a hash of it, which it can hardly contain itself. */
export function fence(kind: string, label: string, text: string): string {
  const mark = `${kind}-${sha256(text).slice(0, 16)}`;
  const end = text.endsWith('\n') ? '' : '\n';
  return `<${mark} name=${JSON.stringify(label)}>\n${text}${end}</${mark}>`;
}
