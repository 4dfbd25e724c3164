import { byId } from './elements.js';
import type { Filter } from './filter.js';
import { isTrouble, type Rows } from './rows.js';
import type { TimeWindow, Zoom } from './time-window.js';

export interface Keyed {
  readonly rows: Rows;
  readonly filter: Filter;
  readonly time: TimeWindow;
  readonly changeTheme: () => void;
}

/** Everything works from the keyboard. Keys with modifiers belong to the browser. */
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
  // In the page's own controls the arrow keys belong to the browser.
  if (key.startsWith('Arrow') && !inRow) return false;
  const action = ACTIONS.get(key);
  action?.(page, help);
  return action !== undefined;
}

type Action = (page: Keyed, help: HTMLDialogElement) => void;

const ACTIONS = new Map<string, Action>([
  ['j', (page) => step(page, 1)],
  ['k', (page) => step(page, -1)],
  ['ArrowDown', (page) => step(page, 1)],
  ['ArrowUp', (page) => step(page, -1)],
  ['n', (page) => step(page, 1, inTrouble)],
  ['p', (page) => step(page, -1, inTrouble)],
  ['g', (page) => goTo(page, page.rows.shown[0])],
  ['G', (page) => goTo(page, page.rows.shown.at(-1))],
  [
    '/',
    ({ filter }) => {
      filter.query.focus();
      filter.query.select();
    },
  ],
  ['Escape', ({ filter }) => filter.clear()],
  ['d', ({ changeTheme }) => changeTheme()],
  ['?', (_page, help) => help.showModal()],
  ...zoomKeys('+=', 'in'),
  ...zoomKeys('-', 'out'),
  ...zoomKeys('0', 'all'),
  ...zoomKeys('[', 'back'),
  ...zoomKeys(']', 'on'),
]);

function zoomKeys(keys: string, zoom: Zoom): [string, Action][] {
  return [...keys].map((key) => [key, ({ time }) => time.zoom(zoom)]);
}

const inTrouble = ({ classList }: HTMLElement) => isTrouble(classList);

/** To the next shown row that is wanted, from the focused one. */
function step({ rows }: Keyed, by: 1 | -1, wanted: (item: HTMLElement) => boolean = () => true): void {
  const now = rows.numberOf(document.activeElement);
  const from = now < 0 && by < 0 ? rows.items.length : now;
  for (let i = from + by; i >= 0 && i < rows.items.length; i += by) {
    const item = rows.items[i];
    if (!item || item.hidden || !wanted(item)) continue;
    rows.focus(i);
    return;
  }
}

function goTo({ rows }: Keyed, item: HTMLElement | undefined): void {
  rows.focus(rows.numberOf(item ?? null));
}
