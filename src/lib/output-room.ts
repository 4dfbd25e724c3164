/** The disk space that the outputs of a run share. What is taken stays taken. */
export class OutputRoom {
  readonly limit: number;
  #left: number;

  constructor(limit: number, taken = 0) {
    this.limit = limit;
    this.#left = Math.max(0, limit - taken);
  }

  /** How many of these bytes fit. */
  take(bytes: number): number {
    const taken = Math.min(bytes, this.#left);
    this.#left -= taken;
    return taken;
  }
}

export const UNBOUNDED = new OutputRoom(Infinity);
