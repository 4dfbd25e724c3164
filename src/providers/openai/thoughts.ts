type Fields = Record<string, unknown>;

/** The names under which servers send thoughts as text. Some send the same text under two of them. */
const TEXTS = ['reasoning_content', 'reasoning'] as const;

/** Collects thoughts: once for people to read, and once as they came, to be sent back. */
export class Thoughts {
  readonly #texts = new Map<string, string[]>();
  readonly #details: Fields[] = [];
  readonly #read: string[] = [];

  add(delta: Readonly<Fields>): void {
    const [first] = TEXTS.flatMap((name) => this.#addText(name, delta[name]));
    if (first !== undefined) this.#read.push(first);
    const details = delta['reasoning_details'];
    if (Array.isArray(details)) for (const detail of details) this.#addDetail(detail);
  }

  /** Thoughts among the pieces of the answer, without a field of their own. */
  addReadable(text: string): void {
    this.#read.push(text);
  }

  get text(): string {
    return this.#read.join('');
  }

  /** The fields of a message that hold them, or undefined if there are none. */
  get fields(): Readonly<Fields> | undefined {
    const fields: Fields = {};
    for (const [name, pieces] of this.#texts) fields[name] = pieces.join('');
    if (this.#details.length > 0) fields['reasoning_details'] = this.#details;
    return Object.keys(fields).length > 0 ? fields : undefined;
  }

  #addText(name: string, value: unknown): string[] {
    if (typeof value !== 'string' || value === '') return [];
    const pieces = this.#texts.get(name);
    if (pieces) pieces.push(value);
    else this.#texts.set(name, [value]);
    return [value];
  }

  /** Text is streamed in pieces of one numbered block; everything else comes as a block of its own. */
  #addDetail(detail: unknown): void {
    if (typeof detail !== 'object' || detail === null) return;
    const fresh = detail as Fields;
    const last = this.#details.at(-1);
    const goesOn = last && typeof fresh['text'] === 'string' && typeof fresh['index'] === 'number';
    if (!goesOn || last['type'] !== fresh['type'] || last['index'] !== fresh['index']) {
      this.#details.push({ ...fresh });
      return;
    }
    const text = `${String(last['text'] ?? '')}${fresh['text']}`;
    for (const [name, value] of Object.entries(fresh)) if (value !== null) last[name] = value;
    last['text'] = text;
  }
}
