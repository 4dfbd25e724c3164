import { configProblem } from '../../protocol/problem.js';
import { OPTION_INPUTS, type Inputs, type OptionInput } from './inputs.js';
import { splitWords } from './words.js';

export interface ActionFiles {
  /** Where the prompt of the input is written. */
  readonly prompt: string;
  readonly transcript: string;
}

/** Options that are spelt otherwise than their inputs. */
const SPELLINGS: Partial<Record<OptionInput, string>> = { 'working-directory': 'cwd' };
const SHORT: Readonly<Record<string, string>> = {
  '-p': 'prompt',
  '-m': 'model',
  '-C': 'cwd',
  '-o': 'output-format',
};

/** The arguments of `bosun run` that the inputs stand for. */
export function argumentsOf(inputs: Inputs, files: ActionFiles): string[] {
  const further = splitWords(inputs.raw('args'));
  const named = new Set(further.map(optionName).filter((name) => name !== undefined));
  refuseContradictions(inputs, named);
  const args = ['--output-format=json', '--reporter=github'];
  if (inputs.has('prompt')) args.push(`--prompt-file=${files.prompt}`);
  if (!inputs.has('transcript') && !named.has('transcript')) args.push(`--transcript=${files.transcript}`);
  for (const [input, kind] of Object.entries(OPTION_INPUTS) as [OptionInput, string][]) {
    const flag = `--${optionOf(input)}`;
    if (kind === 'switch') args.push(...(inputs.isOn(input) ? [flag] : []));
    else if (kind === 'lines') args.push(...inputs.lines(input).map((line) => `${flag}=${line}`));
    else if (inputs.has(input)) args.push(`${flag}=${inputs.value(input)}`);
  }
  return [...args, ...further];
}

function refuseContradictions(inputs: Inputs, named: ReadonlySet<string>): void {
  if (inputs.has('prompt') && inputs.has('prompt-file')) throw twice('prompt and prompt-file');
  for (const input of Object.keys(OPTION_INPUTS) as OptionInput[]) {
    const repeatable = OPTION_INPUTS[input] === 'lines';
    if (!repeatable && named.has(optionOf(input)) && inputs.has(input))
      throw twice(`${input} and args with --${optionOf(input)}`);
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

function optionOf(input: OptionInput): string {
  return SPELLINGS[input] ?? input;
}

/** The long name of the option that a word is, if it is one. */
function optionName(word: string): string | undefined {
  if (word.startsWith('--')) return word.slice(2).split('=')[0];
  return SHORT[word.slice(0, 2)];
}
