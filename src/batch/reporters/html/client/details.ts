import { byId, element, pairs } from '../../../../reporters/html/client/elements.js';
import type { Detail } from '../detail.js';

/** What is below the line of a task, made when it is opened. */
export class Details {
  #all: readonly Detail[] | undefined;

  constructor() {
    byId('rows').addEventListener('toggle', ({ target }) => this.#fill(target), true);
  }

  /** Read on first use: with thousands of tasks that takes longest. */
  get all(): readonly Detail[] {
    this.#all ??= JSON.parse(byId('details').textContent ?? '[]') as readonly Detail[];
    return this.#all;
  }

  #fill(target: EventTarget | null): void {
    if (!(target instanceof HTMLDetailsElement) || !target.open || target.dataset['filled']) return;
    target.dataset['filled'] = 'yes';
    const detail = this.all[Number(target.id.slice(1))] ?? [];
    target.append(element('div', 'detail', pairs(detail)));
  }
}
