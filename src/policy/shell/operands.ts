import { basename } from 'node:path';
import { wordsOf } from '../../lib/text.js';
import { knownText, literalAt, literalWord, type ShellWord } from './model.js';
import { isMessageOption, takesMessage } from './options.js';

/** A path that a command names, and what it would do to it. */
export interface OperandUse {
  readonly word: ShellWord;
  readonly path: string;
  readonly access: 'read' | 'write';
  /** It is probably not a path at all, and matters only if it exists. */
  readonly ifExists?: boolean;
  /** A folder's whole content would arrive there: not in the workspace itself. */
  readonly overlay?: boolean;
}

/** Programs whose arguments are not paths, or are only printed. */
const PRINTERS = new Set(['echo', 'printf', ':', 'true', 'false', 'test', '[', 'exit', 'return']);
/** Programs whose first operand is a pattern or a program. */
const PATTERN_FIRST = new Set(wordsOf('grep egrep fgrep rg sed awk gawk mawk jq tr'));
/** Programs that write to every operand, or to the last one only. */
const WRITE_ALL = new Set(
  wordsOf(
    'rm rmdir mkdir touch tee truncate shred unlink mv chmod chown chgrp mkfifo mknod patch prettier black gofmt ruff eslint sponge dos2unix unix2dos rustfmt goimports shfmt isort autopep8 yapf clang-format stylelint biome rubocop',
  ),
);
const TAR = new Set(['tar', 'gtar', 'bsdtar']);
const WRITE_LAST = new Set(['cp', 'ln', 'install', 'rsync', 'scp']);
/** `-t DIR`, `-vt DIR`, `-tDIR`, `--target-directory=DIR` and its abbreviations. */
const TARGET_OPTION = /^(?:-[a-su-zA-Z]*t(.*)|--t[a-z-]*(?:=(.+))?)$/;
const TARGET_PROGRAMS = new Set(['cp', 'mv', 'ln', 'install']);

/** Programs whose options name files for reports and caches. */
const OUTPUT_OPTIONS = new Set(['jest', 'vitest', 'pytest', 'tsc']);

/** Programs that read `@FILE` as the content of a file. */
const FROM_FILES = new Set(wordsOf('curl gh http https xh glab'));

/** Programs that start the one that their first argument names. */
const STARTERS = new Set(['npx', 'bunx', 'pnpx']);
const IN_PLACE = /^(-[a-zA-Z]*i|--i)/;
const GIVES_PATTERN = /^(-[a-zA-Z0-9]*[ef]|--(regex|file|expr|from))/;
const LINKS = /^(-[a-zA-Z]*[sl]|--(sym|link|l|s).*)/;

/** The paths among the words of a command, as far as they are visible. */
export function operandsOf(words: readonly ShellWord[]): OperandUse[] {
  const program = basename(words[0]?.literal ?? '');
  if (STARTERS.has(program)) return operandsOf(words.slice(1));
  // The shell reads folders for a glob, whoever prints it.
  if (PRINTERS.has(program)) return words.slice(1).flatMap((word) => (word.glob ? [use(word, 'read')] : []));
  const { operands, uses } = sortOperands(program, words);
  if (FROM_FILES.has(program)) uses.push(...words.flatMap(fileValue));
  if (program === 'dd') return operands.flatMap(ddUse);
  const options = words.map(({ literal }) => literal ?? '');
  const given = [...uses];
  const first = PATTERN_FIRST.has(program) ? operands.shift() : undefined;
  // With -e or -f, the first operand is a file.
  if (first)
    uses.push({ ...use(first, 'read'), ifExists: !options.some((text) => GIVES_PATTERN.test(text)) });
  const written = firstWritten(program, operands, options);
  uses.push(...operands.map((word, i) => use(word, i >= written ? 'write' : 'read')));
  if (TAR.has(program)) uses.push(...archivesOf(words).map((word) => use(word, 'write')));
  if (TARGET_PROGRAMS.has(program)) uses.push(...arrivals(operands, given, options));
  return uses;
}

/** The index of the first operand that a program writes to. */
function firstWritten(program: string, operands: readonly ShellWord[], options: readonly string[]): number {
  const none = operands.length;
  if (WRITE_ALL.has(program)) return 0;
  if (program === 'sed') return options.some((text) => IN_PLACE.test(text)) ? 0 : none;
  if (!WRITE_LAST.has(program)) return none;
  const links = program === 'ln' || (program === 'cp' && options.some((text) => LINKS.test(text)));
  // If a word may become several, it is not known which is the last.
  const isSeveral = ({ splits, glob }: ShellWord) => splits || (glob && operands.length === 1);
  if (links || operands.some(isSeveral)) return 0;
  return operands.length > 1 ? operands.length - 1 : none;
}

/**
 * The archives that tar creates or changes: the values of `f`, whose place among the letters says which word it is.
 */
function archivesOf([, ...args]: readonly ShellWord[]): ShellWord[] {
  const texts = args.map(knownText);
  const letters = texts.map((text, i) => /^-([A-Za-z]+)/.exec(text)?.[1] ?? (i === 0 ? text : ''));
  const makes =
    letters.some((some) => /[cruA]/.test(some)) ||
    texts.some((text) => /^--(cr|ap|up|cat|con|del)/.test(text));
  if (!makes) return [];
  return texts.flatMap((text, i) => {
    const isOldStyle = i === 0 && /^[A-Za-z]+$/.test(text);
    if (isOldStyle)
      return text.includes('f') ? args.slice(1, 1 + text.replaceAll(/[^bfgHKLNTVXCFI]/g, '').length) : [];
    const glued = /^(?:-[A-Za-z]*?f|--fi?l?e?=)(.+)$/s.exec(text)?.[1];
    if (glued !== undefined && args[i]?.literal !== undefined) return [literalWord(glued)];
    return /^(-[A-Za-z]*f|--fi?l?e?)$/.test(text) ? args.slice(i + 1, i + 2) : [];
  });
}

/** Sorts the words of a command: operands, and paths that are values of options. */
function sortOperands(program: string, words: readonly ShellWord[]) {
  const operands: ShellWord[] = [];
  const uses: OperandUse[] = [];
  let ended = false;
  for (let i = 1; i < words.length; i++) {
    const word = words[i] as ShellWord;
    const text = knownText(word);
    const target = !ended && TARGET_PROGRAMS.has(program) ? TARGET_OPTION.exec(text) : null;
    if (text === '--') ended = true;
    else if (target) {
      const glued = target[1] || target[2];
      if (glued) uses.push({ word: literalWord(glued), path: glued, access: 'write' });
      else if (words[i + 1]) uses.push(use(words[++i] as ShellWord, 'write'));
    } else if (!ended && isOption(text)) uses.push(...optionUses(program, text, word, operands[0]?.literal));
    else if (!isMessage(words, i) && !isExcluded(words, i)) operands.push(word);
  }
  return { operands, uses };
}

function isOption(text: string): boolean {
  return text.startsWith('-') && text !== '-';
}

function isMessage(words: readonly ShellWord[], at: number): boolean {
  return takesMessage(words) && isMessageOption(literalAt(words, at - 1));
}

const NOT = /^(!|-not)$/;

/** `find … -not -name X`: not a file to read, but one to leave out. */
function isExcluded(words: readonly ShellWord[], i: number): boolean {
  const [before, negation, test] = [3, 2, 1].map((back) => words[i - back]?.literal ?? '');
  if (words[0]?.literal !== 'find' || NOT.test(before ?? '')) return false;
  return NOT.test(negation ?? '') && /^-i?(name|path|wholename)$/.test(test ?? '');
}

/** Short options with the name of a file attached. */
const GLUED: readonly (readonly [RegExp, RegExp])[] = [
  [/grep$/, /^-[a-zA-Z0-9]*f(.+)$/],
  [/^git$/, /^-[a-zA-Z0-9]*F(.+)$/],
];

function valueIn(program: string, text: string): string | undefined {
  const [, glued] = GLUED.find(([programs]) => programs.test(program)) ?? [];
  return /^-[^=]*=(.+)$/s.exec(text)?.[1] ?? glued?.exec(text)?.[1];
}

function optionUses(
  program: string,
  text: string,
  word: ShellWord,
  subcommand: string | undefined,
): OperandUse[] {
  const value = valueIn(program, text);
  if (word.literal === undefined) return [];
  if (value === undefined) return gluedUses(program === 'git' ? `git ${subcommand}` : program, text);
  // Name patterns to include or exclude.
  if (program.endsWith('grep') && /^--(include|exclude|exclude-dir)=/.test(text)) return [];
  const writes =
    WRITE_ALL.has(program) ||
    OUTPUT_OPTIONS.has(program) ||
    /^--?(o|out|target-dir|junit|log|cov|.*profile)/.test(text);
  const access = writes ? 'write' : 'read';
  return [{ word: literalWord(value), path: value, access }];
}

/** Options whose attached value is text: something to search for, to split at, or to leave out. */
const TEXTS: readonly (readonly [RegExp, RegExp])[] = [
  [/grep$|^(rg|ag|ack|sed)$/, /^-[a-zA-Z0-9]*[egIx]/],
  [/^(g|m|n)?awk$|^(cut|sort|tr|column|paste|nl|xargs)$/, /^-[a-zA-Z0-9]*[Ftdsov]/],
  [/^git (?!blame)/, /^-[GSLm]/],
];

/** `-m.env`: it is not known here which letter takes the rest as its value, so every rest that is a file counts. */
function gluedUses(program: string, text: string): OperandUse[] {
  const [, rest = ''] = /^-[A-Za-z0-9](.+)$/s.exec(text) ?? [];
  if (rest.length < 2 || TEXTS.some(([programs, option]) => programs.test(program) && option.test(text)))
    return [];
  return [...rest.slice(0, MAX_GLUED)].map((_, i): OperandUse => {
    const path = rest.slice(i);
    return { word: literalWord(path), path, access: 'read', ifExists: true };
  });
}

const MAX_GLUED = 8;

/**
 * Files keep their names when they are put into a folder. A folder that is copied over another brings all it
 * contains.
 */
function arrivals(
  operands: readonly ShellWord[],
  uses: readonly OperandUse[],
  options: readonly string[],
): OperandUse[] {
  const given = uses.find(({ access }) => access === 'write')?.path;
  const sources = given === undefined ? operands.slice(0, -1) : operands;
  const target = given ?? (operands.length > 1 ? operands.at(-1)?.literal : undefined);
  if (target === undefined) return [];
  const lays =
    options.some((text) => /^(-[a-zA-Z]*T|--no-t|--p)/.test(text)) || sources.some(bringsUnknownNames);
  const names = sources.map(({ literal, prefix }) => basename(literal ?? prefix)).filter(Boolean);
  const arriving = names.map((name) => use(literalWord(`${target}/${name}`), 'write'));
  return lays ? [...arriving, { ...use(literalWord(target), 'write'), overlay: true }] : arriving;
}

/**
 * `dir/.`, `dir/.*`, or a last name that is not known and may begin with a dot. A bare `*` leaves dot files alone.
 */
function bringsUnknownNames({ value, literal }: ShellWord): boolean {
  const name = value.replace(/\/+$/, '');
  if (/\/(\.|\*|\.\*)$/.test(name)) return true;
  return literal === undefined && !/(^|\/)[\w*?][^/$`{]*$/.test(value);
}

function use(word: ShellWord, access: OperandUse['access']): OperandUse {
  return { word, path: knownText(word), access };
}

/** `@.env`, `-d@.env`, `body=@.env`. */
function fileValue({ literal = '' }: ShellWord): OperandUse[] {
  const path = /(?:^|=|^-[A-Za-z])@(.+)$/.exec(literal)?.[1];
  return path === undefined ? [] : [{ word: literalWord(path), path, access: 'read' }];
}

function ddUse(word: ShellWord): OperandUse[] {
  const [, key, path] = /^(if|of)=(.*)$/.exec(word.literal ?? word.prefix) ?? [];
  return path === undefined
    ? []
    : [{ word: literalWord(path), path, access: key === 'of' ? 'write' : 'read' }];
}
