import type { ShellWord } from './model.js';

interface Idle {
  readonly options: RegExp;
  /**
   * After which words of the pattern these options still belong to the program, and not to what it runs. Default:
   * directly after the program's name.
   */
  readonly behind?: RegExp;
  /** After a subcommand, it accepts only one of them, and reads the next word as the name of what to run. */
  readonly single?: boolean;
}

const LOG_LEVEL = /--loglevel=(?:silent|error|warn|notice|http|info|verbose|silly|debug)/.source;
const RUN = /^(?:run(?:-script)?)?$/;
const MAVEN = /^(?:-q|--quiet|-B|--batch-mode|-ntp|--no-transfer-progress|-e|--errors)$/;
const GRADLE = /^(?:-q|--quiet|-i|--info|-s|--stacktrace|--console=(?:auto|plain|rich|verbose)|--no-daemon)$/;

/**
 * Options that change nothing about what a program runs, where, or with which settings: most only change how much it
 * prints. Each is a single word without a separate value; an option that is not listed breaks a prefix. Those of go
 * and gradle come from their manuals; all others were tried with the programs: npm reads `--color=never` as a script
 * named never, and `yarn run -s -s x` runs a script named -s.
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

/** Words that some programs read as the value of a switch that takes none: `npm run --no-color true x` runs x. */
const SWALLOWED = /^(?:true|false|null|always|never|auto|\d.*)$/;

/**
 * Whether a word is such an option. `said` are the pattern's words before it. After an option that the pattern names,
 * it could be that option's value.
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

/** The command without such options, as a rule would write it. */
export function withoutIdle(words: readonly ShellWord[]): readonly ShellWord[] {
  const kept: ShellWord[] = [];
  for (const [i, word] of words.entries()) {
    const said = kept.map(({ literal }) => literal);
    const isKnown = said.every((one) => one !== undefined && !one.startsWith('-'));
    if (!isKnown || !isIdle(said as string[], words, i)) kept.push(word);
  }
  return kept;
}
