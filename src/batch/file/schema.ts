import { TIERS } from '../../protocol/model-settings.js';
import { EXIT_CODES } from '../../protocol/outcome.js';

/** A batch's name also names a folder and a ref. */
export const NAME_PATTERN = '^[A-Za-z0-9](?:[A-Za-z0-9_-]|\\.(?!\\.|lock$|$)){0,99}$';

type Schema = Readonly<Record<string, unknown>>;

const text = (description: string, more: Schema = {}): Schema => ({
  type: 'string',
  minLength: 1,
  pattern: '\\S',
  description,
  ...more,
});
const texts = (description: string, more: Schema = {}): Schema => ({
  type: 'array',
  minItems: 1,
  items: { type: 'string', minLength: 1, pattern: '\\S' },
  description,
  ...more,
});
const integer = (description: string, minimum = 0): Schema => ({ type: 'integer', minimum, description });
const amount = (description: string): Schema => ({ type: 'number', minimum: 0, description });
const duration = (description: string): Schema =>
  text(description, { pattern: '^\\d+(\\.\\d+)?(ms|s|m|h)$', examples: ['90s', '4h'] });
const oneOf = (description: string, values: readonly string[]): Schema => ({ enum: values, description });
const object = (
  description: string,
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema => ({ type: 'object', description, properties, required, additionalProperties: false });

/** Ends of a task that another try may change. */
export const RETRYABLE = [
  'provider_unavailable',
  'tool_infra_error',
  'model_error',
] as const satisfies readonly (keyof typeof EXIT_CODES)[];

const tasks: Schema = object('Where the tasks come from: exactly one source.', {
  glob: object(
    'One task for each file: {{file}}; with a chunk above 1, one for each group of files: {{files}}.',
    {
      include: texts('Patterns, relative to the workspace.', { examples: [['src/**/*.ts']] }),
      exclude: texts('Patterns of files to leave out.', { examples: [['**/*.test.ts']] }),
      chunk: integer('How many files a task gets.', 1),
    },
    ['include'],
  ),
  file: text('A .jsonl, .csv or .yaml file, relative to this one: each column is a name.', {
    examples: ['tasks.jsonl'],
  }),
  list: {
    type: 'array',
    minItems: 1,
    items: { type: 'object', minProperties: 1 },
    description: 'The tasks themselves: objects of named values.',
  },
  command: texts('A program and its arguments that print tasks as JSONL.', { examples: [['./list-tasks']] }),
  repositories: {
    type: 'array',
    minItems: 1,
    items: object(
      'One task for the repository.',
      {
        id: text('Its id; a hash of the other values unless given.'),
        url: text('Where it is: a folder, relative to this file, or an address that git knows.'),
        ref: text('The branch, tag or commit; HEAD unless given.'),
      },
      ['url'],
    ),
    description: 'One task for each repository: {{id}}, {{url}}, {{ref}}.',
  },
});

/** The JSON Schema of a batch file. */
export const BATCH_SCHEMA: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Bosun batch, version 1',
  ...object(
    'Many tasks with one budget, one gate and one report.',
    {
      version: { const: 1, description: 'The version of this format.' },
      name: text('The name of the batch, which names its folder and its ref (the name of the file).', {
        pattern: NAME_PATTERN,
        examples: ['find-user'],
      }),
      prompt: text('The task; {{name}} is replaced by a value of the task.'),
      prompt_file: text('A file with the prompt, relative to this one.'),
      tasks,
      untrusted: texts('Names of values from outside: attached, and never part of the prompt.'),
      policy: {
        anyOf: [text('A preset or a policy file.'), texts('Presets and policy files.')],
        description: 'What the tasks may do: presets, and policy files relative to this one.',
      },
      model: {
        anyOf: [
          text('The model.'),
          object('The model.', {
            name: text('Its name.'),
            tier: oneOf('The service tier; flex (Gemini) costs half, and may take minutes.', TIERS),
            tier_fallback: oneOf('Where requests go that the flex tier has rejected three times.', [
              'standard',
            ]),
          }),
        ],
        description: 'The model that the tasks talk to.',
      },
      workspace: object('Where the tasks work.', {
        isolation: oneOf('clone: each task in a clone of its own; none: all in the workspace.', [
          'clone',
          'none',
        ]),
        base: text('The commit to clone; HEAD unless given.'),
        key: oneOf("What makes a task run again: another commit, or changes to the task's own files.", [
          'commit',
          'files',
        ]),
        sparse: texts('The folders to check out, if not all.', { examples: [['packages/web']] }),
        setup: texts('Command lines that prepare a clone.', { examples: [['npm ci']] }),
        setup_network: oneOf('Which hosts setup commands reach: those of the policy, or all.', [
          'policy',
          'allow',
        ]),
      }),
      success: object('When a task counts as done, besides what the policy says.', {
        verify: texts('Command lines that must succeed.', { examples: [['npm test']] }),
        require_changes: { type: 'boolean', description: 'Something must have changed.' },
      }),
      attempts: integer('How often a task is tried, if it ends as retry_on says.', 1),
      retry_on: {
        type: 'array',
        items: { enum: RETRYABLE },
        description: 'Ends after which a task is tried again.',
      },
      concurrency: integer('How many tasks run at once.', 1),
      rate: object('What the account may send, if you know it.', {
        requests_per_minute: integer('Requests in a minute.', 1),
        tokens_per_minute: integer('Tokens in a minute.', 1),
      }),
      limits: object('Limits of the whole batch.', {
        cost_usd: amount('Dollars.'),
        tokens: integer('Tokens.'),
        time: duration('Time from the start of the batch.'),
        failed: {
          anyOf: [
            { type: 'integer', minimum: 0 },
            text('A share of the tasks.', { pattern: '^\\d{1,3}(\\.\\d+)?%$', examples: ['20%'] }),
          ],
          description: 'How many tasks may fail: a number, or a share of those that this start would run.',
        },
      }),
      task_limits: object('Limits of each task; they tighten those of the policy.', {
        turns: integer('Model responses.'),
        tool_calls: integer('Tool calls.'),
        tokens: integer('Tokens.'),
        cost_usd: amount('Dollars.'),
        time: duration('Time, not counting waits at the gate.'),
      }),
      repeat: object('Runs each task several times: for models that do not always succeed.', {
        times: integer('How often at most; it stops early once the outcome is certain.', 1),
        min_passes: integer('How many of these runs must be completed; 1 unless given.', 1),
      }),
      integrate: oneOf('apply: apply the patches of completed tasks to the workspace, in task order.', [
        'none',
        'apply',
      ]),
    },
    ['version', 'tasks'],
  ),
};
