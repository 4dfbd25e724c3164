import { formatDuration } from '../../../lib/duration.js';
import { byId } from './elements.js';
import type { Rows } from './rows.js';
import type { Index } from './store.js';

const SMALLEST_MS = 1;
const STRIP_WIDTH = 1000;
/** A click is not a drag. */
const SMALLEST_DRAG = 4;

export type Zoom = 'in' | 'out' | 'back' | 'on' | 'all';

/** The selected part of the time: chosen on the strip, and filled by the bars of the list. */
export class TimeWindow {
  readonly #index: Index;
  readonly #rows: Rows;
  #bars: readonly (SVGRectElement | null)[] | undefined;
  readonly #onChange: (from: number, to: number) => void;
  #from = 0;
  #to: number;

  constructor(index: Index, rows: Rows, onChange: (from: number, to: number) => void) {
    this.#index = index;
    this.#to = index.total;
    this.#onChange = onChange;
    this.#rows = rows;
    this.#listen();
  }

  zoom(how: Zoom): void {
    const { total } = this.#index;
    const width = this.#to - this.#from;
    const middle = this.#from + width / 2;
    const moves = {
      in: [middle - width / 4, middle + width / 4],
      out: [middle - width, middle + width],
      back: [this.#from - width / 2, this.#to - width / 2],
      on: [this.#from + width / 2, this.#to + width / 2],
      all: [0, total],
    } as const;
    this.#show(...(moves[how] as readonly [number, number]));
  }

  #show(from: number, to: number): void {
    const { total } = this.#index;
    const width = Math.min(Math.max(to - from, SMALLEST_MS), total);
    this.#from = Math.min(Math.max(0, from), total - width);
    this.#to = this.#from + width;
    this.#draw();
    this.#onChange(this.#from, this.#to);
  }

  #draw(): void {
    const from = this.#from;
    const width = this.#to - from || 1;
    this.#bars ??= this.#rows.items.map((item) => item.querySelector<SVGRectElement>('svg.bar > rect'));
    for (const [i, bar] of this.#bars.entries()) {
      const [start = 0, end = 0] = this.#index.rows[i] ?? [];
      bar?.setAttribute('x', `${((start - from) / width) * 100}%`);
      bar?.setAttribute('width', `${((end - start) / width) * 100}%`);
    }
    const place = (ms: number) => (ms / (this.#index.total || 1)) * STRIP_WIDTH;
    const [before, after] = byId('strip').querySelectorAll('.shade');
    before?.setAttribute('width', String(place(from)));
    after?.setAttribute('x', String(place(this.#to)));
    after?.setAttribute('width', String(STRIP_WIDTH - place(this.#to)));
    const all = width >= this.#index.total;
    byId('window').textContent = all ? '' : `${formatDuration(from)} to ${formatDuration(this.#to)}`;
  }

  #listen(): void {
    const strip = byId('strip');
    const zoom = strip.parentElement?.querySelector<HTMLElement>('.zoom');
    if (zoom) zoom.hidden = false;
    zoom?.addEventListener('click', ({ target }) => {
      const how = target instanceof HTMLElement ? target.dataset['zoom'] : undefined;
      if (how) this.zoom(how as Zoom);
    });
    let began: number | undefined;
    const timeAt = ({ clientX }: PointerEvent) => {
      const { left, width } = strip.getBoundingClientRect();
      return Math.min(1, Math.max(0, (clientX - left) / width)) * this.#index.total;
    };
    strip.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      began = event.clientX;
      const start = timeAt(event);
      strip.setPointerCapture(event.pointerId);
      strip.addEventListener(
        'pointerup',
        (end) => {
          const from = Math.min(start, timeAt(end));
          const to = Math.max(start, timeAt(end));
          if (began !== undefined && Math.abs(end.clientX - began) >= SMALLEST_DRAG) this.#show(from, to);
        },
        { once: true },
      );
    });
  }
}
