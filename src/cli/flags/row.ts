import { Option, type Command } from 'commander';
import { readerOf, type Takes } from './takes.js';

/** All about one flag. Its long name is the key of the row, and gives the name of its variable. */
export interface FlagRow {
  /** One letter. */
  readonly short?: string;
  readonly takes: Takes<unknown>;
  /** The commands that have it, each with its line of help. */
  readonly in: Readonly<Record<string, string>>;
  /** The heading under which help shows it. */
  readonly group?: string;
  readonly default?: { readonly value: unknown; readonly shown?: string };
  /** Long names of flags that it cannot be combined with. */
  readonly conflicts?: readonly string[];
  /** Set if the action has an input for it, of the same name unless one is given here. */
  readonly input?: { readonly name?: string; readonly about: string };
}

export type FlagTable = Readonly<Record<string, FlagRow>>;

/** The same line of help for several commands. */
export function sameHelp<const C extends string>(
  help: string,
  ...commands: C[]
): Readonly<Record<C, string>> {
  return Object.fromEntries(commands.map((command) => [command, help])) as Record<C, string>;
}

/** `max-turns` as the key of a value. */
type Attribute<Name> = Name extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<Attribute<Rest> & string>}`
  : Name;

type ValueOf<Row> = Row extends { readonly takes: Takes<infer Value> } ? Value : never;
type NamesIn<Table, C extends string> = {
  [Name in keyof Table]: Table[Name] extends { readonly in: Readonly<Record<C, string>> } ? Name : never;
}[keyof Table];
type WithDefault<Table, Names extends keyof Table> = {
  [Name in Names]: Table[Name] extends { readonly default: object } ? Name : never;
}[Names];

/** The values of a command's flags: those with a default are always there. */
export type FlagValues<Table, C extends string> = {
  readonly [Name in WithDefault<Table, NamesIn<Table, C>> as Attribute<Name>]: ValueOf<Table[Name]>;
} & {
  readonly [
    Name in Exclude<NamesIn<Table, C>, WithDefault<Table, NamesIn<Table, C>>> as Attribute<Name>
  ]?: ValueOf<Table[Name]>;
};

function attributeOf(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** A commander option that still knows its row. */
export class RowOption extends Option {
  readonly row: FlagRow;

  constructor(name: string, row: FlagRow, help: string) {
    const { short, takes, group, conflicts = [] } = row;
    super(`${short ? `-${short}, ` : ''}--${name}${takes.shown && ` ${takes.shown}`}`, help);
    this.row = row;
    const reader = readerOf(takes);
    if (takes.choices) this.choices(takes.choices);
    else if (reader) this.argParser(reader as (text: string, before: unknown) => unknown);
    if (row.default) this.default(row.default.value, row.default.shown);
    if (group) this.helpGroup(group);
    this.conflicts(conflicts.map(attributeOf));
  }
}

/** Gives a command its flags, in the order of the table. */
export function addFlags(command: Command, table: FlagTable, name: string): Command {
  for (const [flag, row] of Object.entries(table)) {
    const help = row.in[name];
    if (help !== undefined) command.addOption(new RowOption(flag, row, help));
  }
  return command;
}
