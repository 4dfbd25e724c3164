import type { Rows } from './rows.js';
import type { Index } from './store.js';

const SLOT = 10;

/** A click on a bar leads to its turn; the pointer shows which one. */
export function listenToCharts(index: Index, rows: Rows): void {
  for (const chart of document.querySelectorAll<SVGSVGElement>('svg.chart')) {
    const turnAt = ({ clientX }: MouseEvent) => {
      const { left, width } = chart.getBoundingClientRect();
      return Math.floor(((clientX - left) / width) * (chart.viewBox.baseVal.width / SLOT));
    };
    const title = document.createElementNS('http://www.w3.org/2000/svg', 'title');
    chart.append(title);
    chart.addEventListener('pointermove', (event) => {
      const item = rows.items[index.turns[turnAt(event)] ?? -1];
      title.textContent = item ? `${shownText(item, 'b')}: ${shownText(item, '.state')}` : '';
    });
    chart.addEventListener('click', (event) => {
      const row = index.turns[turnAt(event)];
      const item = row === undefined ? undefined : rows.items[row];
      const id = item?.querySelector('details')?.id;
      if (id) rows.openNamed(`#${id}`);
    });
  }
}

function shownText(item: HTMLElement, selector: string): string {
  return item.querySelector(selector)?.textContent ?? '';
}
