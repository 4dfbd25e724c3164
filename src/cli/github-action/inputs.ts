import { nearest } from '../../lib/nearest.js';
import { configProblem, type Problem } from '../../protocol/problem.js';

type Variables = Readonly<Record<string, string | undefined>>;

/** Inputs that are an option of `bosun run`: with one value, with one value a line, or with none. */
export const OPTION_INPUTS = {
  'prompt-file': 'value',
  policy: 'lines',
  mode: 'value',
  sandbox: 'value',
  model: 'value',
  'working-directory': 'value',
  file: 'lines',
  'untrusted-file': 'lines',
  untrusted: 'switch',
  'output-schema': 'value',
  verify: 'lines',
  'require-changes': 'switch',
  'dry-run': 'switch',
  'max-turns': 'value',
  'max-tool-calls': 'value',
  'max-tokens': 'value',
  'max-cost': 'value',
  timeout: 'value',
  wait: 'value',
  transcript: 'value',
  'patch-out': 'value',
  reporter: 'lines',
  progress: 'value',
} as const satisfies Record<string, 'value' | 'lines' | 'switch'>;
export type OptionInput = keyof typeof OPTION_INPUTS;

/** Inputs that mean something to the action itself. */
const OWN_INPUTS = [
  'prompt',
  'policy-from-workspace',
  'api-key',
  'vertex-project',
  'vertex-location',
  'fail-on',
  'sandbox-setup',
  'args',
] as const;
export type OwnInput = (typeof OWN_INPUTS)[number];

export const INPUT_NAMES: readonly string[] = [...Object.keys(OPTION_INPUTS), ...OWN_INPUTS];

/** What the workflow wrote under `with:`. An empty input counts as absent, as everywhere in GitHub Actions. */
export class Inputs {
  readonly #variables: Variables;

  constructor(variables: Variables) {
    this.#variables = variables;
    this.#refuseUnknown();
  }

  /** As it was written, line ends and all. */
  raw(name: OptionInput | OwnInput): string {
    return this.#variables[variableOf(name)] ?? '';
  }

  value(name: OptionInput | OwnInput): string {
    return this.raw(name).trim();
  }

  has(name: OptionInput | OwnInput): boolean {
    return OPTION_INPUTS[name as OptionInput] === 'switch' ? this.isOn(name) : this.value(name) !== '';
  }

  lines(name: OptionInput): string[] {
    return this.raw(name)
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean);
  }

  isOn(name: OptionInput | OwnInput): boolean {
    const value = this.value(name);
    if (/^(true|false|)$/i.test(value)) return value.toLowerCase() === 'true';
    throw badInput(name, value, 'Give true or false.');
  }

  /** GitHub only warns of inputs that an action does not have; a typo must not be a setting that is not set. */
  #refuseUnknown(): void {
    for (const name of Object.keys(parseObject(this.#variables['BOSUN_ACTION_INPUTS']))) {
      if (INPUT_NAMES.includes(name.toLowerCase())) continue;
      const near = nearest(name, INPUT_NAMES);
      const hint = near ? `Did you mean ${near}?` : `There are ${INPUT_NAMES.join(', ')}.`;
      throw configProblem('input', `this action has no input ${JSON.stringify(name)}`, { hint });
    }
  }
}

/** The environment without what only the action has to know: the run and its children do not see it. */
export function withoutInputs(variables: Variables): Record<string, string> {
  const hidden = new Set(['BOSUN_ACTION_INPUTS', ...INPUT_NAMES.map(variableOf)]);
  const kept = Object.entries(variables).filter(([name, value]) => value !== undefined && !hidden.has(name));
  return Object.fromEntries(kept) as Record<string, string>;
}

export function badInput(name: string, value: string, hint: string): Problem {
  return configProblem('input', `input ${name}: ${JSON.stringify(value)} is not valid`, { hint });
}

function variableOf(input: string): string {
  return `INPUT_${input.toUpperCase().replaceAll('-', '_')}`;
}

function parseObject(text: string | undefined): object {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
