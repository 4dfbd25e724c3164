import { configProblem } from '../../protocol/problem.js';
import type { FlagRow } from '../flags/row.js';
import { FLAGS } from '../flags/table.js';
import { OPTION_INPUTS, type Inputs, type OptionInput } from './inputs.js';
import { splitWords } from './words.js';

export interface ActionFiles {
  /** Where the prompt of the input is written. */
  readonly prompt: string;
  readonly transcript: string;
}

const SHORT: ReadonlyMap<string, string> = new Map(
  Object.entries<FlagRow>(FLAGS).flatMap(([flag, { short }]) => (short ? [[`-${short}`, flag]] : [])),
);

/** The arguments of `bosun run` that the inputs stand for. */
export function argumentsOf(inputs: Inputs, files: ActionFiles): string[] {
  const further = splitWords(inputs.raw('args'));
  const named = new Set(further.map(optionName).filter((name) => name !== undefined));
  refuseContradictions(inputs, named);
  const args = ['--output-format=json', '--reporter=github'];
  if (inputs.has('prompt')) args.push(`--prompt-file=${files.prompt}`);
  if (!inputs.has('transcript') && !named.has('transcript')) args.push(`--transcript=${files.transcript}`);
  for (const input of Object.keys(OPTION_INPUTS) as OptionInput[]) {
    const { flag, kind } = OPTION_INPUTS[input];
    if (kind === 'switch') args.push(...(inputs.isOn(input) ? [`--${flag}`] : []));
    else if (kind === 'lines') args.push(...inputs.lines(input).map((line) => `--${flag}=${line}`));
    else if (inputs.has(input)) args.push(`--${flag}=${inputs.value(input)}`);
  }
  return [...args, ...further];
}

function refuseContradictions(inputs: Inputs, named: ReadonlySet<string>): void {
  if (inputs.has('prompt') && inputs.has('prompt-file')) throw twice('prompt and prompt-file');
  for (const input of Object.keys(OPTION_INPUTS) as OptionInput[]) {
    const { flag, kind } = OPTION_INPUTS[input];
    if (kind !== 'lines' && named.has(flag) && inputs.has(input))
      throw twice(`${input} and args with --${flag}`);
  }
  if (named.has('output-format')) {
    const hint = 'The action reads the result itself; use its outputs.';
    throw configProblem('input', 'input args: --output-format cannot be changed here', { hint });
  }
  const hasPrompt = ['prompt', 'prompt-file', 'replay'].some((name) => named.has(name));
  if (inputs.has('prompt') || inputs.has('prompt-file') || hasPrompt) return;
  throw configProblem('input', 'input prompt is blank', { hint: 'Give prompt or prompt-file.' });
}

function twice(what: string) {
  return configProblem('input', `inputs ${what} are both given`, { hint: 'Keep one of them.' });
}

/** The long name of the option that a word is, if it is one. */
function optionName(word: string): string | undefined {
  if (word.startsWith('--')) return word.slice(2).split('=')[0];
  return SHORT.get(word.slice(0, 2));
}
