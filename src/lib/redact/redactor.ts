import { mapTexts } from './deep.js';
import type { Expressions } from './expressions.js';
import { joined, placeholder } from './hits.js';
import { Literals } from './literals.js';
import { Matcher } from './matcher.js';
import type { Secret } from './secrets.js';
import { SHAPES } from './shapes.js';
import { MIN_LENGTH, plainPieces, spellingsOf } from './spellings.js';
import { StreamFilter, type ByteFilter } from './stream.js';

export interface RedactorSources {
  /** Asked for when there is something to look at. */
  readonly secrets: () => readonly Secret[];
  readonly expressions?: Expressions | undefined;
}

/** Up to here a text is looked at before it is copied. */
const SHORT = 1024;

let literals: Literals | undefined;

/** Takes secrets out of whatever is written, printed or sent. */
export class Redactor {
  readonly #sources: RedactorSources;
  #built: Matcher | undefined;
  /** The last long text that had nothing in it: what comes in is written down next. */
  #clean: string | undefined;

  constructor(sources: RedactorSources) {
    this.#sources = sources;
  }

  /** What has no secret in it comes back as it is. */
  text = (text: string): string => {
    const known = this.known(text);
    return this.#sources.expressions?.text(known) ?? known;
  };

  /** The same without the expressions that somebody wrote down. */
  known = (text: string): string => {
    if (text.length < MIN_LENGTH || text === this.#clean) return text;
    if (text.length < SHORT && !this.#matcher.mayHaveHits(text)) return text;
    const bytes = Buffer.from(text);
    const { hits } = this.#matcher.scan(bytes, -1, true);
    if (hits.length === 0) {
      if (text.length >= SHORT) this.#clean = text;
      return text;
    }
    let clean = '';
    let done = 0;
    for (const { start, end, name } of joined(hits)) {
      clean += bytes.toString('utf8', done, start) + placeholder(name);
      done = end;
    }
    return clean + bytes.toString('utf8', done);
  };

  /** All texts in a value, keys included. A value without secrets is the same object. */
  value = <T>(value: T): T => mapTexts(value, this.text);

  /** For bytes that come in pieces. */
  stream(): ByteFilter {
    const known = new StreamFilter(this.#matcher);
    return this.#sources.expressions?.behind(known) ?? known;
  }

  get #matcher(): Matcher {
    if (!this.#built) {
      const needles = needlesOf(this.#sources.secrets());
      literals ??= new Literals(SHAPES);
      this.#built = new Matcher(needles, literals);
    }
    return this.#built;
  }
}

/** Every spelling of every secret, once. Of two that share one, the first gives the name. */
function needlesOf(secrets: readonly Secret[]) {
  const needles = new Map<string, { readonly bytes: Buffer; readonly name: string }>();
  for (const { name, text, part } of secrets) {
    for (const bytes of part ? plainPieces(text) : spellingsOf(text)) {
      const key = bytes.toString('latin1');
      if (!needles.has(key)) needles.set(key, { bytes, name });
    }
  }
  return [...needles.values()];
}
