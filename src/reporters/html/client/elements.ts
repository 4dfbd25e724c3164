import { revealCharacters } from '../visible.js';

export type Child = Node | string | undefined | false;

/** An element with children. Text stays text: nothing that a model or a tool said is read as HTML. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  className: string,
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  if (className) made.className = className;
  for (const child of children) {
    if (child === undefined || child === false || child === '') continue;
    made.append(typeof child === 'string' ? revealCharacters(child) : child);
  }
  return made;
}

/** An element that the page always has. */
export function byId<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
}

/** A heading with something below it. */
export function block(title: string, ...children: readonly Child[]): HTMLElement {
  return element('section', 'block', element('h4', '', title), ...children);
}

/** Names and values. */
export function pairs(entries: readonly (readonly [string, Child])[]): HTMLElement {
  const list = element('dl', 'pairs');
  for (const [name, value] of entries) {
    if (value === undefined || value === false || value === '') continue;
    list.append(element('div', '', element('dt', '', name), element('dd', '', value)));
  }
  return list;
}
