import { isWide } from '../lint.js';
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
  OPEN_PROGRAMS,
  SCRIPT_STARTERS,
  SENDING,
  SUBCOMMANDS,
} from './never.js';
import type { CommandForm } from './lesson.js';
import { own } from '../../lib/own.js';

/** What a command teaches: its forms, starting with the widest that may be learnt, or why there is none. */
export type CommandLesson = { readonly forms: readonly CommandForm[] } | { readonly never: string };

/** A word that a policy accepts. */
const PLAIN_WORD = /^[\w@%+=:,./~^-]+$/;

const never = (why: string): CommandLesson => ({ never: why });

/** A command as written, and without options that only change how much it prints. */
interface Seen {
  readonly spelt: readonly ShellWord[];
  readonly words: readonly ShellWord[];
}

/** The closed list of generalisations: none of them replaces a program or subcommand. */
export function lessonOf(spelt: readonly ShellWord[]): CommandLesson {
  const words = withoutIdle(spelt);
  const seen = { spelt, words };
  const name = words[0]?.literal;
  if (name === undefined || name === '') return never('its program is not known before it runs');
  // Behind a wrapper it is not free, and a rule for it would say nothing.
  if (FREE.has(name)) return never('no rule is about it');
  const why = neverProgram(name.slice(name.lastIndexOf('/') + 1));
  if (why !== undefined) return never(why);
  if (name === 'git') return gitLesson(seen);
  if (own(SCRIPT_STARTERS, name)) return scriptLesson(name, seen);
  if (name === 'npx') return startedLesson(seen);
  if (GOAL_RUNNERS.has(name)) return goalLesson(seen);
  if (own(SUBCOMMANDS, name)) return subcommandLesson(name, seen);
  if (OPEN_PROGRAMS.has(name)) return openLesson(seen, 1);
  if (!name.includes('/') && isKnownProgram(name)) return wholeLesson(seen, 1);
  return unknownLesson(seen);
}

/** All words as they are, if a pattern can hold them. */
export function exact(words: readonly ShellWord[]): Pattern | undefined {
  const texts = words.map(({ literal }) => literal);
  return texts.every((text) => text !== undefined && PLAIN_WORD.test(text)) ? (texts as string[]) : undefined;
}

/** Exactly what was seen. */
function exactly({ spelt }: Seen): CommandLesson {
  const words = exact(spelt);
  return words ? { forms: [{ words, exact: true }] } : never('no rule can name its words');
}

/** What was seen, unless an option in it is known to make the program do more. */
function wholeLesson(seen: Seen, named: number): CommandLesson {
  const hazard = hazardOf(seen.words, named);
  return hazard ? never(hazard.reason) : exactly(seen);
}

/** Leaves operands and options after the first words open, if the dangerous ones are known. */
function openLesson(seen: Seen, named: number): CommandLesson {
  const { words } = seen;
  const hazard = hazardOf(words, named);
  if (hazard) return never(hazard.reason);
  const whole = exactly(seen);
  // What it writes to stays fixed.
  if (operandsOf(words).some(({ access }) => access === 'write')) return whole;
  const texts = words.map(({ literal = '' }) => literal);
  const isTooShort = named === 1 && isWide(texts.slice(0, 1));
  const open = texts.slice(0, isTooShort ? 2 : named);
  if (isTooShort && !(open[1] !== undefined && PLAIN_WORD.test(open[1]))) return whole;
  return { forms: [{ words: open, exact: false }, ...('forms' in whole ? whole.forms : [])] };
}

function gitLesson(seen: Seen): CommandLesson {
  const texts = seen.words.map(({ literal }) => literal);
  const [, subcommand = ''] = texts;
  const phrase = GIT_PHRASES.find((one) => one.every((word, i) => texts[i + 1] === word));
  if (phrase) return texts.length === phrase.length + 1 ? exactly(seen) : never('it can do more than look');
  return GIT_OPEN.has(subcommand)
    ? openLesson(seen, 2)
    : never(`git ${subcommand} can change, send or run more than was seen`);
}

/** A script of the project with all its arguments: their meaning to the script is not known. */
function scriptLesson(name: string, seen: Seen): CommandLesson {
  const rest = seen.words
    .slice(1)
    .map(({ literal }) => literal ?? '…')
    .join(' ');
  if (!SCRIPT_STARTERS[name]?.test(rest)) return never('it installs or changes packages, or runs others');
  return wholeLesson(seen, rest.startsWith('run') ? 3 : 2);
}

/** `npx prettier --check src`: only programs whose dangerous options are known, and then word for word. */
function startedLesson(seen: Seen): CommandLesson {
  const started = seen.words[1]?.literal ?? '';
  if (!isKnownProgram(started) || neverProgram(started) !== undefined || started.includes('/'))
    return never('it may run a package from elsewhere');
  return wholeLesson(seen, 2);
}

function goalLesson(seen: Seen): CommandLesson {
  const { words } = seen;
  const goals = words.slice(1).filter(({ literal }) => literal !== undefined && !literal.startsWith('-'));
  if (goals.length === 0) return never('it names no target, and its default may change');
  if (words.some(({ literal = '' }) => CODE_OPTION.test(literal)))
    return never('it runs code that it is given');
  // Checking the program without its goals shows what its options do beyond a goal.
  const hazard = hazardOf(
    words.filter((word, i) => i === 0 || !goals.includes(word)),
    1,
  );
  return hazard ? never(hazard.reason) : exactly(seen);
}

function subcommandLesson(name: string, seen: Seen): CommandLesson {
  const subcommand = seen.words[1]?.literal ?? '';
  const { open, whole } = own(SUBCOMMANDS, name) ?? {};
  if (open?.has(subcommand)) return openLesson(seen, 2);
  return whole?.has(subcommand)
    ? wholeLesson(seen, 2)
    : never(`${name} ${subcommand} can install, publish or run more than was seen`);
}

/** With all its options, as seen. No rule can name what it would read from its input. */
function unknownLesson(seen: Seen): CommandLesson {
  const { words } = seen;
  if (words.some(({ literal = '' }) => CODE_OPTION.test(literal)))
    return never('it runs code that it is given');
  const isOwn = words[0]?.literal?.includes('/') ?? false;
  if (!isOwn && SENDING.test(words[1]?.literal ?? '')) return never('it takes something to other machines');
  if (words.length < 2 && !isOwn) return never('by its name alone it may do whatever its input says');
  if (words.some(({ literal = '' }) => /^(?:.*=)?(?:-|\/dev\/(?:stdin|fd\/.*)|\/proc\/.*)$/.test(literal)))
    return never('it may do whatever its input says');
  return exactly(seen);
}
