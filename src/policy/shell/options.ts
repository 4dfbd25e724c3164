import { basename } from 'node:path';
import type { Hazard, ShellWord } from './model.js';

/** What is dangerous about a program's options. */
export interface ProgramHazards {
  /** Long options that run programs, load code or write files; abbreviations count too. */
  readonly long?: readonly string[];
  /** Long options that look like abbreviations of those, but are not. */
  readonly fine?: readonly string[];
  /** The program also accepts long options with one dash or three, and in capitals. */
  readonly anyDashes?: boolean;
  /** Options whose value may be a plain name: a file of the project, next to those that are read anyway. */
  readonly ownFile?: readonly string[];
  /** Letters of short options that do the same. */
  readonly short?: string;
  /** Whole words that do the same. */
  readonly words?: RegExp;
  /** `-D…` and `-P…` define properties, and their letters are not options. */
  readonly defines?: boolean;
  /** The program reads words that are not known yet as text, never as options. */
  readonly takesText?: boolean;
  /** A check of the whole command. */
  readonly check?: (words: readonly ShellWord[], named: number) => Hazard | undefined;
}

/** Whether a word makes a program do more than its job. */
export function isDangerousOption(text: string, program: ProgramHazards): boolean {
  if (program.words?.test(text) || text.startsWith('---')) return true;
  if (program.anyDashes && text.startsWith('-') && isDashed(text, program)) return true;
  if (program.defines && /^-[DP]/.test(text)) return false;
  const [, name] = /^--([A-Za-z0-9][\w-]*)/.exec(text) ?? [];
  if (name !== undefined) return isLong(name, program);
  const [, letters = ''] = /^-([A-Za-z0-9]+)/.exec(text) ?? [];
  return [...letters].some((letter) => program.short?.includes(letter));
}

/** Programs accept abbreviated options, and some of them `--output-file` for `--outputFile`. */
function isLong(name: string, { long = [], fine = [] }: ProgramHazards): boolean {
  return (
    !fine.includes(name) &&
    long.some((option) => option.startsWith(name) || bare(option).startsWith(bare(name)))
  );
}

const bare = (option: string) => option.replaceAll('-', '').toLowerCase();

function isDashed(text: string, { long = [] }: ProgramHazards): boolean {
  const bare = text.replace(/^-+/, '').replace(/=.*$/s, '').toLowerCase();
  return bare.length > 1 && long.some((option) => option.toLowerCase().startsWith(bare));
}

/** `--config jest.ci.js`, `-p tsconfig.build.json`: a plain name, not a path that leads elsewhere. */
export function isOwnFile(
  words: readonly ShellWord[],
  at: number,
  { ownFile = [] }: ProgramHazards,
): boolean {
  const [, name = '', glued] = /^--?([A-Za-z-]+)(?:=(.*))?$/s.exec(words[at]?.literal ?? '') ?? [];
  if (!ownFile.includes(name)) return false;
  const next = words[at + 1];
  // Without a value, it means the default file.
  if (glued === undefined && (!next || next.literal?.startsWith('-'))) return true;
  const value = glued ?? next?.literal ?? '';
  return /^(\.\/)?(?!\.\.)[\w@.][\w@.-]*$|^\.\/?$/.test(value);
}

/**
 * The index of the `--` after which there are certainly no options. Only for programs that respect it: find reads
 * options after `--`, and elsewhere `--` may be the value of an option.
 */
export function endOfOptions(words: readonly ShellWord[]): number {
  const [program, subcommand] = [basename(words[0]?.literal ?? ''), words[1]?.literal ?? ''];
  const keeps = program === 'git' ? GIT_KEEPS_TO_DASHES.test(subcommand) : /^(npm|cargo)$/.test(program);
  return keeps ? words.findIndex(({ literal }) => literal === '--') : -1;
}

const GIT_KEEPS_TO_DASHES = /^(log|diff|show|add|commit|status|checkout|restore|rm|blame)$/;

/** Commands whose `-m` takes a text. */
export function takesMessage(words: readonly ShellWord[]): boolean {
  return words[0]?.literal === 'git' && /^(commit|tag|merge|stash|notes)$/.test(words[1]?.literal ?? '');
}

export function isMessageOption(text: string): boolean {
  return /^(-[a-z]*m|--message)$/.test(text);
}
