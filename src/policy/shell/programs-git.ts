import { wordsOf } from '../../lib/text.js';
import { knownText, type Hazard, type ShellWord } from './model.js';
import {
  endOfOptions,
  isDangerousOption,
  isMessageOption,
  takesMessage,
  type ProgramHazards,
} from './options.js';
import { own } from '../../lib/own.js';

/** What may come before the subcommand. Other options may select another configuration, repository or program. */
const GIT_GLOBAL =
  /^(--no-pager|--no-optional-locks|--literal-pathspecs|--no-replace-objects|-P|--version|--help)$/;

/**
 * Subcommands that a rule for git alone covers. All others, including aliases and programs named git-…, may run what
 * they are told to, or write anywhere.
 */
const GIT_PLAIN = new Set(
  wordsOf(`
    add annotate blame branch cat-file check-attr check-ignore check-mailmap check-ref-format checkout cherry
    cherry-pick commit commit-tree count-objects describe diff diff-files diff-index diff-tree for-each-ref fsck grep
    hash-object log ls-files ls-tree merge merge-base merge-tree mv name-rev notes patch-id range-diff reset restore
    rev-list rev-parse revert rm shortlog show show-branch show-ref stash status stripspace switch tag version whatchanged
    write-tree
  `),
);

const GIT_OPTIONS: ProgramHazards = {
  long: [
    ...wordsOf(`
        help ext-diff textconv output output-directory upload-pack receive-pack exec extcmd
      `),
    ...['open-files-in-pager', 'template', 'separate-git-dir', 'show-signature', 'gpg-sign', 'no-index'],
    ...wordsOf(`
        pathspec-from-file exclude-from config edit trailer recurse-submodules run verify-signatures filters
      `),
  ],
  fine: ['verify', 'filter'],
};
/** Short options that are dangerous for one subcommand only. */
const GIT_SHORT: Readonly<Record<string, RegExp>> = {
  grep: /^-[a-zA-Z0-9]*[Of]/,
  rebase: /^-[a-zA-Z0-9]*x/,
  commit: /^-[a-zA-Z0-9]*[eS]/,
  add: /^-[a-zA-Z0-9]*e/,
  tag: /^-[a-zA-Z0-9]*[suv]|^--v/,
  clone: /^-[a-zA-Z0-9]*[uc]/,
  diff: /^-O/,
  log: /^-O/,
  show: /^-O/,
};

/** The word that makes git run other programs, or write where it should not. */
export function gitHazard(words: readonly ShellWord[], named: number): Hazard | undefined {
  const at = subcommandAt(words);
  const globals = words.slice(1, at < 0 ? undefined : at);
  const odd = globals.findIndex(({ literal }, i) => i + 1 >= named && !GIT_GLOBAL.test(literal ?? ''));
  if (odd >= 0) return { index: odd + 1, reason: `git ${globals[odd]?.text} can change what git runs` };
  if (at < 0) return undefined;
  const subcommand = words[at]?.literal;
  if (at >= named && (subcommand === undefined || !GIT_PLAIN.has(subcommand))) {
    return { index: at, reason: `git ${words[at]?.text} can run other programs or write anywhere` };
  }
  return gitOptionHazard(words, Math.max(at + 1, named), subcommand);
}

/** Options of git itself that take the next word. */
const GIT_VALUED = /^(-C|-c|--git-dir|--work-tree|--namespace|--config-env|--super-prefix|--attr-source)$/;

function subcommandAt(words: readonly ShellWord[]): number {
  return words.findIndex(
    (word, i) =>
      i > 0 && !knownText(word).startsWith('-') && !GIT_VALUED.test(knownText(words[i - 1] as ShellWord)),
  );
}

function gitOptionHazard(
  words: readonly ShellWord[],
  from: number,
  subcommand: string | undefined,
): Hazard | undefined {
  const short = own(GIT_SHORT, subcommand ?? '');
  const end = endOfOptions(words);
  for (let i = from; i < words.length && i !== end; i++) {
    const text = knownText(words[i] as ShellWord);
    // The value of -m is text, whatever it looks like.
    if (takesMessage(words) && isMessageOption(text)) i++;
    else if (
      isDangerousOption(text, GIT_OPTIONS) ||
      short?.test(text) ||
      checksSignatures(text, subcommand)
    ) {
      return { index: i, reason: `${text} makes git ${subcommand} run or write something else` };
    }
  }
  return undefined;
}

/** Formats that show a signature, whatever comes between `%` and its letter, or that sort by it. */
const SIGNATURE = /%[-+ ]?G|%\([^)]*signature\b|^--sort=-?signature/;

/** To show signatures, git checks them with a program that the repository may name. */
function checksSignatures(text: string, subcommand = ''): boolean {
  return SIGNATURE.test(text) && !/^(commit|add|grep)$/.test(subcommand);
}
