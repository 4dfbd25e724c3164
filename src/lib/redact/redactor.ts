import { mapTexts } from './deep.js';
import type { Expressions } from './expressions.js';
import { joinedHits, placeholder } from './hits.js';
import { Literals } from './literals.js';
import { Matcher, type Needle } from './matcher.js';
import type { Secret } from './secrets.js';
import { SHAPES } from './shapes.js';
import { MIN_LENGTH, spellingPieces, spellingsOf } from './spellings.js';
import { StreamFilter, type ByteFilter } from './stream.js';

export interface RedactorSources {
  /** Asked for when there is something to look at. */
  readonly secrets: () => readonly Secret[];
  readonly expressions?: Expressions | undefined;
}

/** Texts that are remembered, up to so many, and from where on the last one is. */
const SHORT = 64;
const MAX_REMEMBERED = 1000;
const LONG = 1024;
/** Texts up to a size are copied to the same place. */
const SCRATCH_BYTES = 64 * 1024;
/** UTF-8 takes at most this many bytes for one unit of UTF-16. */
const MAX_UTF8 = 3;

let literals: Literals | undefined;

/** Takes secrets out of whatever is written, printed or sent. */
export class Redactor {
  readonly #sources: RedactorSources;
  #built: Matcher | undefined;
  /** Short texts that had nothing in them: names and words come again and again. */
  readonly #clean = new Set<string>();
  /** The last long one: what comes in is written down next. */
  #lastClean: string | undefined;
  #scratch: Buffer | undefined;

  constructor(sources: RedactorSources) {
    this.#sources = sources;
  }

  /** What has no secret in it comes back as it is. */
  text = (text: string): string => {
    const known = this.known(text);
    return this.#sources.expressions?.text(known) ?? known;
  };

  /** The same without the policy's own expressions. */
  known = (text: string): string => {
    if (text.length < MIN_LENGTH || text === this.#lastClean || this.#clean.has(text)) return text;
    const bytes = this.#bytesOf(text);
    const { hits } = this.#matcher.scan(bytes, -1, true);
    if (hits.length === 0) return this.#remember(text);
    let clean = '';
    let done = 0;
    for (const { start, end, name } of joinedHits(hits)) {
      clean += bytes.toString('utf8', done, start) + placeholder(name);
      done = end;
    }
    return clean + bytes.toString('utf8', done);
  };

  /** For as long as nobody else asks. */
  #bytesOf(text: string): Buffer {
    if (text.length * MAX_UTF8 > SCRATCH_BYTES) return Buffer.from(text);
    this.#scratch ??= Buffer.allocUnsafeSlow(SCRATCH_BYTES);
    return this.#scratch.subarray(0, this.#scratch.write(text));
  }

  #remember(clean: string): string {
    if (clean.length >= LONG) this.#lastClean = clean;
    else if (clean.length <= SHORT && this.#clean.size < MAX_REMEMBERED) this.#clean.add(clean);
    return clean;
  }

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
function needlesOf(secrets: readonly Secret[]): Needle[] {
  const needles: Needle[] = [];
  const seen = new Set<string>();
  for (const { name, text, part } of secrets) {
    for (const spelling of part ? [text] : spellingsOf(text)) {
      if (seen.has(spelling)) continue;
      seen.add(spelling);
      for (const bytes of spellingPieces(spelling)) needles.push({ bytes, name });
    }
  }
  return needles;
}
