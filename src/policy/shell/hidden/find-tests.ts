import { fnmatch } from '../../../lib/fnmatch.js';
import { wordsOf } from '../../../lib/text.js';
import type { FolderEntry } from './disk.js';

/** How find treats a path. */
interface TestResult {
  /** Undefined if that depends on more than is checked here. */
  readonly result: boolean | undefined;
  /** Whether it may be printed, or passed to a command. */
  readonly acts: boolean;
  /** Whether find certainly does not look below it. */
  readonly prunes: boolean;
}

type FoundPath = Pick<FolderEntry, 'name' | 'type'> & { /** As find prints it. */ readonly path: string };
type Test = (found: FoundPath) => TestResult;

/** A call of find, as far as that decides which paths it finds. */
export interface FindCall {
  readonly roots: readonly string[];
  readonly follows: boolean;
  readonly maxDepth: number;
  readonly lists: (found: FoundPath) => boolean;
  readonly enters: (found: FoundPath) => boolean;
  /** It only prints paths. */
  readonly printsPaths: boolean;
}

const ONE_VALUE = new Set(
  wordsOf(`
    -regex -iregex -lname -ilname -xtype -size -mtime -mmin -atime -amin -ctime -cmin -newer -anewer -cnewer -perm
    -user -group -uid -gid -links -inum -samefile -fstype -mindepth -regextype -used
  `),
);
const NO_VALUE = new Set(
  wordsOf(`
    -empty -readable -writable -executable -nouser -nogroup -daystart -depth -mount -xdev -noleaf
    -ignore_readdir_race -noignore_readdir_race -quit
  `),
);
const RUNS = new Set(wordsOf('-exec -execdir -ok -okdir'));
const ACTIONS = new Set([...RUNS, ...wordsOf('-print -print0 -printf -ls -delete')]);
const END_OF_ROOTS = /^(-.+|[(),!])$/;

const testResult = (result: boolean | undefined, acts = false, prunes = false): TestResult => ({
  result,
  acts,
  prunes,
});
const ACTS = testResult(true, true);
const PERHAPS = testResult(undefined);

/** Reads the words after `find`. Undefined if they are not known, or not understood. */
export function readFind(words: readonly (string | undefined)[]): FindCall | undefined {
  const rest = [...words];
  let follows = false;
  while (/^-(H|L|P|O\d)$/.test(rest[0] ?? '')) follows = rest.shift() === '-L' || follows;
  const end = rest.findIndex((word) => word === undefined || END_OF_ROOTS.test(word));
  const roots = rest.splice(0, end < 0 ? rest.length : end) as string[];
  const reader = new TestReader(rest);
  const test = reader.whole();
  if (!test) return undefined;
  const hasAction = rest.some((word) => ACTIONS.has(word ?? ''));
  return {
    roots: roots.length > 0 ? roots : ['.'],
    follows: follows || rest.includes('-follow'),
    maxDepth: reader.maxDepth,
    lists: (found) => (hasAction ? test(found).acts : test(found).result !== false),
    enters: (found) => !test(found).prunes,
    printsPaths: reader.printsPaths,
  };
}

class TestReader {
  readonly #words: readonly (string | undefined)[];
  #at = 0;
  maxDepth = Infinity;
  printsPaths = true;

  constructor(words: readonly (string | undefined)[]) {
    this.#words = words;
  }

  whole(): Test | undefined {
    if (this.#words.length === 0) return () => testResult(true);
    const test = this.#list();
    return this.#at === this.#words.length ? test : undefined;
  }

  /** `a , b` */
  #list(): Test | undefined {
    let test = this.#or();
    while (test && this.#take(',')) test = both(test, this.#or(), (_, b) => b);
    return test;
  }

  #or(): Test | undefined {
    let test = this.#and();
    while (test && (this.#take('-o') || this.#take('-or'))) test = orElse(test, this.#and());
    return test;
  }

  #and(): Test | undefined {
    let test = this.#not();
    while (test && this.#goesOn()) {
      if (!this.#take('-a')) this.#take('-and');
      test = andThen(test, this.#not());
    }
    return test;
  }

  #goesOn(): boolean {
    const next = this.#words[this.#at];
    return this.#at < this.#words.length && !/^(\)|,|-o|-or)$/.test(next ?? '-');
  }

  #not(): Test | undefined {
    if (!this.#take('!') && !this.#take('-not')) return this.#one();
    const inner = this.#not();
    return (
      inner &&
      ((found) => {
        const { result, acts, prunes } = inner(found);
        return testResult(result === undefined ? undefined : !result, acts, prunes);
      })
    );
  }

  #one(): Test | undefined {
    if (this.#take('(')) {
      const inner = this.#list();
      return this.#take(')') ? inner : undefined;
    }
    const word = this.#words[this.#at++];
    if (word === undefined) return undefined;
    if (/^-i?name$/.test(word)) return this.#matches(({ name }) => name, word.startsWith('-i'));
    if (/^-i?(path|wholename)$/.test(word)) return this.#matches(({ path }) => path, word.startsWith('-i'));
    if (word === '-type') return this.#type();
    if (word === '-true') return () => testResult(true);
    if (word === '-false') return () => testResult(false);
    if (word === '-follow') return () => testResult(true);
    if (word === '-prune') return this.#prune();
    if (word === '-maxdepth') return this.#maxDepth();
    if (NO_VALUE.has(word)) return () => PERHAPS;
    if (ONE_VALUE.has(word) || /^-newer[aBcmt]{2}$/.test(word)) return this.#value(() => PERHAPS);
    return this.#action(word);
  }

  #prune(): Test {
    const prunes = !this.#words.some((one) => /^-(depth|delete|mindepth)$/.test(one ?? ''));
    return () => testResult(true, false, prunes);
  }

  #action(word: string): Test | undefined {
    if (!ACTIONS.has(word)) return undefined;
    if (word === '-printf') {
      const format = this.#words[this.#at];
      if (!/^%p(\\n|\\0)$/.test(format ?? '')) this.printsPaths = false;
      return this.#value(() => ACTS);
    }
    if (word === '-ls' || RUNS.has(word)) this.printsPaths = false;
    if (RUNS.has(word)) {
      const end = this.#words.findIndex(
        (one, i) => i >= this.#at && (one === ';' || (one === '+' && this.#words[i - 1] === '{}')),
      );
      if (end < 0) return undefined;
      this.#at = end + 1;
    }
    // Whether a command succeeds is not known.
    return () => (RUNS.has(word) ? testResult(undefined, true) : ACTS);
  }

  #matches(of: (found: FoundPath) => string, ignoreCase: boolean): Test | undefined {
    const pattern = this.#words[this.#at];
    const fits = pattern === undefined ? undefined : fnmatch(pattern, { ignoreCase });
    return this.#value((found) => testResult(fits?.(of(found))));
  }

  #type(): Test | undefined {
    const letters = this.#words[this.#at]?.split(',') ?? [];
    return this.#value(({ type }) => {
      // With -L, a link has the type of what it leads to.
      if (type === 'link') return PERHAPS;
      return testResult(type === 'other' ? undefined : letters.includes(type === 'file' ? 'f' : 'd'));
    });
  }

  #maxDepth(): Test | undefined {
    const depth = Number(this.#words[this.#at] ?? Number.NaN);
    if (!Number.isInteger(depth)) return undefined;
    this.maxDepth = Math.max(depth, this.maxDepth === Infinity ? 0 : this.maxDepth);
    return this.#value(() => testResult(true));
  }

  /** A test that takes the next word, which must be there. */
  #value(test: Test): Test | undefined {
    return this.#at++ < this.#words.length ? test : undefined;
  }

  #take(word: string): boolean {
    if (this.#words[this.#at] !== word) return false;
    this.#at++;
    return true;
  }
}

type CombineResults = (a: TestResult['result'], b: TestResult['result']) => TestResult['result'];

function both(a: Test, b: Test | undefined, results: CombineResults): Test | undefined {
  return (
    b &&
    ((found) => {
      const [first, second] = [a(found), b(found)];
      return testResult(
        results(first.result, second.result),
        first.acts || second.acts,
        first.prunes || second.prunes,
      );
    })
  );
}

function andThen(a: Test, b: Test | undefined): Test | undefined {
  return (
    b &&
    ((found) => {
      const first = a(found);
      if (first.result === false) return first;
      const second = b(found);
      const result = first.result || second.result === false ? second.result : undefined;
      const prunes = first.prunes || (first.result === true && second.prunes);
      return testResult(result, first.acts || second.acts, prunes);
    })
  );
}

function orElse(a: Test, b: Test | undefined): Test | undefined {
  return (
    b &&
    ((found) => {
      const first = a(found);
      if (first.result === true) return first;
      const second = b(found);
      const result = first.result === false || second.result === true ? second.result : undefined;
      const prunes = first.prunes || (first.result === false && second.prunes);
      return testResult(result, first.acts || second.acts, prunes);
    })
  );
}
