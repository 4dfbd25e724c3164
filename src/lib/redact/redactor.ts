import { mapTexts } from './map-texts.js';
import type { Expressions } from './expressions.js';
import { joinedHits, placeholder } from './hits.js';
import { Literals } from './literals.js';
import { Matcher, type Needle } from './matcher.js';
import type { Secret } from './secrets.js';
import { SHAPES } from './shapes.js';
import { MIN_LENGTH, spellingPieces, spellingsOf } from './spellings.js';
import { StreamFilter, type ByteFilter } from './stream.js';

export interface RedactorSources {
  /** Called when there is something to redact. */
  readonly secrets: () => readonly Secret[];
  readonly expressions?: Expressions | undefined;
}

/** Up to which length and number texts are remembered; from which length the last is. */
const SHORT = 64;
const MAX_REMEMBERED = 1000;
const LONG = 1024;
/** Texts up to this size share one buffer. */
const SCRATCH_BYTES = 64 * 1024;
/** UTF-8 takes at most this many bytes for one unit of UTF-16. */
const MAX_UTF8 = 3;

let literals: Literals | undefined;

/** Removes secrets from everything that is written, printed or sent. */
export class Redactor {
  readonly #sources: RedactorSources;
  #built: Matcher | undefined;
  /** Short texts without secrets: names and words are frequent. */
  readonly #clean = new Set<string>();
  /** The last long one: it is often written right after it came in. */
  #lastClean: string | undefined;
  #scratch: Buffer | undefined;

  constructor(sources: RedactorSources) {
    this.#sources = sources;
  }

  /** A text without secrets is returned as it is. */
  text = (text: string): string => {
    const known = this.known(text);
    return this.#sources.expressions?.text(known) ?? known;
  };

  /** Like `text`, without the policy's own expressions. */
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

  /** Valid until the next call. */
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

  /** For bytes in pieces. */
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

/** Every spelling of every secret, once. If two share one, the first gives the name. */
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
