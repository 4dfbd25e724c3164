import type { Argument, Command, Option } from 'commander';
import { everyCommand, commandPath } from '../command-tree.js';
import { RowOption } from '../flags/row.js';

/** What a value can be: one of some words, a path, or something that cannot be guessed. */
export interface Value {
  readonly words: readonly string[];
  readonly path: 'file' | 'folder' | undefined;
}

export interface KnownOption {
  /** `-p`, `--prompt`. */
  readonly flags: readonly string[];
  readonly about: string;
  /** Undefined if it takes none. */
  readonly value: Value | undefined;
  readonly isOptional: boolean;
  readonly isRepeatable: boolean;
}

export interface KnownCommand {
  /** `policy check`; empty for the program, which takes the options of its default command. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly about: string }[];
  readonly options: readonly KnownOption[];
  readonly operand: Value | undefined;
}

/** Words that are only known at run time. */
export interface Names {
  readonly presets: readonly string[];
  readonly tools: readonly string[];
}

const DEFAULT_COMMAND = 'run';
const HELP: KnownOption = {
  ...{ flags: ['-h', '--help'], about: 'display help for command', value: undefined },
  ...{ isOptional: false, isRepeatable: false },
};

/** The commands of a program as a shell needs to know them. */
export function describeCommands(program: Command, names: Names): KnownCommand[] {
  const below = visibleIn(program).flatMap((command) => everyCommand(command));
  return [program, ...below].map((command) => describeCommand(command, names));
}

function describeCommand(command: Command, names: Names): KnownCommand {
  const isProgram = !command.parent;
  const standIn = command.commands.find((one) => isProgram && one.name() === DEFAULT_COMMAND);
  const options = [...command.options, ...(standIn?.options ?? [])].filter(({ hidden }) => !hidden);
  const [argument] = command.registeredArguments;
  return {
    path: commandPath(command),
    commands: visibleIn(command).map((one) => ({ name: one.name(), about: one.description() })),
    options: [...options.map((option) => knownOption(option, names)), HELP],
    operand: argument && operandOf(command, argument, names),
  };
}

/** Those that help shows. */
function visibleIn(command: Command): Command[] {
  const visible = command.createHelp().visibleCommands(command);
  return command.commands.filter((one) => visible.includes(one));
}

function knownOption(option: Option, names: Names): KnownOption {
  return {
    flags: [option.short, option.long].filter((flag) => flag !== undefined),
    about: option.description,
    value: option.required || option.optional ? optionValue(option, names) : undefined,
    isOptional: option.optional,
    isRepeatable: option instanceof RowOption && option.row.takes.isRepeatable === true,
  };
}

function optionValue(option: Option, { presets, tools }: Names): Value {
  const { choices = [], completes } = option instanceof RowOption ? option.row.takes : {};
  switch (completes) {
    case 'presets':
      return { words: presets, path: 'file' };
    case 'tools':
      return { words: tools, path: undefined };
    case 'file':
    case 'folder':
    case undefined:
      return { words: choices, path: completes };
    default:
      return completes satisfies never;
  }
}

function operandOf(command: Command, argument: Argument, { presets }: Names): Value {
  const name = argument.name();
  if (name === 'command') return { words: topCommands(command), path: undefined };
  if (commandPath(command) === 'policy presets') return { words: presets, path: undefined };
  return { words: argument.argChoices ?? [], path: name === 'transcript' ? 'file' : undefined };
}

function topCommands({ parent }: Command): string[] {
  return parent ? visibleIn(parent).map((one) => one.name()) : [];
}
