import { basename, posix } from 'node:path';
import type { Word } from 'unbash';
import { wordsOf } from '../../../lib/text.js';
import { shellWord } from '../shell-word.js';
import type { ReadBoundary } from './disk.js';
import { combinationsOf, type OpenWord } from './combinations.js';
import { commandWords, isParsed, literalOf, type Site } from './flow.js';
import {
  splitTexts,
  unionOf,
  EMPTY,
  NUMBER,
  exactText,
  UNKNOWN,
  type PossibleTexts,
} from './possible-texts.js';
import { listFound, listMatches, listNames, listTracked, type ListingPlace } from './listings.js';
import { fieldText, type Field } from './readers.js';
import type { FileChanges } from './file-changes.js';
import { unquoted, withoutAffix } from './text-operations.js';
import { mixesErrors, type OutputOf, type Evaluator } from './evaluator.js';

interface CommandCall {
  readonly args: readonly Field[];
  readonly texts: readonly (string | undefined)[];
  readonly input: () => PossibleTexts;
  /** Undefined if it is not known where a listing would be made, or what it would find. */
  readonly place: ListingPlace | undefined;
}

type Printer = (call: CommandCall) => PossibleTexts;

/** What commands print. */
export function outputOfCommands(boundary: ReadBoundary, changes: FileChanges): OutputOf {
  return (command, evaluator) => {
    const site = evaluator.flow.sites.get(command);
    if (!site || command.redirects.some(mixesErrors)) return UNKNOWN;
    const words = commandWords(command);
    const name = literalOf(words[0]);
    if (!command.name) return command.redirects.length > 0 ? UNKNOWN : [];
    if (name === undefined || evaluator.flow.functions.has(name) || words.length <= command.args.length)
      return UNKNOWN;
    const printer = PRINTERS.get(basename(name));
    const ways = printer && combinationsOf(openWords(words.slice(1), site, evaluator));
    if (!printer || !ways) return UNKNOWN;
    const [directory, ...more] = evaluator.environment.directories;
    const place =
      changes !== 'unknown' && directory !== undefined && more.length === 0
        ? { directory, boundary, changes }
        : undefined;
    return unionOf(
      // The output may go to a file, or the command may not run for want of its input.
      ...(command.redirects.length > 0 ? [EMPTY] : []),
      ...ways.map((args) =>
        printer({ args, texts: args.map(fieldText), input: () => evaluator.input(site.input), place }),
      ),
    );
  };
}

export function openWords(words: readonly Word[], site: Site, evaluator: Evaluator): OpenWord[] {
  return words.map((word) => ({
    spelt: word.text,
    value: evaluator.word(word, site),
    literal: isDirect(word),
    splits: shellWord(word).splits,
  }));
}

/** It is used as it is, or it is a pattern or a path with `~` that is checked elsewhere. */
function isDirect(word: Word): boolean {
  const { literal, glob, tilde, text } = shellWord(word);
  return isParsed(word) && (literal !== undefined || ((glob || tilde) && !/[$`]/.test(text)));
}

const silent: Printer = () => [];
const known =
  (print: (texts: readonly string[]) => PossibleTexts): Printer =>
  ({ texts }) =>
    texts.includes(undefined) ? UNKNOWN : print(texts as readonly string[]);

/** For programs that print some lines of their input and nothing else, as long as their words match. */
const passing =
  (words: RegExp): Printer =>
  ({ texts, input }) =>
    !texts.includes(undefined) && words.test(texts.join(' ')) ? unionOf(EMPTY, splitTexts(input())) : UNKNOWN;

const listing =
  (list: (args: readonly Field[], place: ListingPlace) => PossibleTexts): Printer =>
  ({ args, place }) =>
    place ? unionOf(EMPTY, list(args, place)) : UNKNOWN;

const PRINTERS = new Map<string, Printer>([
  ...wordsOf(': true false test [ sleep touch').map((name): [string, Printer] => [name, silent]),
  ['cd', known((texts) => (/^[^-]/.test(texts.join(' ')) ? [] : UNKNOWN))],
  ['echo', echo],
  ['printf', printf],
  ['pwd', ({ place }) => (place ? exactText(place.directory) : UNKNOWN)],
  ['basename', baseName],
  ['dirname', known((texts) => (isPath(texts) ? exactText(posix.dirname(texts[0] as string)) : UNKNOWN))],
  [
    'date',
    known((texts) =>
      /^(-u )?\+(%[YmdHMSFTjsyu]|-)(%[YmdHMSFTjsyu]|[-_:T])*$/.test(texts.join(' ')) ? NUMBER : UNKNOWN,
    ),
  ],
  // From 2 to 1 there are none.
  [
    'seq',
    known((texts) =>
      texts.every((text) => /^(-w|[-+]?[\d.]+)$/.test(text)) ? unionOf(EMPTY, NUMBER) : UNKNOWN,
    ),
  ],
  ['nproc', known((texts) => (texts.length === 0 ? NUMBER : UNKNOWN))],
  ['wc', known((texts) => (texts.every((text) => /^-[lwcm]+$/.test(text)) ? NUMBER : UNKNOWN))],
  ['cat', passing(/^-?$/)],
  ['head', passing(/^(-n ?-?\d+|-\d+|--lines=-?\d+)?$/)],
  ['tail', passing(/^(-n ?[-+]?\d+|-\d+|--lines=[-+]?\d+)?$/)],
  ['sort', passing(/^(-[bdfghiMnRrsuV]+ ?)*$/)],
  ['uniq', passing(/^(-[diu]+)?$/)],
  ['tac', passing(/^$/)],
  ['shuf', passing(/^(-n ?\d+)?$/)],
  // `./x` and `x` are the same file.
  ['sed', passing(/^(s\|\^\\\.\/\|\||s#\^\\\.\/##|s\/\^\\\.\\\/\/\/|s,\^\\\.\/,,)$/)],
  ['tr', passing(/^(\\n| ) (\\n| )$/)],
  ['grep', grep],
  ['egrep', grep],
  ['fgrep', grep],
  ['rg', ripgrep],
  ['ls', listing(listNames)],
  ['find', listing(listFound)],
  ['git', git],
  ['xargs', xargs],
]);

const LISTS = /^(-[a-zA-Z]*[lL]|--files-with(out)?-match(es)?)$/;

function echo({ args, texts }: CommandCall): PossibleTexts {
  const [first] = args;
  if (args.length === 1 && first?.possible.type === 'listed' && !first.possible.nul) return [first.possible];
  if (texts.some((text) => text === undefined || text.includes('\\'))) return UNKNOWN;
  return /^-[neE]+$/.test(texts[0] ?? '') ? UNKNOWN : exactText(texts.join(' '));
}

/** One line for each value. What has no end of line could merge with what follows. */
function printf({ args, texts }: CommandCall): PossibleTexts {
  const [format, ...values] = args;
  if (!format || !values.every(({ possible }) => possible.type !== 'listed' || !possible.nul)) return UNKNOWN;
  if (/^%s(\\n|\\0)$/.test(texts[0] ?? ''))
    return unionOf(EMPTY, ...values.map(({ possible }): PossibleTexts => [possible]));
  return /^[^%\\-][^%\\]*\\n$/.test(texts[0] ?? '') ? exactText((texts[0] as string).slice(0, -2)) : UNKNOWN;
}

function isPath(texts: readonly string[]): boolean {
  return texts.length === 1 && !texts[0]?.startsWith('-');
}

function baseName({ args, texts }: CommandCall): PossibleTexts {
  const [path, suffix] = texts;
  if (
    args.length > 2 ||
    path === undefined ||
    path.startsWith('-') ||
    (args.length === 2 && suffix === undefined)
  )
    return UNKNOWN;
  const possible = { type: 'text', text: posix.basename(path) } as const;
  return [
    suffix === undefined || suffix === possible.text ? possible : withoutAffix(possible, suffix, false),
  ];
}

function grep({ args, texts, input, place }: CommandCall): PossibleTexts {
  if (texts.some((text) => LISTS.test(text ?? ''))) {
    return place ? unionOf(EMPTY, listMatches('grep', args, place)) : UNKNOWN;
  }
  // Only options that do not change the lines, and a pattern.
  const at = texts.findIndex((text) => !/^-[vEFGPiwxsah]+$/.test(text ?? ''));
  const isPlain = at === texts.length - 1 && /^[^-]/.test(texts[at] ?? '');
  return isPlain ? unionOf(EMPTY, splitTexts(input())) : UNKNOWN;
}

function ripgrep({ args, texts, place }: CommandCall): PossibleTexts {
  const lists = texts.some((text) => text === '--files' || LISTS.test(text ?? ''));
  return lists && place ? unionOf(EMPTY, listMatches('rg', args, place)) : UNKNOWN;
}

/** Nothing is printed if git fails. */
const HEX = unionOf(EMPTY, exactText('[0-9a-f]*'));

/** The words after the subcommand of git; undefined if they are not known. */
interface GitWords {
  readonly options: readonly (string | undefined)[];
  readonly rest: readonly (string | undefined)[];
  /** Whether there are options, and only these. */
  readonly all: (allowed: RegExp) => boolean;
}

/** Subcommands that only print a hash. */
const GIT_HASHES = new Map<string, (words: GitWords) => boolean>([
  ['merge-base', () => true],
  ['rev-parse', ({ all }) => all(/^--(short|verify)$/)],
  [
    'log',
    ({ options, all }) =>
      options.length > 1 && options.includes('-1') && all(/^(-1|--(format|pretty)=(format:)?%[hH])$/),
  ],
]);

/** Subcommands that print names of tracked files, and which of those. */
const GIT_LISTS = new Map<
  string,
  { readonly isPlain: (words: GitWords) => boolean; readonly named?: boolean; readonly changed?: boolean }
>([
  [
    'ls-files',
    {
      isPlain: ({ options, all }) => options.length === 0 || all(/^(-[cmdz]+|--(cached|modified|deleted))$/),
      named: true,
    },
  ],
  [
    'diff',
    {
      // With a commit, there may be names that are no longer tracked.
      isPlain: ({ options, rest, all }) =>
        options.includes('--name-only') &&
        !rest.some(mayBeCommit) &&
        all(/^(--name-only|-z|--diff-filter=\w+)$/),
      changed: true,
    },
  ],
  [
    'grep',
    {
      isPlain: ({ options, all }) =>
        options.some((option) => LISTS.test(option ?? '')) &&
        all(/^(-[lLniwEFPzv]+|-e|--files-with(out)?-match(es)?)$/),
    },
  ],
]);

function git({ args, place }: CommandCall): PossibleTexts {
  const [name = '', ...rest] = args.map((field) => (field.literal ? fieldText(field) : undefined));
  const options = rest.filter((text) => text === undefined || (text.startsWith('-') && text !== '--'));
  const all = (allowed: RegExp) =>
    options.length > 0 && options.every((option) => allowed.test(option ?? ''));
  const words = { options, rest, all };
  if (GIT_HASHES.get(name)?.(words)) return HEX;
  const list = GIT_LISTS.get(name);
  if (!place || !list?.isPlain(words)) return UNKNOWN;
  const { named = false, changed = false } = list;
  const specs = rest.filter((text): text is string => text !== undefined && !text.startsWith('-'));
  return unionOf(EMPTY, listTracked(named ? specs : [], changed, options.includes('-z'), place));
}

/** A word before `--` may be a commit. */
function mayBeCommit(text: string | undefined, i: number, rest: readonly (string | undefined)[]): boolean {
  const end = rest.indexOf('--');
  return (end < 0 || i < end) && !text?.startsWith('-');
}

/** `xargs grep -l`: some of its input. */
function xargs({ texts, input }: CommandCall): PossibleTexts {
  const whole = texts.includes(undefined) ? '' : texts.join('\0');
  const [, options] =
    /^((?:-[0r]+\0?)*)(?:[ef]?grep(?:\0-[inwEFsv]*[lL])(?:\0-[inwEFs]+)*\0[^-\0][^\0]*)?$/.exec(whole) ?? [];
  if (options === undefined || texts.includes(undefined)) return UNKNOWN;
  return unionOf(EMPTY, xargsFeed(input(), options.includes('0')));
}

/** The words that xargs makes of its input. With `-0`, names stay whole. */
export function xargsFeed(input: PossibleTexts, nul: boolean): PossibleTexts {
  return unionOf(
    ...input.map((possible): PossibleTexts => {
      if (possible.type !== 'listed' || !possible.nul)
        return nul ? splitTexts([possible]) : unquoted(splitTexts([possible]));
      return nul ? [{ ...possible, nul: false }] : UNKNOWN;
    }),
  );
}
