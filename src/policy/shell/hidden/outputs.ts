import { basename, posix } from 'node:path';
import type { Word } from 'unbash';
import { wordsOf as names } from '../../../lib/text.js';
import { shellWord } from '../words.js';
import type { Hiding } from './disk.js';
import { waysOf, type OpenWord } from './fields.js';
import { isTakenApart, literalOf, wordsOf, type Site } from './flow.js';
import { divided, either, EMPTY, NUMBER, textValue, UNKNOWN, type Value } from './forms.js';
import { listFound, listMatches, listNames, listTracked, type Place } from './listings.js';
import { fieldText, type Field } from './readers.js';
import type { Settled } from './settled.js';
import { unquoted, without } from './reshaped.js';
import { mixesErrors, type Prints, type Values } from './values.js';

interface Call {
  readonly args: readonly Field[];
  readonly texts: readonly (string | undefined)[];
  readonly input: () => Value;
  /** Undefined if it is not known where a listing would be made, or what it would find. */
  readonly place: Place | undefined;
}

type Printer = (call: Call) => Value;

/** What commands print. */
export function printsOf(hiding: Hiding, settled: Settled): Prints {
  return (command, values) => {
    const site = values.flow.sites.get(command);
    if (!site || command.redirects.some(mixesErrors)) return UNKNOWN;
    const words = wordsOf(command);
    const name = literalOf(words[0]);
    if (!command.name) return command.redirects.length > 0 ? UNKNOWN : [];
    if (name === undefined || values.flow.functions.has(name) || words.length <= command.args.length)
      return UNKNOWN;
    const printer = PRINTERS.get(basename(name));
    const ways = printer && waysOf(openWords(words.slice(1), site, values));
    if (!printer || !ways) return UNKNOWN;
    const [directory, ...more] = values.surroundings.directories;
    const place =
      settled !== 'no' && directory !== undefined && more.length === 0
        ? { directory, hiding, settled }
        : undefined;
    return either(
      ...ways.map((args) =>
        printer({ args, texts: args.map(fieldText), input: () => values.input(site.input), place }),
      ),
    );
  };
}

export function openWords(words: readonly Word[], site: Site, values: Values): OpenWord[] {
  return words.map((word) => ({
    spelt: word.text,
    value: values.word(word, site),
    literal: isDirect(word),
    splits: shellWord(word).splits,
  }));
}

/** It is used as it is, or it is a pattern or a path with `~` that is checked elsewhere. */
function isDirect(word: Word): boolean {
  const { literal, glob, tilde, text } = shellWord(word);
  return isTakenApart(word) && (literal !== undefined || ((glob || tilde) && !/[$`]/.test(text)));
}

const silent: Printer = () => [];
const known =
  (print: (texts: readonly string[]) => Value): Printer =>
  ({ texts }) =>
    texts.includes(undefined) ? UNKNOWN : print(texts as readonly string[]);

/** Prints some lines of its input and nothing else, as long as its words match. */
const passing =
  (words: RegExp): Printer =>
  ({ texts, input }) =>
    !texts.includes(undefined) && words.test(texts.join(' ')) ? either(EMPTY, divided(input())) : UNKNOWN;

const listing =
  (list: (args: readonly Field[], place: Place) => Value): Printer =>
  ({ args, place }) =>
    place ? either(EMPTY, list(args, place)) : UNKNOWN;

const PRINTERS = new Map<string, Printer>([
  ...names(': true false test [ sleep touch').map((name): [string, Printer] => [name, silent]),
  ['cd', known((texts) => (/^[^-]/.test(texts.join(' ')) ? [] : UNKNOWN))],
  ['echo', echo],
  ['printf', printf],
  ['pwd', ({ place }) => (place ? textValue(place.directory) : UNKNOWN)],
  ['basename', baseName],
  ['dirname', known((texts) => (isPath(texts) ? textValue(posix.dirname(texts[0] as string)) : UNKNOWN))],
  [
    'date',
    known((texts) => (/^(-u )?\+(%[YmdHMSFTjsyu]|[-_:T])+$/.test(texts.join(' ')) ? NUMBER : UNKNOWN)),
  ],
  ['seq', known((texts) => (texts.every((text) => /^(-w|[-+]?[\d.]+)$/.test(text)) ? NUMBER : UNKNOWN))],
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

function echo({ args, texts }: Call): Value {
  const [first] = args;
  if (args.length === 1 && first?.form.type === 'listed' && !first.form.nul) return [first.form];
  if (texts.some((text) => text === undefined || text.includes('\\'))) return UNKNOWN;
  return /^-[neE]+$/.test(texts[0] ?? '') ? UNKNOWN : textValue(texts.join(' '));
}

/** One line for each value. What has no end of line could merge with what follows. */
function printf({ args, texts }: Call): Value {
  const [format, ...values] = args;
  if (!format || !values.every(({ form }) => form.type !== 'listed' || !form.nul)) return UNKNOWN;
  if (/^%s(\\n|\\0)$/.test(texts[0] ?? '')) return either(EMPTY, ...values.map(({ form }): Value => [form]));
  return /^[^%\\-][^%\\]*\\n$/.test(texts[0] ?? '') ? textValue((texts[0] as string).slice(0, -2)) : UNKNOWN;
}

function isPath(texts: readonly string[]): boolean {
  return texts.length === 1 && !texts[0]?.startsWith('-');
}

function baseName({ args, texts }: Call): Value {
  const [path, suffix] = texts;
  if (
    args.length > 2 ||
    path === undefined ||
    path.startsWith('-') ||
    (args.length === 2 && suffix === undefined)
  )
    return UNKNOWN;
  const form = { type: 'text', text: posix.basename(path) } as const;
  return [suffix === undefined || suffix === form.text ? form : without(form, suffix, false)];
}

function grep({ args, texts, input, place }: Call): Value {
  if (texts.some((text) => LISTS.test(text ?? ''))) {
    return place ? either(EMPTY, listMatches('grep', args, place)) : UNKNOWN;
  }
  // Only options that do not change the lines, and a pattern.
  const at = texts.findIndex((text) => !/^-[vEFGPiwxsah]+$/.test(text ?? ''));
  const isPlain = at === texts.length - 1 && /^[^-]/.test(texts[at] ?? '');
  return isPlain ? either(EMPTY, divided(input())) : UNKNOWN;
}

function ripgrep({ args, texts, place }: Call): Value {
  const lists = texts.some((text) => text === '--files' || LISTS.test(text ?? ''));
  return lists && place ? either(EMPTY, listMatches('rg', args, place)) : UNKNOWN;
}

const HEX = textValue('[0-9a-f]*');

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

function git({ args, place }: Call): Value {
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
  return either(EMPTY, listTracked(named ? specs : [], changed, options.includes('-z'), place));
}

/** A word before `--` may be a commit. */
function mayBeCommit(text: string | undefined, i: number, rest: readonly (string | undefined)[]): boolean {
  const end = rest.indexOf('--');
  return (end < 0 || i < end) && !text?.startsWith('-');
}

/** `xargs grep -l`: some of its input. */
function xargs({ texts, input }: Call): Value {
  const whole = texts.includes(undefined) ? '' : texts.join('\0');
  const [, options] =
    /^((?:-[0r]+\0?)*)(?:[ef]?grep(?:\0-[inwEFsv]*[lL])(?:\0-[inwEFs]+)*\0[^-\0][^\0]*)?$/.exec(whole) ?? [];
  if (options === undefined || texts.includes(undefined)) return UNKNOWN;
  return either(EMPTY, xargsFeed(input(), options.includes('0')));
}

/** The words that xargs makes of its input. With `-0`, names stay whole. */
export function xargsFeed(input: Value, nul: boolean): Value {
  return either(
    ...input.map((form): Value => {
      if (form.type !== 'listed' || !form.nul) return nul ? divided([form]) : unquoted(divided([form]));
      return nul ? [{ ...form, nul: false }] : UNKNOWN;
    }),
  );
}
