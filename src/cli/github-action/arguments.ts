import { configProblem } from '../../protocol/problem.js';
import { BATCH_FLAGS } from '../flags/batch.js';
import type { FlagRow } from '../flags/row.js';
import { FLAGS } from '../flags/table.js';
import { OPTION_INPUTS, type Inputs, type OptionInput } from './inputs.js';
import { splitWords } from './words.js';

export interface ActionFiles {
  /** Where to write the prompt of the input. */
  readonly prompt: string;
  readonly transcript: string;
}

const SHORT: ReadonlyMap<string, string> = new Map(
  Object.entries<FlagRow>(FLAGS).flatMap(([flag, { short }]) => (short ? [[`-${short}`, flag]] : [])),
);

/** The arguments of `bosun batch run` for the inputs. `out` is its folder, unless `args` name another. */
export function batchArgumentsOf(inputs: Inputs, out: string): string[] {
  const further = splitWords(inputs.raw('args'));
  const named = new Set(further.map(optionName).filter((name) => name !== undefined));
  const foreign = (Object.keys(OPTION_INPUTS) as OptionInput[]).find(
    (input) => inputs.has(input) && BATCH_FLAGS[OPTION_INPUTS[input].flag]?.in['batch run'] === undefined,
  );
  const other = inputs.has('prompt') ? 'prompt' : foreign;
  if (other !== undefined)
    throw configProblem('input', `inputs batch and ${other} do not go together`, {
      hint: 'The batch file has the tasks; see docs/batch.md.',
    });
  refuseDoubles(inputs, named);
  const args = ['--output-format=json', '--reporter=github'];
  if (!named.has('out')) args.push(`--out=${out}`);
  return [...args, ...optionsIn(inputs), ...further, '--', inputs.value('batch')];
}

/** The arguments of `bosun run` for the inputs. */
export function argumentsOf(inputs: Inputs, files: ActionFiles): string[] {
  const further = splitWords(inputs.raw('args'));
  const named = new Set(further.map(optionName).filter((name) => name !== undefined));
  refuseContradictions(inputs, named);
  const args = ['--output-format=json', '--reporter=github'];
  if (inputs.has('prompt')) args.push(`--prompt-file=${files.prompt}`);
  if (!inputs.has('transcript') && !named.has('transcript')) args.push(`--transcript=${files.transcript}`);
  return [...args, ...optionsIn(inputs), ...further];
}

function optionsIn(inputs: Inputs): string[] {
  const args: string[] = [];
  for (const input of Object.keys(OPTION_INPUTS) as OptionInput[]) {
    const { flag, kind } = OPTION_INPUTS[input];
    if (kind === 'switch') args.push(...(inputs.isOn(input) ? [`--${flag}`] : []));
    else if (kind === 'lines') args.push(...inputs.lines(input).map((line) => `--${flag}=${line}`));
    else if (inputs.has(input)) args.push(`--${flag}=${inputs.value(input)}`);
  }
  return args;
}

function refuseContradictions(inputs: Inputs, named: ReadonlySet<string>): void {
  if (inputs.has('prompt') && inputs.has('prompt-file')) throw twice('prompt and prompt-file');
  refuseDoubles(inputs, named);
  const hasPrompt = ['prompt', 'prompt-file', 'replay'].some((name) => named.has(name));
  if (inputs.has('prompt') || inputs.has('prompt-file') || hasPrompt) return;
  throw configProblem('input', 'input prompt is blank', { hint: 'Give prompt or prompt-file.' });
}

function refuseDoubles(inputs: Inputs, named: ReadonlySet<string>): void {
  for (const input of Object.keys(OPTION_INPUTS) as OptionInput[]) {
    const { flag, kind } = OPTION_INPUTS[input];
    if (kind !== 'lines' && named.has(flag) && inputs.has(input))
      throw twice(`${input} and args with --${flag}`);
  }
  if (named.has('output-format')) {
    const hint = 'The action reads the result itself; use its outputs.';
    throw configProblem('input', 'input args: --output-format cannot be changed here', { hint });
  }
}

function twice(what: string) {
  return configProblem('input', `inputs ${what} are both given`, { hint: 'Keep one of them.' });
}

/** The long name of the option that a word is, if any. */
function optionName(word: string): string | undefined {
  if (word.startsWith('--')) return word.slice(2).split('=')[0];
  return SHORT.get(word.slice(0, 2));
}
