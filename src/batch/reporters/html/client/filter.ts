import { byId } from '../../../../reporters/html/client/elements.js';
import type { Details } from './details.js';

/** Which tasks are shown, and in which order. */
export class Filter {
  readonly #details: Details;
  readonly #form = byId<HTMLFormElement>('filters');
  readonly #list = byId<HTMLOListElement>('rows');
  readonly #rows = [...this.#list.children] as HTMLLIElement[];
  #order = '';

  constructor(details: Details) {
    this.#details = details;
    this.#form.hidden = false;
    this.#form.addEventListener('input', () => this.apply());
    this.#form.addEventListener('submit', (event) => event.preventDefault());
    for (const button of document.querySelectorAll<HTMLButtonElement>('.show-class')) {
      button.hidden = false;
      button.addEventListener('click', () => this.#showClass(button.dataset['class'] ?? ''));
    }
    this.apply();
  }

  clear(): void {
    this.#form.reset();
    this.apply();
  }

  apply(): void {
    const form = new FormData(this.#form);
    const [state, kind, stability] = ['state', 'class', 'stability'].map((name) => form.get(name));
    const [cost, time] = [Number(form.get('cost')), Number(form.get('time'))];
    const words = byId<HTMLInputElement>('query').value.trim().toLowerCase();
    let shown = 0;
    for (const [i, row] of this.#rows.entries()) {
      const { dataset, classList } = row;
      const fits =
        (!state || classList.contains(String(state))) &&
        (!kind || dataset['class'] === kind) &&
        (!stability || dataset['stability'] === stability) &&
        Number(dataset['cost']) >= cost &&
        Number(dataset['time']) >= time &&
        (!words || this.#says(row, i, words));
      row.hidden = !fits;
      if (fits) shown++;
    }
    this.#sort(String(form.get('order') ?? ''));
    const all = this.#rows.length.toLocaleString('en');
    byId('count').textContent = `${shown.toLocaleString('en')} of ${all}`;
    byId('nothing').hidden = shown > 0;
  }

  #says(row: HTMLLIElement, i: number, words: string): boolean {
    if ((row.textContent ?? '').toLowerCase().includes(words)) return true;
    return (this.#details.all[i] ?? []).some(([, value]) => value.toLowerCase().includes(words));
  }

  /** Only on change: moving thousands of lines at every keystroke is slow. */
  #sort(order: string): void {
    if (order === this.#order) return;
    this.#order = order;
    const by = (row: HTMLLIElement) => Number(row.dataset[order]);
    this.#list.append(...(order === '' ? this.#rows : this.#rows.toSorted((a, b) => by(b) - by(a))));
  }

  #showClass(name: string): void {
    this.#form.reset();
    const select = this.#form.querySelector<HTMLSelectElement>('select[name=class]');
    if (select) select.value = name;
    this.apply();
    byId('tasks').scrollIntoView();
  }
}
