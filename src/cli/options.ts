import { InvalidArgumentError, Option, type Command } from 'commander';
import { MAX_TIMER_MS, parseDuration } from '../lib/duration.js';
import { LOG_LEVELS } from '../lib/log-level.js';
import { PROGRESS_CHOICES } from '../protocol/progress.js';
import { configProblem } from '../protocol/problem.js';
import { COLOR_CHOICES } from './terminal.js';

/** A flag that takes `90s`, `10m`, …, as milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('Give a number with a unit, such as 90s, 10m or 1h.');
  if (ms > MAX_TIMER_MS) throw new InvalidArgumentError('Give at most 596h.');
  return ms;
}

/** A flag that takes a file: what is empty would be the folder we are in. */
export function fileName(text: string): string {
  if (text === '') throw new InvalidArgumentError('Give the name of a file.');
  return text;
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Give a whole number, 0 or more.');
  return Number(text);
}

/** A flag that takes the size of a document. A smaller one would have to leave out too much. */
export function roomInBytes(text: string): number {
  const bytes = wholeNumber(text);
  if (bytes < 10_000) throw new InvalidArgumentError('Give 10000 or more.');
  return bytes;
}

/** A flag that takes an amount of money: `5`, `0.50`. */
export function dollars(text: string): number {
  if (!/^\d{1,9}(\.\d{1,9})?$/.test(text))
    throw new InvalidArgumentError('Give dollars, 0 or more, such as 5 or 0.50.');
  return Number(text);
}

/** What stderr shows of the work; for every command that works. */
export function progressOption(): Option {
  const help = 'what stderr shows of the work (default: auto, which is live on a terminal, else steps)';
  return new Option('--progress <what>', help).choices(PROGRESS_CHOICES);
}

export const WAIT_HELP =
  'wait this long for another run that works in the workspace (default: exit 2 at once)';

/** A flag that may be repeated. */
export function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

/** Flags about stderr, which every command that logs has. */
export function addStderrOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--log-level <level>', 'what to log on stderr (default: info)')
        .choices(LOG_LEVELS)
        .conflicts('quiet'),
    )
    .addOption(
      new Option('--log-format <format>', 'how to log').choices(['pretty', 'json']).default('pretty'),
    )
    .option('--quiet', 'only errors on stderr')
    .addOption(new Option('--color <when>', 'colours on stderr').choices(COLOR_CHOICES).default('auto'));
}

type Variables = Readonly<Record<string, string | undefined>>;

export function variableOf(option: Option): string {
  return `BOSUN_${(option.long ?? '').slice(2).toUpperCase().replaceAll('-', '_')}`;
}

/**
 * Takes what no flag said from `BOSUN_…`. An empty variable counts as absent; repeatable flags take lines. A
 * variable that contradicts a flag gives way to it.
 */
export function applyVariables(command: Command, variables: Variables): void {
  const isTyped = (name: string) => command.getOptionValueSource(name) === 'cli';
  for (const option of command.options) {
    const name = option.attributeName();
    const variable = variableOf(option);
    const value = variables[variable];
    if (!value || isTyped(name) || !option.long || option.long === '--version') continue;
    if (rivalsOf(option, command).some(isTyped)) continue;
    command.setOptionValueWithSource(name, parsed(option, variable, value), 'env');
  }
}

/** Options that cannot stand beside this one, whichever of the two says so. */
function rivalsOf(option: Option, command: Command): string[] {
  const declared = (one: Option) => (one as unknown as { conflictsWith: string[] }).conflictsWith;
  const name = option.attributeName();
  const others = command.options.filter((other) => declared(other).includes(name));
  return [...declared(option), ...others.map((other) => other.attributeName())];
}

/** Of most flags the last one counts, as everywhere; but a prompt must not get lost. */
export function refuseRepeats(command: Command, names: readonly string[]): void {
  for (const name of names) {
    let seen = false;
    command.on(`option:${name}`, () => {
      if (seen) throw configProblem('prompt', `--${name} is given twice`, { hint: 'Keep one of them.' });
      seen = true;
    });
  }
}

function parsed(option: Option, variable: string, value: string): unknown {
  if (option.isBoolean()) return truth(variable, value);
  if (option.optional && TRUE_OR_FALSE.test(value)) return truth(variable, value);
  if (option.parseArg === collect) return value.split('\n').filter((line) => line.trim() !== '');
  try {
    return option.parseArg ? option.parseArg(value, undefined) : value;
  } catch (error) {
    throw configProblem('variable', `${variable}=${value} is not valid. ${(error as Error).message}`);
  }
}

const TRUE = /^(1|true|yes|on)$/i;
const TRUE_OR_FALSE = /^(1|true|yes|on|0|false|no|off)$/i;

function truth(variable: string, value: string): boolean {
  if (TRUE_OR_FALSE.test(value)) return TRUE.test(value);
  throw configProblem('variable', `${variable}=${value} is not valid. Give true or false.`);
}
