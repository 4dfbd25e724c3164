import { basename } from 'node:path';
import { deny, MAX_DEPTH, type CommandContext, type Evidence, type ShellContext } from '../context.js';
import { literalWord, UNKNOWN_WORD, type ShellScript, type ShellWord, type SimpleCommand } from '../model.js';
import { judgeOperands } from '../judge-files.js';
import { unwrap } from '../wrappers.js';
import { MAX_ENTRIES_OF_LINE, type ReadBoundary } from './disk.js';
import { uncombined, combinationsOf, type OpenWord } from './combinations.js';
import { flowOf, type Site } from './flow.js';
import type { ReadGuard } from './guard.js';
import { hasShellWildcard, concatenated, exactText, UNKNOWN, type PossibleTexts } from './possible-texts.js';
import { listFound } from './listings.js';
import { openWords, outputOfCommands, xargsFeed } from './outputs.js';
import { readFaults } from './read-faults.js';
import { isFileReader, fieldText, type Field } from './readers.js';
import { fileChangesBy, type FileChanges } from './file-changes.js';
import { Evaluator } from './evaluator.js';

/** Decides for the commands of one script whether they could read what the policy hides. */
export class ReadJudge {
  /** The boundary, with its answers remembered: the same paths come up again and again. */
  readonly faults: Pick<ShellContext, 'operandFault' | 'patternFault'>;
  readonly #guard: ReadGuard;
  readonly #boundary: ReadBoundary;
  readonly #changes: FileChanges;
  readonly #makeEvaluator: () => Evaluator;
  #made: Evaluator | undefined;

  constructor(
    { tree, commands }: ShellScript,
    guard: ReadGuard,
    { workspace, home, operandFault, patternFault }: ShellContext,
    directories: readonly string[],
  ) {
    this.#guard = guard;
    this.faults = { operandFault: once(operandFault), patternFault: once(patternFault) };
    this.#boundary = {
      workspace,
      hides: guard.hides,
      fault: (path) => this.faults.operandFault('read', path),
      budget: { left: MAX_ENTRIES_OF_LINE },
    };
    this.#changes =
      guard.changes === undefined || guard.changes === 'none' ? fileChangesBy(commands) : 'unknown';
    this.#makeEvaluator = () =>
      new Evaluator(
        flowOf(tree, guard.outer !== undefined),
        { home, directories, variable: guard.variable, outer: guard.outer },
        outputOfCommands(this.#boundary, this.#changes),
      );
  }

  /** Created only if needed: most lines contain nothing unknown. */
  get #evaluator(): Evaluator {
    return (this.#made ??= this.#makeEvaluator());
  }

  /** The guard for a script inside a command. */
  get inner(): ReadGuard {
    return { ...this.#guard, changes: this.#changes, outer: (name) => this.#evaluator.inherited(name) };
  }

  judge({ node, words }: SimpleCommand, context: CommandContext): Evidence[] {
    if (!node || !needsLook(words)) return [];
    const site = this.#evaluator.flow.sites.get(node) ?? NOWHERE;
    const parts = [...(node.name ? [node.name] : []), ...node.args];
    const open = new Map<ShellWord, OpenWord>();
    words.forEach((word, i) => {
      const part = parts[i];
      const [known] = part?.type === 'Word' ? openWords([part], site, this.#evaluator) : [];
      open.set(word, known ?? { ...NOT_SEEN, spelt: word.text });
    });
    return this.#check(words, { site, open, context }, 0);
  }

  /** A command, and those that it runs. */
  #check(words: readonly ShellWord[], here: CommandCheck, depth: number): Evidence[] {
    const program = basename(words[0]?.literal ?? '');
    if (program === '' || depth > MAX_DEPTH) return [];
    const found = this.#checkItself(program, words, here);
    for (const inner of unwrap(words)?.inner ?? []) {
      if (inner.type === 'words') {
        found.push(...this.#checkInner(program, words, inner.words, here, depth + 1));
      } else if (inner.type === 'suffixes') {
        const at = inner.words.findIndex(({ literal }) => isFileReader(basename(literal ?? '')));
        if (at >= 0) found.push(...this.#check(inner.words.slice(at), here, depth + 1));
      }
    }
    return found;
  }

  /** What a wrapper runs, with the words that it adds. */
  #checkInner(
    wrapper: string,
    words: readonly ShellWord[],
    inner: readonly ShellWord[],
    here: CommandCheck,
    depth: number,
  ): Evidence[] {
    if (!inner.includes(UNKNOWN_WORD)) return this.#check(inner, here, depth);
    const added = this.#added(wrapper, words, inner, here);
    const open = new Map(here.open);
    const named = inner.map((word, i) => {
      if (word !== UNKNOWN_WORD) return word;
      const own = anotherUnknown();
      open.set(own, { spelt: '{}', literal: false, splits: false, value: added[i] ?? UNKNOWN });
      return own;
    });
    return this.#check(named, { ...here, open }, depth);
  }

  #checkItself(
    program: string,
    words: readonly ShellWord[],
    { site, open, context }: CommandCheck,
  ): Evidence[] {
    const args = words.slice(1);
    const isOpen = args.some((word) => !open.get(word)?.literal);
    if (!isOpen && !isFileReader(program)) return [];
    const seen = args.map((word) => open.get(word) ?? NOT_SEEN);
    const ways = combinationsOf(seen) ?? [uncombined(seen)];
    return ways.flatMap((fields) => {
      const faults = readFaults(program, fields, {
        boundary: this.#boundary,
        confined: this.#guard.confined,
        predictable: this.#changes !== 'unknown',
        directories: context.directories,
        hasInput: site.input.type !== 'nothing' && site.input.type !== 'unknown',
      });
      const known = isOpen ? judgeOperands(program, fields.map(asLiteral), context) : [];
      const fitting = fields.some(isPattern) ? judgeOperands(program, fields.map(asPattern), context) : [];
      return [
        ...known,
        ...fitting,
        ...faults.map((fault) => deny(`${fault} (no sandbox hides anything here)`)),
      ];
    });
  }

  /** What `xargs` and `find -exec` put in the place of each inner word. */
  #added(
    wrapper: string,
    words: readonly ShellWord[],
    inner: readonly ShellWord[],
    { site, open, context: { directories } }: CommandCheck,
  ): readonly (PossibleTexts | undefined)[] {
    if (wrapper === 'find') {
      const [directory, ...more] = directories;
      const isPlain = words.every(({ text }) => text === '{}' || !text.includes('{}'));
      if (!isPlain || directory === undefined || more.length > 0 || this.#changes === 'unknown') return [];
      const [fields, ...others] =
        combinationsOf(words.slice(1).map((word) => open.get(word) ?? NOT_SEEN)) ?? [];
      if (!fields || others.length > 0) return [];
      const value = listFound(
        fields,
        { directory, boundary: this.#boundary, changes: this.#changes },
        { runs: true },
      );
      return inner.map(() => value);
    }
    if (wrapper !== 'xargs') return [];
    const options = words.slice(1, words.length - inner.length + 1).map(({ literal }) => literal);
    if (options.some((option, i) => option === undefined || takesOther(option, options[i + 1]))) return [];
    const feed = xargsFeed(
      this.#evaluator.input(site.input),
      options.some((option) => /^(-[a-z]*0|--null)/.test(option ?? '')),
    );
    const string = replacedBy(options as string[]);
    if (string === undefined) return inner.map(() => feed);
    // Every word keeps its place.
    return inner.map((_, i) => around(words[words.length - inner.length + i]?.literal, string, feed));
  }
}

/**
 * Whether an option makes xargs read something other than its input, or split that at anything but blanks or lines.
 */
function takesOther(option: string, next: string | undefined): boolean {
  if (/^(-[a-z0-9]*a|--arg)/.test(option)) return true;
  if (!/^(-[a-z0-9]*d|--del)/.test(option)) return false;
  return !/^(-d|--delimiter=)(\\n|\n)$/.test(option === '-d' ? `-d${next}` : option);
}

function once<A extends readonly string[]>(ask: (...args: A) => string | undefined) {
  const known = new Map<string, string | undefined>();
  return (...args: A): string | undefined => {
    const key = args.join('\0');
    if (!known.has(key)) known.set(key, ask(...args));
    return known.get(key);
  };
}

/** Whether any word is not known yet, or the command may walk through folders or run others. */
function needsLook(words: readonly ShellWord[]): boolean {
  if (words.some(({ literal, text }) => literal === undefined && /[$`]/.test(text))) return true;
  return words.some(
    ({ literal }) =>
      literal !== undefined && (isFileReader(basename(literal)) || /^(find|xargs)$/.test(literal)),
  );
}

interface CommandCheck {
  readonly site: Site;
  readonly open: ReadonlyMap<ShellWord, OpenWord>;
  readonly context: CommandContext;
}

const NOWHERE: Site = { input: { type: 'unknown' }, set: new Set() };
const NOT_SEEN: OpenWord = { spelt: '…', value: UNKNOWN, literal: false, splits: true };

/** A word that differs from all others, so that what it may be can be noted. */
function anotherUnknown(): ShellWord {
  return { ...UNKNOWN_WORD };
}

/** What `xargs -I` replaces; undefined if it adds words at the end. */
function replacedBy(options: readonly string[]): string | undefined {
  const at = options.findIndex((option) => /^(-[a-z0-9]*[Ii]|--replace)/.test(option));
  if (at < 0) return undefined;
  const option = options[at] as string;
  return (
    /^(?:-[a-z0-9]*[Ii]|--replace=)(.+)$/.exec(option)?.[1] ?? (option.endsWith('I') ? options[at + 1] : '{}')
  );
}

function around(text: string | undefined, string: string, feed: PossibleTexts): PossibleTexts {
  const [first, ...others] = text === undefined || string === '' ? [] : text.split(string);
  if (first === undefined) return UNKNOWN;
  return others.reduce(
    (value, rest) => concatenated(concatenated(value, feed), exactText(rest)),
    exactText(first),
  );
}

function isPattern(field: Field): boolean {
  return !field.literal && hasShellWildcard(fieldText(field) ?? '');
}

function asLiteral(field: Field): ShellWord {
  const text = fieldText(field);
  return text === undefined ? UNKNOWN_WORD : literalWord(text);
}

function asPattern(field: Field): ShellWord {
  const text = fieldText(field) ?? '';
  if (!isPattern(field)) return asLiteral(field);
  return {
    text,
    value: text,
    literal: undefined,
    prefix: text.replace(/[*?[\\].*$/s, ''),
    splits: false,
    glob: true,
    tilde: false,
  };
}
