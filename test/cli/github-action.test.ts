import { expect, test } from '@jest/globals';
import { INPUT_NAMES, withoutInputs } from '../../src/cli/github-action/inputs.js';
import { renderOutputs } from '../../src/cli/github-action/outputs.js';
import { splitWords } from '../../src/cli/github-action/words.js';
import { readAction } from '../helpers/composite-action.js';
import { readFileCommands } from '../helpers/runner-commands.js';

const WORDS: [string, string[]][] = [
  ['', []],
  [' \n ', []],
  ['--a b\n--c', ['--a', 'b', '--c']],
  [`'a b'"c d"e`, ['a bc de']],
  [`'' ""`, ['', '']],
  [String.raw`a\ b \\ "\"x\" \n $HOME"`, ['a b', '\\', '"x" \\n $HOME']],
  ['$(id) `id` *.txt ~ a;b|c>d #e', ['$(id)', '`id`', '*.txt', '~', 'a;b|c>d', '#e']],
];

test.each(WORDS)('%j are the words of a command line', (text, words) => {
  expect(splitWords(text)).toEqual(words);
});

test.each([`'open`, `"open`, `a "b\\"`, 'end\\'])('%j is refused', (text) => {
  expect(() => splitWords(text)).toThrow(/args: .* is not valid/);
});

test('outputs arrive as they were, whatever is in them', () => {
  const outputs = {
    empty: '',
    lines: '\n\na\n',
    marks: 'status<<EOF\nx\nEOF',
    pairs: 'a=b',
    own: `bosun-${'0'.repeat(32)}`,
  };
  expect(readFileCommands(renderOutputs(outputs))).toEqual(outputs);
});

test('marks are different every time', () => {
  const marks = Array.from({ length: 50 }, () => /<<(.*)/.exec(renderOutputs({ a: '' }))?.[1]);
  expect(new Set(marks).size).toBe(50);
});

test('the run does not see what only the action has to know', () => {
  expect(
    withoutInputs({ INPUT_API_KEY: 'k', INPUT_PROMPT: 'p', BOSUN_ACTION_INPUTS: '{}', INPUT_X: 'y' }),
  ).toEqual({
    INPUT_X: 'y',
  });
});

test('code and action.yml know the same inputs', () => {
  const { inputs, runs } = readAction();
  expect([...INPUT_NAMES].sort()).toEqual(Object.keys(inputs).sort());
  const last = runs.steps.at(-1)?.env ?? {};
  for (const name of INPUT_NAMES)
    expect([name, last[`INPUT_${name.toUpperCase().replaceAll('-', '_')}`]]).toEqual([
      name,
      `\${{ inputs.${name} }}`,
    ]);
});
