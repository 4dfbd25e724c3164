import type { Command, Option } from 'commander';
import { configProblem } from '../../protocol/problem.js';
import { collectValues } from './parsers.js';

type Variables = Readonly<Record<string, string | undefined>>;

export function variableOf(option: Option): string {
  return `BOSUN_${(option.long ?? '').slice(2).toUpperCase().replaceAll('-', '_')}`;
}

/**
 * Sets from `BOSUN_…` what no flag has set. An empty variable counts as absent; repeatable flags take lines.
 * A flag overrides a variable that contradicts it.
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

/** Options that cannot be combined with this one, whichever of the two says so. */
function rivalsOf(option: Option, command: Command): string[] {
  const declared = (one: Option) => (one as unknown as { conflictsWith: string[] }).conflictsWith;
  const name = option.attributeName();
  const others = command.options.filter((other) => declared(other).includes(name));
  return [...declared(option), ...others.map((other) => other.attributeName())];
}

/** Of most repeated flags the last one counts, as everywhere; but a prompt may not get lost. */
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
  if (option.parseArg === collectValues) return value.split('\n').filter((line) => line.trim() !== '');
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
