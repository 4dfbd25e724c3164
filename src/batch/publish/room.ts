import { count } from '../../lib/text.js';
import type { Pulls } from './github/pulls.js';

const HOUR_MS = 3_600_000;

export interface RoomLimits {
  readonly maxOpen: number;
  /** 0 for no limit. */
  readonly perHour: number;
}

/** Why there is no room for another pull request, and when there will be, if that is known. */
export interface NoRoom {
  readonly reason: string;
  readonly againAt?: Date;
}

/** How many more pull requests may be opened. GitHub has the numbers, so that a fresh machine knows them, too. */
export class Room {
  readonly #limits: RoomLimits;
  #open: number;
  /** When those of the last hour were created, the newest first. */
  readonly #created: number[];

  private constructor(limits: RoomLimits, open: number, created: readonly number[]) {
    this.#limits = limits;
    this.#open = open;
    this.#created = [...created];
  }

  static async of(pulls: Pulls | undefined, limits: RoomLimits): Promise<Room> {
    const { open, created } = (await pulls?.recent()) ?? { open: 0, created: [] };
    return new Room(limits, open, created);
  }

  missing(): NoRoom | undefined {
    const { maxOpen, perHour } = this.#limits;
    if (this.#open >= maxOpen)
      return { reason: `${count(this.#open, 'pull request')} of Bosun are open (--max-open ${maxOpen})` };
    if (perHour === 0 || this.#created.length < perHour) return undefined;
    const last = this.#created[perHour - 1] ?? Date.now();
    const reason = `${count(this.#created.length, 'pull request')} were opened in the last hour (--per-hour ${perHour})`;
    return { reason, againAt: new Date(last + HOUR_MS) };
  }

  take(): void {
    this.#open++;
    this.#created.unshift(Date.now());
  }
}
