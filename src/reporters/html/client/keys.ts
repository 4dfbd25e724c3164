import { byId } from './elements.js';
import type { Filter } from './filter.js';
import { isTrouble, type Rows } from './rows.js';
import type { TimeWindow, Zoom } from './time-window.js';

const ZOOMS: Readonly<Record<string, Zoom>> = {
  '+': 'in',
  '=': 'in',
  '-': 'out',
  '0': 'all',
  '[': 'back',
  ']': 'on',
};

export interface Keyed {
  readonly rows: Rows;
  readonly filter: Filter;
  readonly time: TimeWindow;
  readonly changeTheme: () => void;
}

/** Everything can be done from the keyboard. Keys with modifiers are the browser's. */
export function listenToKeys(page: Keyed): void {
  const help = byId<HTMLDialogElement>('help');
  const button = byId('help-button');
  button.hidden = false;
  button.addEventListener('click', () => help.showModal());
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (typing ? leaveSearch(event, page) : pressed(event, page, help)) event.preventDefault();
  });
}

/** From the search field: out of it, or down to what was found. */
function leaveSearch({ key, target }: KeyboardEvent, { filter, rows }: Keyed): boolean {
  if (target !== filter.query) return false;
  if (key === 'Escape') {
    filter.clear();
    filter.query.blur();
    return true;
  }
  if (key !== 'Enter' && key !== 'ArrowDown') return false;
  rows.focus(rows.numberOf(rows.shown[0] ?? null));
  return true;
}

function pressed({ key, target }: KeyboardEvent, page: Keyed, help: HTMLDialogElement): boolean {
  const inRow =
    target instanceof HTMLElement && target.tagName === 'SUMMARY' && page.rows.numberOf(target) >= 0;
  switch (key) {
    case 'j':
      return step(page, 1);
    case 'k':
      return step(page, -1);
    case 'ArrowDown':
      return inRow && step(page, 1);
    case 'ArrowUp':
      return inRow && step(page, -1);
    case 'n':
      return step(page, 1, inTrouble);
    case 'p':
      return step(page, -1, inTrouble);
    case 'g':
      return goTo(page, page.rows.shown[0]);
    case 'G':
      return goTo(page, page.rows.shown.at(-1));
    case '/':
      page.filter.query.focus();
      page.filter.query.select();
      return true;
    case 'Escape':
      page.filter.clear();
      return true;
    case 'd':
      page.changeTheme();
      return true;
    case '?':
      help.showModal();
      return true;
    default: {
      const zoom = ZOOMS[key];
      if (zoom) page.time.zoom(zoom);
      return zoom !== undefined;
    }
  }
}

const inTrouble = ({ classList }: HTMLElement) => isTrouble(classList);

/** To the next shown row that is wanted, from the one that has the focus. */
function step({ rows }: Keyed, by: 1 | -1, wanted: (item: HTMLElement) => boolean = () => true): boolean {
  const now = rows.numberOf(document.activeElement);
  const from = now < 0 && by < 0 ? rows.items.length : now;
  for (let i = from + by; i >= 0 && i < rows.items.length; i += by) {
    const item = rows.items[i];
    if (!item || item.hidden || !wanted(item)) continue;
    rows.focus(i);
    return true;
  }
  return true;
}

function goTo({ rows }: Keyed, item: HTMLElement | undefined): boolean {
  rows.focus(rows.numberOf(item ?? null));
  return true;
}
