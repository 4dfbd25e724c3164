import { revealHidden, revealedLine } from './text.js';

/*
 * Markdown for untrusted text. Only inside code does nothing of it mean anything: no HTML, links, images,
 * mentions or references. A fence that is longer than any run of backticks in the text cannot be closed by it.
 */

/** One line of code. Not for table cells, where a backslash before a pipe ends the code. */
export function codeSpan(text: string, width = 200): string {
  const line = revealedLine(text, width);
  if (line === '') return '';
  const ticks = '`'.repeat(longestRun(line) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${ticks}${pad}${line}${pad}${ticks}`;
}

/** A fence around it would be as long. */
const ENDLESS = /`{65,}/g;

/** Text as a block. `language` is ours. */
export function fenced(text: string, language = 'text'): string {
  const shown = revealHidden(text).replaceAll(ENDLESS, ({ length }) => `[${length} backticks]`);
  const ticks = '`'.repeat(Math.max(3, longestRun(shown) + 1));
  return `${ticks}${language}\n${shown}${shown.endsWith('\n') ? '' : '\n'}${ticks}\n`;
}

const PLAIN = /^(?:[A-Za-z0-9 ,.;()%-]|(?<=\w)_(?=\w))*$/;
/** Becomes a link without any punctuation: hosts, commits, issues. */
const REFERENCE = /www\.|\b[\da-f]{7,}\b|\bgh-\d/i;

/** A sentence as it is if nothing in it could have another meaning; otherwise as code. */
export function sentenceOrCode(text: string, width = 400): string {
  const line = revealedLine(text, width);
  return PLAIN.test(line) && !REFERENCE.test(line) ? line : codeSpan(text, width);
}

/** What can be opened. The title is ours. */
export function detailsBlock(title: string, body: string, { open = false } = {}): string {
  return `<details${open ? ' open' : ''}>\n<summary>${title}</summary>\n\n${body}\n</details>\n`;
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
