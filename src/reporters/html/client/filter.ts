import { byId } from './elements.js';
import { isTrouble, type Rows } from './rows.js';
import type { Store } from './store.js';

const MOST_OPENED = 200;
const TYPING_MS = 120;

/** Shows the rows that match all of: words, tool, state, decision, kind, and part of the time. */
export class Filter {
  readonly query = byId<HTMLInputElement>('query');
  readonly #form = byId<HTMLFormElement>('filters');
  readonly #rows: Rows;
  readonly #store: Store;
  #from = 0;
  #to: number;
  /** The number of this search: answers to an earlier one are dropped. */
  #round = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(rows: Rows, store: Store) {
    this.#rows = rows;
    this.#store = store;
    this.#to = store.index.total;
    this.#form.hidden = false;
    this.#form.addEventListener('submit', (event) => event.preventDefault());
    this.#form.addEventListener('change', () => void this.apply());
    this.query.addEventListener('input', () => {
      this.#setBusy(true);
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.apply(), TYPING_MS);
    });
    byId('open-all').addEventListener('click', () => this.#openAll());
    this.#say(rows.items.length);
  }

  setTime(from: number, to: number): void {
    this.#from = from;
    this.#to = to;
    void this.apply();
  }

  /** Matches that need no unpacking are shown at once; the packed ones follow. */
  async apply(): Promise<void> {
    const round = ++this.#round;
    const wanted = wordsPattern(this.query.value);
    const fit = this.#chosen();
    const candidates: number[] = [];
    let shown = 0;
    for (const [i, item] of this.#rows.items.entries()) {
      const fits = fit(item) && this.#inTime(i);
      const found =
        fits && (!wanted || wanted.test(item.firstElementChild?.firstElementChild?.textContent ?? ''));
      if (fits && !found) candidates.push(i);
      item.hidden = !found;
      if (found) shown++;
    }
    this.#say(shown, candidates.length > 0);
    if (wanted) shown = await this.#lookInside(candidates, wanted, round, shown);
    if (round !== this.#round) return;
    this.#say(shown);
    this.#setBusy(false);
  }

  clear(): void {
    this.#form.reset();
    void this.apply();
  }

  async #lookInside(
    candidates: readonly number[],
    wanted: RegExp,
    round: number,
    shown: number,
  ): Promise<number> {
    for (const i of candidates) {
      const events = await this.#store.eventsOf(i);
      if (round !== this.#round) return shown;
      if (!contains(events, wanted)) continue;
      (this.#rows.items[i] as HTMLElement).hidden = false;
      shown++;
    }
    return shown;
  }

  /** Whether a row matches the lists. */
  #chosen(): (item: HTMLLIElement) => boolean {
    const form = new FormData(this.#form);
    const [tool, state, decision, kind] = ['tool', 'state', 'decision', 'kind'].map((name) => form.get(name));
    return ({ dataset, classList }) => {
      if (tool && dataset['tool'] !== tool) return false;
      if (decision && dataset['decision'] !== decision) return false;
      if (kind && !classList.contains(String(kind))) return false;
      return !state || (state === 'problem' ? isTrouble(classList) : classList.contains(String(state)));
    };
  }

  #inTime(row: number): boolean {
    const [start, end] = this.#store.index.rows[row] ?? [0, 0];
    return end >= this.#from && start <= this.#to;
  }

  #setBusy(busy: boolean): void {
    byId('rows').setAttribute('aria-busy', String(busy));
  }

  #say(shown: number, stillLooking = false): void {
    const all = this.#rows.items.length.toLocaleString('en');
    const text = `${shown.toLocaleString('en')} of ${all}${stillLooking ? ', looking inside …' : ''}`;
    byId('count').textContent = text;
    byId('nothing').hidden = shown > 0 || stillLooking;
    byId('open-all').textContent = shown > MOST_OPENED ? `Open first ${MOST_OPENED}` : 'Open all';
  }

  #openAll(): void {
    const shown = this.#rows.shown.slice(0, MOST_OPENED).map((item) => item.querySelector('details'));
    const open = shown.some((details) => details && !details.open);
    for (const details of shown) if (details) details.open = open;
    if (open) byId('open-all').textContent = 'Close all';
    else this.#say(this.#rows.shown.length);
  }
}

function wordsPattern(text: string): RegExp | undefined {
  const plain = text.trim().replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return plain === '' ? undefined : new RegExp(plain, 'iu');
}

function contains(value: unknown, wanted: RegExp): boolean {
  if (typeof value === 'string') return wanted.test(value);
  if (typeof value !== 'object' || value === null) return wanted.test(String(value));
  return Object.values(value).some((inner) => contains(inner, wanted));
}
