import { element } from './elements.js';

const SHOWN_CHARACTERS = 20_000;
const FOLDED_CHARACTERS = 600;
const FOLDED_LINES = 12;

/** Text as printed. A long text shows its beginning, and the rest on demand. */
export function longText(text: string, className = 'code'): HTMLElement {
  if (text.length <= SHOWN_CHARACTERS * 1.2) return element('pre', className, text);
  const head = element('pre', className, text.slice(0, SHOWN_CHARACTERS));
  const rest = (text.length - SHOWN_CHARACTERS).toLocaleString('en');
  const more = element('button', 'more', `Show ${rest} more characters`);
  more.type = 'button';
  const both = element('div', '', head, more);
  more.addEventListener('click', () => both.replaceWith(element('pre', className, text)));
  return both;
}

/** A long text, folded if it would push everything else away. */
export function foldedText(name: string, text: string): HTMLElement {
  const lines = text.split('\n').length;
  if (text.length <= FOLDED_CHARACTERS && lines <= FOLDED_LINES) return longText(text);
  const size = `${text.length.toLocaleString('en')} characters, ${lines.toLocaleString('en')} lines`;
  return folded(`${name} (${size})`, () => longText(text));
}

/** Content below a title, made when it is opened. */
export function folded(title: string, make: () => HTMLElement): HTMLElement {
  const details = element('details', 'fold', element('summary', '', title));
  details.addEventListener('toggle', () => details.append(make()), { once: true });
  return details;
}
