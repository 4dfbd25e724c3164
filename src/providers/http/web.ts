/**
 * The few parts of the Fetch API that @google/genai uses. Node's own load its whole HTTP client as soon as
 * they are named; the build replaces them with these.
 */
export class Headers {
  readonly #entries = new Map<string, string>();

  append(name: string, value: string): void {
    const key = name.toLowerCase();
    const before = this.#entries.get(key);
    this.#entries.set(key, before === undefined ? String(value) : `${before}, ${value}`);
  }

  set(name: string, value: string): void {
    this.#entries.set(name.toLowerCase(), String(value));
  }

  get(name: string): string | null {
    return this.#entries.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#entries.has(name.toLowerCase());
  }

  entries(): IterableIterator<[string, string]> {
    return this.#entries.entries();
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.#entries.entries();
  }
}

interface ResponseInit {
  readonly headers: Headers;
  readonly status: number;
  readonly statusText: string;
}

/** One event of a stream, wrapped by the SDK as if it were a response of its own. */
export class Response {
  readonly #body: string;
  readonly headers: Headers;
  readonly status: number;
  readonly statusText: string;

  constructor(body: string, init: ResponseInit) {
    this.#body = body;
    this.headers = init.headers;
    this.status = init.status;
    this.statusText = init.statusText;
  }

  async json(): Promise<unknown> {
    return JSON.parse(this.#body) as unknown;
  }
}
