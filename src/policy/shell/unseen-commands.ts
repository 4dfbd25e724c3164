import { basename } from 'node:path';
import { wordsOf } from '../../lib/text.js';
import { programName } from './alias-table.js';
import { knownText, type ShellWord } from './model.js';
import { awkHazard } from './programs-awk.js';
import { testHazard } from './programs-builtins.js';
import { sedHazard } from './programs-sed.js';
import { givesOtherNames } from './variables.js';
import { own } from '../../lib/own.js';

/** Why a command may run something that it does not show, or give a command another name, if so. */
export function unseenCommand(words: readonly ShellWord[]): string | undefined {
  const [program, ...args] = words;
  if (!program) return undefined;
  if (program.literal === undefined) return `${program.text} is not known before it runs`;
  const name = programName(basename(program.literal));
  const [, reasonFor] = SELF_EXPLAINING.find(([names]) => names.test(name)) ?? [];
  if (reasonFor) return reasonFor(words, name);
  if (SETTERS.has(name)) return hiddenInNames(name, args);
  return own(RENAMERS, name)?.(args)
    ? `${name} ${args[0]?.text ?? ''} can give commands other names`
    : undefined;
}

/** Programs whose arguments say what else they run, and the function that looks for it. */
const SELF_EXPLAINING: readonly (readonly [
  RegExp,
  (words: readonly ShellWord[], name: string) => string | undefined,
])[] = [
  [/^g?sed$/, (words) => sedHazard(words, { files: true })?.reason],
  [/^([gmn]|original-)?awk$/, (words) => awkHazard(words, true)?.reason],
  [
    /^(g|bsd)?tar$/,
    (words, name) => (words.slice(1).some(runsInTar) ? `${name} can run other programs` : undefined),
  ],
  [/^(test|\[)$/, (words) => testHazard(words)?.reason],
];

/** Only the letters of the first word need no dash. Another program fetches `host:archive`. */
function runsInTar(word: ShellWord, at: number): boolean {
  const text = knownText(word);
  const long = /^--(to-c|checkpoint-a|use|rsh|rmt|info|new-v)/.test(text);
  return (
    long ||
    /^-[A-Za-z]*[IF]/.test(text) ||
    (at === 0 && /^[A-Za-z]*[IF]/.test(text)) ||
    /^[^/-][^/]*:/.test(text)
  );
}

/** Arguments that give subcommands other names, by program. */
const RENAMERS: Readonly<Record<string, (args: readonly ShellWord[]) => boolean>> = {
  git: (args) =>
    globalOptions(args).some((text) => /^(-c|--config-env|--exec-path=)/.test(text)) || setsAlias(args),
  make: (args) => args.some(({ literal, prefix }) => /^(--ev|-[a-zA-Z]*E)/.test(literal ?? prefix)),
  cargo: (args) => args.some(({ literal, prefix }) => (literal ?? prefix).startsWith('--conf')),
  gh: ([first, second]) =>
    first?.literal === 'alias' && (second?.literal === undefined || /^(set|import)$/.test(second.literal)),
};

const ALIAS_KEY = /^(-c|--config=)?(alias\.|help\.autocorrect|include\.|includeif\.)/i;

/** `git config alias.p push`, or the same with a key that is not known. */
function setsAlias(args: readonly ShellWord[]): boolean {
  const at = args.findIndex(({ literal }) => literal === 'config' || literal === 'clone');
  const given = at < 0 ? [] : args.slice(at + 1);
  if (given.some(({ literal, prefix }) => ALIAS_KEY.test(literal ?? prefix))) return !onlyReadsConfig(given);
  // After a known key there are only values.
  const key = given.findIndex(
    ({ literal = '' }, i) => /^\w[\w-]*\./.test(literal) && !/^(-f|--.*)$/.test(given[i - 1]?.literal ?? ''),
  );
  const keys = key < 0 ? given : given.slice(0, key);
  return (
    args[at]?.literal === 'config' &&
    keys.some(({ literal, prefix }) => literal === undefined && prefix === '')
  );
}

function onlyReadsConfig(given: readonly ShellWord[]): boolean {
  const first = given.find(({ literal = '' }) => !/^--(global|local|system|worktree|show-.*)$/.test(literal));
  return /^(--get.*|--list|-l|get|list)$/.test(first?.literal ?? '');
}

/** A program's options before its subcommand; values of options count as options. */
function globalOptions(args: readonly ShellWord[]): string[] {
  const texts = args.map(({ literal }) => literal ?? '');
  const end = texts.findIndex((text, i) => !text.startsWith('-') && !(texts[i - 1] ?? '').startsWith('-'));
  return end < 0 ? texts : texts.slice(0, end);
}

/** Builtins that take names of variables, whose subscripts are evaluated. */
const SETTERS = new Set(
  wordsOf('printf read unset let declare typeset local export readonly wait getopts mapfile readarray'),
);
const DECLARING = /^(declare|typeset|local|export|readonly)$/;
/** Their options with a value that is not a name. */
const VALUED = /^-[a-zA-Z]*[diNnptuOsc]$/;

function hiddenInNames(name: string, args: readonly ShellWord[]): string | undefined {
  // Without -v, printf takes no names of variables.
  if (name === 'printf' && !/^-./.test(args[0]?.literal ?? '-v')) return undefined;
  const named = args.find(({ literal, prefix }) => givesOtherNames(nameIn(literal ?? prefix)));
  if (named) return `${nameIn(named.prefix)} can give commands other names`;
  // Whatever such a variable is set to later is evaluated.
  if (DECLARING.test(name) && args.some(({ prefix }) => /^[-+][a-zA-Z]*[in]/.test(prefix)))
    return `${name} can declare a variable whose values are evaluated`;
  if (name === 'let' && !args.every(({ literal }) => PLAIN_LET.test(literal ?? '')))
    return 'let evaluates the values of variables';
  const subscript = args.some(({ literal, prefix }) => /^[A-Za-z_]\w*\[.*[$`]/s.test(literal ?? prefix));
  const unknown = /^(read|unset|declare|typeset|local)$/.test(name) && args.some(isUnknownName);
  return subscript || unknown ? `${name} can run commands in a subscript` : undefined;
}

/** `let` with numbers only. */
const PLAIN_LET = /^[a-z]\w*(=\d+|\+\+|--|[-+*]=\d+)$/;

function nameIn(text: string): string {
  return /^[A-Za-z_]\w*(?=\+?=|$)/.exec(text)?.[0] ?? '';
}

/** A word that may turn out to be a name with a subscript. The value of an option is not a name. */
function isUnknownName({ literal, prefix }: ShellWord, at: number, all: readonly ShellWord[]): boolean {
  if (literal !== undefined || VALUED.test(all[at - 1]?.literal ?? '')) return false;
  return !/^[A-Za-z_]\w*\+?=/.test(prefix);
}
