import type { ShellWord } from './model.js';

interface Idle {
  readonly options: RegExp;
  /** Between which words they are the program's own, and not those of what it runs; right behind its name if not told. */
  readonly behind?: RegExp;
  /** Behind a word of its own it takes one, and whatever comes next for the name of what is to run. */
  readonly single?: boolean;
}

const LOG_LEVEL = /--loglevel=(?:silent|error|warn|notice|http|info|verbose|silly|debug)/.source;
const RUN = /^(?:run(?:-script)?)?$/;
const MAVEN = /^(?:-q|--quiet|-B|--batch-mode|-ntp|--no-transfer-progress|-e|--errors)$/;
const GRADLE = /^(?:-q|--quiet|-i|--info|-s|--stacktrace|--console=(?:auto|plain|rich|verbose)|--no-daemon)$/;

/**
 * Options that change how much a program says, and nothing about what it runs, where, or by which settings. Each is a
 * whole word that takes no other one for its value; whatever is not here breaks a prefix. All but those of go and gradle,
 * which are as their manuals have them, were tried out on the programs: for npm, `--color=never` is a script of the name
 * never, and `yarn run -s -s x` runs a script of the name -s.
 */
const IDLE = new Map<string, Idle>([
  [
    'npm',
    {
      options: new RegExp(
        `^(?:-s|--silent|-q|--quiet|-d{1,3}|--verbose|--no-color|--color=(?:always|true|false)|--no-progress|--no-fund|--no-audit|--no-update-notifier|--if-present|${LOG_LEVEL})$`,
      ),
      behind: RUN,
    },
  ],
  ['npx', { options: /^(?:--no-install|-q|--quiet)$/ }],
  [
    'pnpm',
    {
      options: new RegExp(`^(?:-s|--silent|--no-color|--reporter=(?:silent|append-only)|${LOG_LEVEL})$`),
      behind: RUN,
    },
  ],
  ['yarn', { options: /^(?:-s|--silent|--no-progress|--non-interactive)$/, behind: RUN, single: true }],
  ['git', { options: /^(?:--no-pager|-P|--no-optional-locks)$/ }],
  ['make', { options: /^(?:-s|--silent|--quiet|--no-print-directory|-w|--print-directory|-j[1-9]\d{0,2})$/ }],
  [
    'cargo',
    {
      options: /^(?:-q|--quiet|-v{1,2}|--verbose|--color=(?:auto|always|never)|--locked|--offline|--frozen)$/,
    },
  ],
  ['pytest', { options: /^(?:-q{1,2}|--quiet|-v{1,3}|--verbose|--color=(?:yes|no|auto)|--no-header)$/ }],
  ['go', { options: /^-v$/, behind: /^(?:test|build|vet)$/ }],
  [
    'pip',
    {
      options: /^(?:-q{1,3}|--quiet|-v{1,3}|--verbose|--no-color|--no-input|--disable-pip-version-check)$/,
      behind: /^(?:install)?$/,
    },
  ],
  ['mvn', { options: MAVEN }],
  ['./mvnw', { options: MAVEN }],
  ['gradle', { options: GRADLE }],
  ['./gradlew', { options: GRADLE }],
]);

/** What some programs take for the value of a switch that needs none: `npm run --no-color true x` runs x. */
const SWALLOWED = /^(?:true|false|null|always|never|auto|\d.*)$/;

/**
 * Whether a word is such an option. `said` are the words of the pattern before it: behind an option that the pattern
 * names it could be that option's value.
 */
export function isIdle(said: readonly string[], words: readonly ShellWord[], at: number): boolean {
  const [program = '', ...more] = said;
  const table = IDLE.get(program);
  const option = words[at]?.literal;
  if (!table || option === undefined || !table.options.test(option)) return false;
  if (table.single && more.length > 0 && words[at - 1]?.literal !== more.at(-1)) return false;
  const isOwn = (table.behind ?? /^$/).test(more.join(' '));
  return isOwn && !SWALLOWED.test(words[at + 1]?.literal ?? '');
}

/** A command without them, as a rule about it would be written. */
export function withoutIdle(words: readonly ShellWord[]): readonly ShellWord[] {
  const kept: ShellWord[] = [];
  for (const [i, word] of words.entries()) {
    const said = kept.map(({ literal }) => literal);
    const isKnown = said.every((one) => one !== undefined && !one.startsWith('-'));
    if (!isKnown || !isIdle(said as string[], words, i)) kept.push(word);
  }
  return kept;
}
