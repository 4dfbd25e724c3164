import { nearest } from '../../lib/nearest.js';
import { configProblem, type Problem } from '../../protocol/problem.js';
import type { FlagRow } from '../flags/row.js';
import { FLAGS } from '../flags/table.js';

type Variables = Readonly<Record<string, string | undefined>>;

type Rows = typeof FLAGS;
/** Inputs that are an option of `bosun run`, by their own names. */
export type OptionInput = {
  [Flag in keyof Rows]: Rows[Flag] extends { readonly input: infer Input }
    ? Input extends { readonly name: infer Name }
      ? Name
      : Flag
    : never;
}[keyof Rows];

interface InputOfFlag {
  readonly flag: string;
  readonly about: string;
  /** With one value, with one value per line, or with none. */
  readonly kind: 'value' | 'lines' | 'switch';
}

export const OPTION_INPUTS = Object.fromEntries(
  Object.entries<FlagRow>(FLAGS).flatMap(([flag, { input, takes }]) => {
    if (!input) return [];
    const kind = takes.isRepeatable ? 'lines' : takes.shown === '' ? 'switch' : 'value';
    return [[input.name ?? flag, { flag, about: input.about, kind }]];
  }),
) as Readonly<Record<OptionInput, InputOfFlag>>;

interface OwnInputRow {
  readonly about: string;
  readonly default?: string;
  /** The input after which it is listed; without it, at the end. */
  readonly after?: OptionInput | '';
}

/** Inputs of the action itself. */
const OWN_INPUTS = {
  prompt: { after: '', about: 'The task. Taken literally, and never part of a command line.' },
  batch: {
    after: '',
    about:
      'A batch file, instead of `prompt`: many tasks with one budget. Its folder is `.bosun/batches/NAME-OF-THE-FILE` in the workspace.',
  },
  'policy-from-workspace': {
    after: 'policy',
    about:
      '`true` to accept policy and batch files from the workspace even for pull requests, whose authors can write there.',
    default: 'false',
  },
  'api-key': {
    after: 'model',
    about:
      "A key for the model's API (Gemini, or OpenAI for `openai/…`). Without it, the environment of the job counts.",
  },
  'vertex-project': {
    after: 'model',
    about: 'The Google Cloud project that pays for a `vertex/…` model.',
  },
  'vertex-location': { after: 'model', about: 'Where a `vertex/…` model runs (default `global`).' },
  'fail-on': {
    about:
      'Statuses that fail the step, such as `denied, limit`; or `all` (every one but `completed`), or `none`.',
    default: 'all',
  },
  'sandbox-setup': {
    about:
      "`auto` prepares the sandbox on GitHub's Linux runners, in every mode; `force` on other runners, too; `skip` never does.",
    default: 'auto',
  },
  args: {
    about:
      'More options of `bosun run` (or `bosun batch run`), separated by spaces. Quotes group words; nothing is expanded.',
  },
} as const satisfies Record<string, OwnInputRow>;
export type OwnInput = keyof typeof OWN_INPUTS;

/** What action.yml declares: each input in order, with its default. */
export const ACTION_INPUTS: readonly { name: string; about: string; default?: string }[] = (() => {
  const ownInputsAfter = (place?: string) =>
    Object.entries<OwnInputRow>(OWN_INPUTS)
      .filter(([, { after }]) => after === place)
      .map(([name, { about, default: value }]) => ({ name, about, ...(value && { default: value }) }));
  const options = Object.entries(OPTION_INPUTS).flatMap(([name, { about, kind }]) => [
    { name, about, ...(kind === 'switch' && { default: 'false' }) },
    ...ownInputsAfter(name),
  ]);
  return [...ownInputsAfter(''), ...options, ...ownInputsAfter()];
})();

export const INPUT_NAMES: readonly string[] = ACTION_INPUTS.map(({ name }) => name);

/** What the workflow sets under `with:`. An empty input counts as absent, as everywhere in GitHub Actions. */
export class Inputs {
  readonly #variables: Variables;

  constructor(variables: Variables) {
    this.#variables = variables;
    this.#refuseUnknown();
  }

  /** As written, with all line ends. */
  raw(name: OptionInput | OwnInput): string {
    return this.#variables[variableOf(name)] ?? '';
  }

  value(name: OptionInput | OwnInput): string {
    return this.raw(name).trim();
  }

  has(name: OptionInput | OwnInput): boolean {
    return OPTION_INPUTS[name as OptionInput]?.kind === 'switch' ? this.isOn(name) : this.value(name) !== '';
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

  /** GitHub only warns about inputs that an action does not have; a misspelt one may not be ignored. */
  #refuseUnknown(): void {
    for (const name of Object.keys(parseObject(this.#variables['BOSUN_ACTION_INPUTS']))) {
      if (INPUT_NAMES.includes(name.toLowerCase())) continue;
      const near = nearest(name, INPUT_NAMES);
      const hint = near ? `Did you mean ${near}?` : `There are ${INPUT_NAMES.join(', ')}.`;
      throw configProblem('input', `this action has no input ${JSON.stringify(name)}`, { hint });
    }
  }
}

/** The environment without what is only for the action: the run and its children do not see that. */
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
