/** A larger one is not kept for the next text. */
const MAX_KEPT = 1024 * 1024;

/** A text without its line breaks, and where each of its bytes stood before. */
export class View {
  bytes = new Uint8Array(1 << 12);
  size = 0;
  /** Behind how many bytes of the view something was left out, and how much was by then. */
  #places: number[] = [];
  #left: number[] = [];

  /** Makes room for a new text. */
  begin(length: number): Uint8Array {
    const isLarge = this.bytes.length > MAX_KEPT;
    if (this.bytes.length < length || isLarge) this.bytes = new Uint8Array(Math.max(length, 1 << 12));
    this.size = 0;
    if (this.#places.length > 0) [this.#places, this.#left] = [[], []];
    return this.bytes;
  }

  leaveOut(size: number, bytes: number): void {
    const last = this.#places.length - 1;
    const before = last < 0 ? 0 : (this.#left[last] as number);
    if (this.#places[last] === size) {
      this.#left[last] = before + bytes;
      return;
    }
    this.#places.push(size);
    this.#left.push(before + bytes);
  }

  /** Where a byte of the view stands in the text. */
  placeOf(index: number): number {
    let low = 0;
    let high = this.#places.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#places[middle] as number) <= index) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? index : index + (this.#left[low - 1] as number);
  }
}
