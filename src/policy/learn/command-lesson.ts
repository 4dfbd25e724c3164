import { isWide } from '../lint.js';
import { onlyLooks } from '../may-change.js';
import type { Pattern } from '../shell/alias-table.js';
import { FREE } from '../shell/free.js';
import { withoutIdle } from '../shell/idle-options.js';
import type { ShellWord } from '../shell/model.js';
import { operandsOf } from '../shell/operands.js';
import { hazardOf, isKnownProgram } from '../shell/programs.js';
import {
  CODE_OPTION,
  GIT_OPEN,
  GIT_PHRASES,
  GOAL_RUNNERS,
  neverProgram,
  OPEN_SUBCOMMANDS,
  SCRIPT_STARTERS,
} from './never.js';
import { own } from '../../lib/own.js';

/** What a command that was seen teaches: patterns, the widest that may be learnt first, or why there is none. */
export type CommandLesson = { readonly patterns: readonly Pattern[] } | { readonly never: string };

/** As a policy takes it. */
const PLAIN_WORD = /^[\w@%+=:,./~^-]+$/;

const never = (why: string): CommandLesson => ({ never: why });

/** The closed list of generalisations: a word of a program or subcommand is never one of them. */
export function lessonOf(spelt: readonly ShellWord[]): CommandLesson {
  const words = withoutIdle(spelt);
  const name = words[0]?.literal;
  if (name === undefined || name === '') return never('its program is not known before it runs');
  // Behind a wrapper it is not free, and as a rule it would say nothing.
  if (FREE.has(name)) return never('no rule is about it');
  const why = neverProgram(name.slice(name.lastIndexOf('/') + 1));
  if (why !== undefined) return never(why);
  if (name === 'git') return gitLesson(words);
  if (own(SCRIPT_STARTERS, name)) return scriptLesson(name, words);
  if (name === 'npx') return startedLesson(words);
  if (GOAL_RUNNERS.has(name)) return goalLesson(words);
  if (own(OPEN_SUBCOMMANDS, name)) return subcommandLesson(name, words);
  if (!name.includes('/') && (isKnownProgram(name) || onlyLooks([name]))) return openLesson(words, 1);
  return unknownLesson(words);
}

/** All words as they are, for whatever a pattern can say. */
export function exact(words: readonly ShellWord[]): Pattern | undefined {
  const texts = words.map(({ literal }) => literal);
  return texts.every((text) => text !== undefined && PLAIN_WORD.test(text)) ? (texts as string[]) : undefined;
}

function exactly(words: readonly ShellWord[]): CommandLesson {
  const pattern = exact(words);
  return pattern ? { patterns: [pattern] } : never('no rule can name its words');
}

/** Operands and options are left open behind the first words, as far as the dangerous ones among them are known. */
function openLesson(words: readonly ShellWord[], named: number): CommandLesson {
  const hazard = hazardOf(words, named);
  if (hazard) return never(hazard.reason);
  const whole = exact(words);
  // What it writes to is not left open.
  if (operandsOf(words).some(({ access }) => access === 'write')) return exactly(words);
  const [first = '', second] = words.map(({ literal }) => literal);
  if (named === 1 && isWide([first])) {
    const wide = second !== undefined && PLAIN_WORD.test(second) ? [first, second] : undefined;
    return wide
      ? { patterns: [wide, ...(whole ? [whole] : [])] }
      : never('a rule for it alone would cover much');
  }
  const open = words.slice(0, named).map(({ literal }) => literal as string);
  return { patterns: [open, ...(whole && whole.length > named ? [whole] : [])] };
}

function gitLesson(words: readonly ShellWord[]): CommandLesson {
  const subcommand = words[1]?.literal ?? '';
  const phrase = GIT_PHRASES.find((one) => one.every((word, i) => words[i + 1]?.literal === word));
  if (phrase)
    return words.length === phrase.length + 1
      ? { patterns: [['git', ...phrase]] }
      : never('it can do more than look');
  return GIT_OPEN.has(subcommand)
    ? openLesson(words, 2)
    : never(`git ${subcommand} can change, send or run more than was seen`);
}

/** A script of the project, with all that it was given: what that means to it is not known. */
function scriptLesson(name: string, words: readonly ShellWord[]): CommandLesson {
  const rest = words
    .slice(1)
    .map(({ literal }) => literal ?? '…')
    .join(' ');
  if (!SCRIPT_STARTERS[name]?.test(rest)) return never('it installs or changes packages, or runs others');
  const named = rest.startsWith('run') ? 3 : 2;
  const hazard = hazardOf(words, named);
  return hazard ? never(hazard.reason) : exactly(words);
}

/** `npx prettier --check src`: of a program whose dangerous options are known, and then word for word. */
function startedLesson(words: readonly ShellWord[]): CommandLesson {
  const started = words[1]?.literal ?? '';
  if (!isKnownProgram(started) || neverProgram(started) !== undefined || started.includes('/'))
    return never('it may run a package from elsewhere');
  const hazard = hazardOf(words, 2);
  return hazard ? never(hazard.reason) : exactly(words);
}

function goalLesson(words: readonly ShellWord[]): CommandLesson {
  const goals = words.slice(1).filter(({ literal }) => literal !== undefined && !literal.startsWith('-'));
  if (goals.length === 0) return never('it names no goal, and a rule for it alone would cover all');
  if (words.some(({ literal = '' }) => CODE_OPTION.test(literal))) return never('it is given code');
  // What its options do beyond a goal shows with nothing but the program named.
  const hazard = hazardOf(
    words.filter((word, i) => i === 0 || !goals.includes(word)),
    1,
  );
  return hazard ? never(hazard.reason) : exactly(words);
}

function subcommandLesson(name: string, words: readonly ShellWord[]): CommandLesson {
  const subcommand = words[1]?.literal ?? '';
  return OPEN_SUBCOMMANDS[name]?.has(subcommand)
    ? openLesson(words, 2)
    : never(`${name} ${subcommand} can install, publish or run more than was seen`);
}

/** Whatever options it has besides: nothing is left out, and by its name alone it is not learnt. */
function unknownLesson(words: readonly ShellWord[]): CommandLesson {
  if (words.some(({ literal = '' }) => CODE_OPTION.test(literal))) return never('it is given code');
  if (words.length < 2) return never('a rule for it alone would let it have any option');
  return exactly(words);
}
