import { basename } from 'node:path';
import { programName } from './alias-table.js';
import { knownText, literalAt, mayBeOption, type Hazard, type ShellWord } from './model.js';
import {
  endOfOptions,
  isDangerousOption,
  isMessageOption,
  isOwnFile,
  takesMessage,
  type ProgramHazards,
} from './options.js';
import { BUILDERS } from './programs-builders.js';
import { BUILTINS } from './programs-builtins.js';
import { gitHazard } from './programs-git.js';
import { NODE_PROGRAMS } from './programs-node.js';
import { CHECKERS } from './programs-checkers.js';
import { READERS } from './programs-readers.js';

const PROGRAMS = new Map<string, ProgramHazards>(
  Object.entries({
    git: { check: gitHazard },
    ...READERS,
    ...BUILDERS,
    ...NODE_PROGRAMS,
    ...CHECKERS,
    ...BUILTINS,
  }),
);
for (const [alias, name] of [
  ['gawk', 'awk'],
  ['mawk', 'awk'],
  ['nawk', 'awk'],
  ['original-awk', 'awk'],
  ['gsed', 'sed'],
  ['ripgrep', 'rg'],
  ['gtar', 'tar'],
  ['bsdtar', 'tar'],
  ['gradlew', 'gradle'],
  ['mvnw', 'mvn'],
  ['fdfind', 'fd'],
  ['batcat', 'bat'],
  ['https', 'http'],
  ['xh', 'http'],
  ['podman', 'docker'],
  ['py.test', 'pytest'],
] as const) {
  PROGRAMS.set(alias, PROGRAMS.get(name) as ProgramHazards);
}

function programOf([program]: readonly ShellWord[]): ProgramHazards | undefined {
  const name = basename(program?.literal ?? '');
  return PROGRAMS.get(name) ?? PROGRAMS.get(programName(name));
}

/** Whether the dangerous options of a program are known: only then may a rule leave its options open. */
export function isKnownProgram(name: string): boolean {
  return PROGRAMS.has(name);
}

/** What makes a command do more than a rule says that names its first `named` words. */
export function hazardOf(words: readonly ShellWord[], named: number): Hazard | undefined {
  const started = startedAt(words);
  if (started > 0 && named > started) {
    const inner = hazardOf(words.slice(started), named - started);
    return inner && { ...inner, index: inner.index + started };
  }
  const program = programOf(words);
  if (!program) return undefined;
  const dashes = endOfOptions(words);
  const end = dashes < 0 ? words.length : dashes;
  for (let i = Math.max(1, named); i < end; i++) {
    const reason = optionHazard(words, i, program);
    if (reason !== undefined) return { index: i, reason };
  }
  const hazard = program.check?.(words, named);
  return hazard && hazard.index >= named ? hazard : undefined;
}

/** What is wrong with a word in the place of an option. */
function optionHazard(words: readonly ShellWord[], at: number, program: ProgramHazards): string | undefined {
  const word = words[at] as ShellWord;
  if (mayTurnIntoOption(words, at, program))
    return `${word.text} could turn into an option that runs something else`;
  const text = knownText(word);
  if (!isDangerousOption(text, program) || isOwnFile(words, at, program)) return undefined;
  return `${text} makes ${words[0]?.literal} do more than the rule says`;
}

function mayTurnIntoOption(words: readonly ShellWord[], at: number, { takesText }: ProgramHazards): boolean {
  const word = words[at] as ShellWord;
  if (takesText || word.literal !== undefined || !mayBeOption(word)) return false;
  const isMessage = takesMessage(words) && isMessageOption(literalAt(words, at - 1)) && !word.splits;
  return !isMessage;
}

/** The words with which a command starts another program, up to that program's name. */
const STARTERS = [
  'npx',
  'bunx',
  'pnpx',
  'python -m',
  'pnpm exec',
  'pnpm dlx',
  'uv run',
  'poetry run',
  'bundle exec',
].map((text) => text.split(' '));

/** The index of the program that a command starts; 0 if it starts none. */
function startedAt(words: readonly ShellWord[]): number {
  const name = programName(basename(words[0]?.literal ?? ''));
  const starter = STARTERS.find(
    ([program, ...rest]) => program === name && rest.every((word, i) => words[i + 1]?.literal === word),
  );
  return starter?.length ?? 0;
}
