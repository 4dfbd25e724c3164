import { wordsOf } from '../../../lib/text.js';
import { own } from '../../../lib/own.js';
import type { PossibleText } from './possible-texts.js';
import { gitAddWalk, grepWalk, ripgrepWalk, tarWalk, type FolderWalk } from './folder-walks.js';

/** A word of a command as it will be when it runs. */
export interface Field {
  /** As written in the line. */
  readonly spelt: string;
  readonly possible: PossibleText;
  /** It is used as it is. */
  readonly literal: boolean;
  /** It may become several words. */
  readonly splits?: boolean;
}

/** Which of a program's words are files that it prints. */
interface FileReader {
  /** Letters of options that take the next word, if that is not a file. */
  readonly values?: string;
  /** Letters of options that certainly take no word, and may come before one of those. */
  readonly flags?: string;
  /** Long options that take so many words, if those are not files. */
  readonly takes?: Readonly<Record<string, number>>;
  /** The first operand is a pattern or a program, unless one of these options gives it. */
  readonly pattern?: RegExp;
  /** The last operand is a target, unless one of these options is there. */
  readonly target?: RegExp;
  /** It prints files only with one of these options. */
  readonly quiet?: RegExp;
  /** How it walks through folders; undefined if it does not. */
  readonly walk?: (options: readonly string[]) => FolderWalk | undefined;
}

const ifOption =
  (expression: RegExp, walk: FolderWalk) =>
  (options: readonly string[]): FolderWalk | undefined =>
    options.some((option) => expression.test(option)) ? walk : undefined;

/** Long options that take one word each. */
const one = (names: string): Record<string, number> =>
  Object.fromEntries(wordsOf(names).map((name) => [name, 1]));

const GREP: FileReader = {
  values: 'emABCdD',
  flags: 'EFGPivwxycLlqsoHhnTZzabuUrRI0123456789',
  takes: {
    ...one(`
    --include --exclude --exclude-dir --regexp --max-count --context --after-context --before-context --directories
    --devices --binary-files --label --group-separator
  `),
    // Not an abbreviation of --binary-files.
    '--binary': 0,
  },
  // Not if the letter is in the value of another one.
  pattern: /^(-[^-mABCdD]*[ef]|--(reg|fi))/,
  walk: grepWalk,
};
const SEARCHER: FileReader = {
  values: 'emABCMjrTgtdE',
  flags: 'FisSvwxcloHhnNILqUPpau.0',
  takes: one(`
    -g -t --glob --iglob --type --type-not --type-add --type-clear --regexp --max-count --context --after-context
    --before-context --context-separator --field-context-separator --field-match-separator --max-depth --maxdepth
    --max-columns --max-filesize --sort --sortr --replace --threads --encoding --engine --color --colors
    --path-separator --regex-size-limit --dfa-size-limit --hyperlink-format --hostname-bin --generate
  `),
  pattern: /^(-[^-mABCMjrTgtdE]*[ef]|--(regexp|file|files))/,
};
/** Options of diff without a value. */
const DIFF_FLAGS = 'abBcdeEfHilnNpPqrstTuwyZ';

const COPIER: FileReader = {
  values: 'S',
  target: /^(-[a-zA-Z]*t|--t)/,
  walk: ifOption(/^(-[a-zA-Z]*[radRPl]|--(rec|ar|no-d|pre|link|sy))/, { links: 'moved' }),
};
const DIFF: FileReader = { values: 'UCWIxF', flags: DIFF_FLAGS, walk: () => ({ links: 'followed' }) };

const FILE_READERS = new Map<string, FileReader>();
const rows: readonly (readonly [string, FileReader])[] = [
  [
    `cat tac rev comm cmp paste look base64 base32 basenc iconv strings less more most bat batcat view zcat bzcat
     xzcat zstdcat gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd tsort sdiff diff3 xmllint yq pandoc glow highlight
     pygmentize openssl gpg dd csplit ptx nroff groff m4 cpp envsubst xq tomlq gron mlr csvcut ed ex vi vim lz4cat zless zmore uuencode hexyl lynx w3m troff soelim
     logger ssh-keygen`,
    {},
  ],
  ['head tail', { values: 'nc', flags: 'qvzfF' }],
  ['grep egrep fgrep zgrep', GREP],
  ['awk gawk mawk nawk', { values: 'Fv', pattern: /^(-[a-zA-Z]*f|--fi)/ }],
  ['sed gsed', { values: 'el', flags: 'nErsuz', pattern: /^(-[a-zA-Z]*[ef]|--(ex|fi))/ }],
  ['jq', { takes: { '--arg': 2, '--argjson': 2, '--indent': 1 }, pattern: /^(-[a-zA-Z]*f|--from)/ }],
  ['rg ripgrep', { ...SEARCHER, walk: ripgrepWalk }],
  // Which of their options take a value is not known here.
  [
    'ag ack ugrep',
    {
      pattern: /^(-[a-zA-Z]*[ef]|--(m|r|f))/,
      walk: (options) => {
        const isPlain = options.every((option) => /^-[ivwlLchHnorRs]+$/.test(option));
        return { links: 'followed', alone: 'always', ...(!isPlain && { everywhere: true }) };
      },
    },
  ],
  ['cp install', COPIER],
  ['rsync scp', { ...COPIER, target: /^$/ }],
  ['mv ln', { ...COPIER, walk: () => ({ links: 'moved' }) }],
  ['diff colordiff', DIFF],
  ['tar gtar bsdtar', { values: 'f', walk: tarWalk }],
  ['zip', { walk: ifOption(/^(-[a-zA-Z]*[rR]|--rec)/, { links: 'followed' }) }],
  ['cut', { values: 'dfcb', flags: 'nsz' }],
  ['sort', { values: 'ktS', flags: 'bdfgiMhnRrVcCmsuz' }],
  ['uniq', { values: 'fsw', flags: 'cdDiuz' }],
  ['shuf', { values: 'n' }],
  ['nl', { values: 'bdfhilnsvw' }],
  ['join', { values: 'aeojtv12', flags: 'iz' }],
  ['fold', { values: 'w', flags: 'bs' }],
  ['fmt', { values: 'wgp' }],
  ['pr', { values: 'lwohN' }],
  ['expand unexpand', { values: 't' }],
  ['column', { values: 'scoN', flags: 'tnexJL' }],
  ['split', { values: 'abCln' }],
  ['od', { values: 'jNtA' }],
  ['xxd', { values: 'cglos' }],
  ['hexdump hd', { values: 'nse' }],
  ['wc du', { quiet: /^--f/ }],
  ['file', { quiet: /^(-[a-zA-Z]*[mf]|--(m|f))/ }],
  ['tree', { quiet: /^--[fgi]/ }],
  ['md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum', { quiet: /^(-[a-z]*c|--c)/ }],
];
for (const [names, reader] of rows) for (const name of wordsOf(names)) FILE_READERS.set(name, reader);

export function isFileReader(program: string): boolean {
  return program === 'git' || FILE_READERS.has(program);
}

/** The words of a command, sorted. */
export interface SortedWords {
  readonly options: readonly string[];
  /** Files that it prints. */
  readonly files: readonly Field[];
  /** Words that could be options, with any meaning. */
  readonly unsure: readonly Field[];
  readonly walk: FolderWalk | undefined;
  readonly quiet: boolean;
}

/** Sorts the words after a program's name; undefined if it is not known to print files. */
export function sortedWords(program: string, fields: readonly Field[]): SortedWords | undefined {
  if (program === 'git') return sortedGitWords(fields);
  const reader = FILE_READERS.get(program);
  if (!reader) return undefined;
  if (program === 'dd') return sortWords(reader, ddFields(fields));
  return sortWords(reader, program.endsWith('tar') ? tarFields(fields) : fields);
}

function sortWords(reader: FileReader, fields: readonly Field[]): SortedWords {
  const { pattern, target } = reader;
  const { options, operands, unsure, ended } = divide(reader, fields);
  if (pattern && !options.some((option) => pattern.test(option))) {
    const first = operands.shift();
    // After `--`, it is a pattern whatever it looks like.
    if (first && !ended && fieldMayBeOption(first)) unsure.push(first);
  }
  if (target && !options.some((option) => target.test(option))) operands.pop();
  const quiet = reader.quiet !== undefined && !options.some((option) => reader.quiet?.test(option));
  const walk = unsure.length > 0 ? reader.walk && ANY_WALK : reader.walk?.(options);
  return { options, files: operands, unsure, quiet, walk };
}

/** Options whose values are never files. For others, such as `--from-file=$x`, that is not certain. */
const NO_FILE =
  /^(-[a-eg-zA-Z0-9]+["$]|--(lines|bytes|max-count|include|exclude|exclude-dir|regexp|colou?r|context|after-context|before-context|width|delimiter|fields|characters|key|field-separator|glob|iglob|type|indent|unified|label)=)/;

function divide({ values = '', flags = '', takes = {} }: FileReader, fields: readonly Field[]) {
  const options: string[] = [];
  const operands: Field[] = [];
  const unsure: Field[] = [];
  let ended = false;
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] as Field;
    const text = fieldText(field);
    if (ended) operands.push(field);
    else if (text === '--') ended = true;
    else if (text === undefined) (NO_FILE.test(field.spelt) && !field.splits ? unsure : operands).push(field);
    else if (/^-./s.test(text)) {
      const taken = own(takes, text) ?? takenByShort(text, takes);
      const more = taken ?? (takesNext(text, values, flags) ? 1 : 0);
      options.push(taken === 1 ? withValue(text, fields[i + 1]) : text);
      i += more;
    } else operands.push(field);
  }
  return { options, operands, unsure, ended };
}

/** How many words an abbreviated option takes. */
function takenByShort(option: string, takes: Readonly<Record<string, number>>): number | undefined {
  const name = /^--\w/.test(option) ? Object.keys(takes).find((one) => one.startsWith(option)) : undefined;
  return name === undefined ? undefined : takes[name];
}

function withValue(option: string, next: Field | undefined): string {
  const value = next && fieldText(next);
  return value === undefined ? option : `${option}=${value}`;
}

/** Its options could be anything. */
const ANY_WALK: FolderWalk = { links: 'followed', alone: 'always', everywhere: true };

/** `-n 5`, not `-n5`; and `-rn 5` only if `r` is known to take no value. */
function takesNext(option: string, values: string, flags: string): boolean {
  const [, ...letters] = option;
  const last = letters.pop();
  return last !== undefined && values.includes(last) && letters.every((letter) => flags.includes(letter));
}

/** The text of a word, if it is certain. */
export function fieldText({ possible }: Field): string | undefined {
  return possible.type === 'text' ? possible.text : undefined;
}

/** Whether a word is not known and may begin with a dash. */
export function fieldMayBeOption(field: Field): boolean {
  return fieldText(field) === undefined && !/^[^-$`"'{]/.test(field.spelt);
}

/** `if=FILE`. What dd writes is checked elsewhere. */
function ddFields(fields: readonly Field[]): Field[] {
  return fields.flatMap((field): Field[] => {
    const text = fieldText(field);
    if (text === undefined) return /^(of|bs|count|skip|seek|status)=/.test(field.spelt) ? [] : [field];
    return text.startsWith('if=') ? [{ ...field, possible: { type: 'text', text: text.slice(3) } }] : [];
  });
}

/** The first word of tar needs no dash. */
function tarFields(fields: readonly Field[]): readonly Field[] {
  const [first, ...others] = fields;
  const letters = first && fieldText(first);
  if (!first || !letters || letters.startsWith('-')) return fields;
  return [{ ...first, possible: { type: 'text', text: `-${letters}` } }, ...others];
}

/**
 * `-F FILE`, `--template=FILE`, `--contents FILE`: git stores or shows what the file contains, or names it in an
 * error.
 */
function givesText({ spelt }: Field, before: Field | undefined): boolean {
  const option = /^(-[a-zA-Z]*[FtS]|--(f|te|co|ig)[a-z-]*)$/;
  return (
    option.test((before && fieldText(before)) ?? '') ||
    /^(-[a-zA-Z]*[FtS]|--(f|te|co|ig)[a-z-]*=)./.test(spelt)
  );
}

/** Git may show all that it tracks. These commands also read other files. */
function sortedGitWords(fields: readonly Field[]): SortedWords | undefined {
  const at = fields.findIndex((field) => !fieldText(field)?.startsWith('-'));
  const subcommand = at < 0 ? undefined : fieldText(fields[at] as Field);
  const rest = fields.slice(at + 1);
  const has = (option: RegExp) => rest.some((field) => option.test(fieldText(field) ?? ''));
  switch (subcommand) {
    case 'add':
    case 'stage':
      return sortWords({ walk: gitAddWalk }, rest);
    case 'hash-object':
      return sortWords({}, rest);
    case 'commit':
    case 'tag':
    case 'merge':
    case 'notes':
    case 'blame':
      return sortWords(
        {},
        rest.filter((field, i) => givesText(field, rest[i - 1])),
      );
    case 'grep':
      return has(/^--(no-i|u|no-ex)/) ? sortWords({ ...GREP, walk: () => ANY_WALK }, rest) : undefined;
    case 'diff': {
      if (has(/^--no-index/)) return sortWords(DIFF, rest);
      // Outside a repository, or with a path outside it, it compares any two files or folders.
      const sorted = sortWords({ values: 'GSUO', walk: () => ({ links: 'followed', pairs: true }) }, rest);
      return sorted.files.length > 1 ? sorted : undefined;
    }
    default:
      return undefined;
  }
}
