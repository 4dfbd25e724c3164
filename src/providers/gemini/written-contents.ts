import type { Content } from '../../protocol/content.js';

/** Contents up to this size share blocks; longer ones have their own. */
const SMALL_BYTES = 16 * 1024;
const BLOCK_BYTES = 64 * 1024;

/**
 * A conversation as sent. Each content is serialised once, after the one before it: a history of hundreds of
 * turns is neither serialised nor joined again every turn.
 */
export class WrittenContents {
  #contents: Content[] = [];
  #whole: Buffer[] = [];
  #block: Buffer | undefined;
  #used = 0;

  /** The bytes of all contents, separated by commas, in few pieces. What was returned before stays as it is. */
  pieces(contents: readonly Content[]): Buffer[] {
    if (!this.#isPrefixOf(contents)) this.#forget();
    for (let i = this.#contents.length; i < contents.length; i++) this.#add(contents[i] as Content, i > 0);
    return this.#block ? [...this.#whole, this.#block.subarray(0, this.#used)] : [...this.#whole];
  }

  #isPrefixOf(contents: readonly Content[]): boolean {
    return this.#contents.every((content, i) => content === contents[i]);
  }

  /** A compressed history begins differently. */
  #forget(): void {
    this.#contents = [];
    this.#whole = [];
    this.#block = undefined;
  }

  #add(content: Content, isNext: boolean): void {
    const json = JSON.stringify(content);
    const text = isNext ? `,${json}` : json;
    const size = Buffer.byteLength(text);
    if (size > SMALL_BYTES) {
      this.#closeBlock();
      this.#whole.push(Buffer.from(text));
    } else {
      if (this.#used + size > BLOCK_BYTES) this.#closeBlock();
      this.#openBlock().write(text, this.#used);
      this.#used += size;
    }
    this.#contents.push(content);
  }

  #openBlock(): Buffer {
    if (!this.#block) this.#used = 0;
    return (this.#block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES));
  }

  #closeBlock(): void {
    if (this.#block) this.#whole.push(this.#block.subarray(0, this.#used));
    this.#block = undefined;
    this.#used = 0;
  }
}
