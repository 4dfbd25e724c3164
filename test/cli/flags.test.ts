import { Command } from 'commander';
import { expect, test } from '@jest/globals';
import { describeCommands } from '../../src/cli/completion/tree.js';
import { addFlags, type FlagTable, type FlagValues } from '../../src/cli/flags/row.js';
import { FLAGS, type FlagsOf } from '../../src/cli/flags/table.js';
import {
  COUNT,
  FILE,
  manyValues,
  optionalValue,
  oneOf,
  POLICY,
  SWITCH,
  text,
} from '../../src/cli/flags/takes.js';
import { applyVariables, variableOf } from '../../src/cli/flags/variables.js';

const TABLE = {
  'max-things': { short: 'n', takes: COUNT, in: { go: 'how many', other: 'not here' }, group: 'Limits:' },
  colour: { takes: oneOf('hue', ['red', 'blue']), in: { go: 'which' }, default: { value: 'red' } },
  attach: { takes: manyValues(FILE), in: { go: 'what (repeatable)' } },
  policy: { takes: manyValues(POLICY), in: { go: 'a policy' } },
  'be-quick': { takes: SWITCH, in: { go: 'hurry' }, conflicts: ['max-things'] },
  label: { takes: optionalValue(text('name')), in: { go: 'a name' } },
  elsewhere: { takes: SWITCH, in: { other: 'not here' } },
} as const satisfies FlagTable;

function parse(args: readonly string[], variables: Record<string, string> = {}) {
  const command = addFlags(new Command('go').exitOverride(), TABLE, 'go').configureOutput({
    outputError: () => {},
  });
  command.parse(args, { from: 'user' });
  applyVariables(command, variables);
  return command.opts<FlagValues<typeof TABLE, 'go'>>();
}

test('a row is an option, with its short name, its default and its type', () => {
  const flags = parse(['-n', '3', '--attach', 'a', '--attach', 'b', '--label']);
  expect(flags).toEqual({ maxThings: 3, colour: 'red', attach: ['a', 'b'], label: true });
  const typed: [number | undefined, 'red' | 'blue', readonly string[] | undefined] = [
    flags.maxThings,
    flags.colour,
    flags.attach,
  ];
  expect(typed).toEqual([3, 'red', ['a', 'b']]);
});

test('and a variable', () => {
  const variables = { BOSUN_MAX_THINGS: '4', BOSUN_ATTACH: 'a\nb', BOSUN_COLOUR: 'blue', BOSUN_LABEL: 'x' };
  expect(parse([], variables)).toEqual({ maxThings: 4, attach: ['a', 'b'], colour: 'blue', label: 'x' });
  expect(() => parse([], { BOSUN_MAX_THINGS: 'many' })).toThrow('BOSUN_MAX_THINGS=many is not valid');
});

test('of the commands that it names only', () => {
  expect(() => parse(['--elsewhere'])).toThrow("unknown option '--elsewhere'");
  expect(() => parse(['--be-quick', '-n', '1'])).toThrow('cannot be used with');
});

test('with its help, and what a shell completes', () => {
  const program = new Command('bosun').addCommand(addFlags(new Command('go'), TABLE, 'go'));
  expect(program.commands[0]?.helpInformation()).toMatch(/\nLimits:\n {2}-n, --max-things <n> +how many\n/);
  const { options } = describeCommands(program, { presets: ['strict'], tools: [] })[1] ?? {};
  const offered = options?.map(({ flags, value, isRepeatable }) => [flags.at(-1), value, isRepeatable]);
  expect(offered).toEqual([
    ['--max-things', { words: [], path: undefined }, false],
    ['--colour', { words: ['red', 'blue'], path: undefined }, false],
    ['--attach', { words: [], path: 'file' }, true],
    ['--policy', { words: ['strict'], path: 'file' }, true],
    ['--be-quick', undefined, false],
    ['--label', { words: [], path: undefined }, false],
    ['--help', undefined, false],
  ]);
});

test('every flag of runs has a variable of its own, and none means two things', () => {
  const { options } = addFlags(new Command('run'), FLAGS, 'run');
  expect(new Set(options.map(variableOf)).size).toBe(options.length);
  const shorts = options.flatMap(({ short }) => short ?? []);
  expect(new Set(shorts).size).toBe(shorts.length);
  const flags: FlagsOf<'run'> = { stdinTimeout: 1, outputFormat: 'text', logFormat: 'json', color: 'auto' };
  expect(Object.keys(flags)).toHaveLength(4);
});
