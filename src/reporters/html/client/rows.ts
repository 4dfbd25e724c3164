import { detailOf } from './detail.js';
import { byId, element } from './elements.js';
import type { Store } from './store.js';

/** The lines of the list: all of them, those shown, and the content of open ones. */
export class Rows {
  readonly items: readonly HTMLLIElement[];
  readonly #store: Store;
  readonly #numbers = new Map<Element, number>();

  constructor(store: Store) {
    this.#store = store;
    const list = byId('rows');
    this.items = [...list.children] as HTMLLIElement[];
    for (const [i, item] of this.items.entries()) this.#numbers.set(item, i);
    list.addEventListener('toggle', (event) => this.#toggled(event), true);
    // One stop for the Tab key, not thousands: inside the list, other keys move on.
    list.addEventListener('focusin', ({ target }) => this.#stopAt(target));
    const first = this.items[0];
    if (first) summaryOf(first).tabIndex = 0;
  }

  get shown(): HTMLLIElement[] {
    return this.items.filter(({ hidden }) => !hidden);
  }

  /** The number of the row that something is in; -1 if it is not in one. */
  numberOf(node: Node | null): number {
    const item = node instanceof Element ? node.closest('li') : null;
    return (item && this.#numbers.get(item)) ?? -1;
  }

  focus(number: number): void {
    const item = this.items[number];
    if (!item) return;
    summaryOf(item).focus({ preventScroll: true });
    item.scrollIntoView({ block: 'nearest' });
  }

  /** Opens the row that the address names. */
  openNamed(hash: string): void {
    const details = /^#e\d+$/.test(hash) ? document.getElementById(hash.slice(1)) : null;
    if (!(details instanceof HTMLDetailsElement)) return;
    const number = this.numberOf(details);
    const item = this.items[number];
    if (item) item.hidden = false;
    details.open = true;
    this.focus(number);
    item?.scrollIntoView({ block: 'center' });
  }

  #stopAt(target: EventTarget | null): void {
    if (!(target instanceof HTMLElement) || target.tagName !== 'SUMMARY') return;
    for (const before of byId('rows').querySelectorAll<HTMLElement>('li > details > summary[tabindex="0"]'))
      before.tabIndex = -1;
    if (target.parentElement?.parentElement?.tagName === 'LI') target.tabIndex = 0;
  }

  async #toggled({ target }: Event): Promise<void> {
    if (!(target instanceof HTMLDetailsElement) || !target.open || !target.id) return;
    if (target.dataset['filled']) return;
    target.dataset['filled'] = 'yes';
    target.append(await this.#detail(this.numberOf(target)));
  }

  async #detail(number: number): Promise<HTMLElement> {
    try {
      return detailOf(await this.#store.eventsOf(number));
    } catch (error) {
      return element('p', 'detail', `This cannot be shown here: ${String(error)}`);
    }
  }
}

export function summaryOf(item: HTMLLIElement): HTMLElement {
  return item.firstElementChild?.firstElementChild as HTMLElement;
}

/** A state that needs attention. */
export function isTrouble(classes: DOMTokenList): boolean {
  return !['ok', 'info', 'suppressed'].some((quiet) => classes.contains(quiet));
}
