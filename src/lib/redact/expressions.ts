import { RE2JS } from 're2js';
import { errorMessage } from '../errors.js';
import { placeholder } from './hits.js';
import type { ByteFilter } from './stream.js';

/** Users' expressions meet untrusted text: this engine takes linear time for all of them. */
export interface Expressions {
  text(text: string): string;
  /** Filters the output of another filter. */
  behind(filter: ByteFilter): ByteFilter;
}

const PLACEHOLDER = placeholder('pattern');
/** A longer line is processed in parts of this size. */
const MAX_LINE = 64 * 1024;

/** What is wrong with an expression, or undefined. */
export function expressionFault(source: string): string | undefined {
  try {
    if (RE2JS.compile(source).test('')) return 'it matches the empty text';
    return undefined;
  } catch (error) {
    return errorMessage(error).replace(/^error parsing regexp: /, '');
  }
}

/** Each line is matched on its own. */
export function createExpressions(sources: readonly string[]): Expressions {
  const expressions = sources.map(prepared);

  function text(whole: string): string {
    // Most text has no matches, which is found out fast.
    const found = expressions.filter(({ mayMatch }) => mayMatch(whole));
    if (found.length === 0) return whole;
    return whole
      .split('\n')
      .map((line) => found.reduce((text, { expression }) => replaceIn(text, expression), line))
      .join('\n');
  }

  return { text, behind: (filter) => new LineFilter(filter, text) };
}

/** An expression for one line, and a fast test for many. */
function prepared(source: string) {
  const expression = RE2JS.compile(source);
  const many = RE2JS.compile(source, RE2JS.MULTILINE);
  // Where a text begins and ends is not where its lines do.
  const isSure = !/\\[Az]/.test(source);
  return { expression, mayMatch: (text: string) => !isSure || many.test(text) };
}

function replaceIn(line: string, expression: RE2JS): string {
  const matcher = expression.matcher(line);
  let clean = '';
  let done = 0;
  while (matcher.find()) {
    if (matcher.end() === matcher.start()) continue;
    clean += line.slice(done, matcher.start()) + PLACEHOLDER;
    done = matcher.end();
  }
  return done === 0 ? line : clean + line.slice(done);
}

/** Passes on whole lines. */
class LineFilter implements ByteFilter {
  readonly #before: ByteFilter;
  readonly #change: (text: string) => string;
  #held: Uint8Array[] = [];
  #size = 0;

  constructor(before: ByteFilter, change: (text: string) => string) {
    this.#before = before;
    this.#change = change;
  }

  write(chunk: Uint8Array): Uint8Array {
    return this.#take(this.#before.write(chunk), false);
  }

  end(): Uint8Array {
    return this.#take(this.#before.end(), true);
  }

  #take(bytes: Uint8Array, final: boolean): Uint8Array {
    const lines = bytes.lastIndexOf(10) + 1;
    const isEnough = final || (lines === 0 && this.#size + bytes.length > MAX_LINE);
    const end = isEnough ? bytes.length : lines;
    const whole = Buffer.concat([...(end > 0 || final ? this.#held.splice(0) : []), bytes.subarray(0, end)]);
    if (this.#held.length === 0) this.#size = 0;
    if (end < bytes.length) {
      this.#held.push(bytes.slice(end));
      this.#size += bytes.length - end;
    }
    const text = whole.toString('utf8');
    const clean = this.#change(text);
    // What is not text stays as it is.
    return clean === text ? whole : Buffer.from(clean);
  }
}
