import { element } from './elements.js';

const SHOWN_LINES = 1000;

/** A unified diff with its lines in colour. */
export function diffBlock(diff: string): HTMLElement {
  const lines = diff.replace(/\n$/, '').split('\n');
  const pre = element('pre', 'code diff');
  const add = (some: readonly string[]) =>
    pre.append(...some.map((line) => element('span', lineKind(line), line, '\n')));
  add(lines.slice(0, SHOWN_LINES));
  const rest = lines.slice(SHOWN_LINES);
  if (rest.length === 0) return pre;
  const more = element('button', 'more', `Show ${rest.length.toLocaleString('en')} more lines`);
  more.type = 'button';
  more.addEventListener('click', () => {
    add(rest);
    more.remove();
  });
  return element('div', '', pre, more);
}

function lineKind(line: string): string {
  if (line.startsWith('@@')) return 'hunk';
  if (/^(?:---|\+\+\+|diff |index )/.test(line)) return 'file';
  if (line.startsWith('+')) return 'plus';
  return line.startsWith('-') ? 'minus' : 'same';
}
