import { MODES } from '../protocol/decision.js';
import { GIT_TRUST, SANDBOX_MODES } from '../protocol/sandbox.js';
import { THINKING_LEVELS } from '../protocol/provider.js';

type Schema = Readonly<Record<string, unknown>>;

const text = (description: string, more: Schema = {}): Schema => ({
  type: 'string',
  minLength: 1,
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
const textOrTexts = (description: string, examples: unknown[]): Schema => ({
  description,
  examples,
  anyOf: [{ type: 'string', minLength: 1, pattern: '\\S' }, texts(description)],
});
const whole = (description: string, minimum = 0): Schema => ({ type: 'integer', minimum, description });
const duration = (description: string): Schema =>
  text(description, { pattern: '^\\d+(\\.\\d+)?(ms|s|m|h)$', examples: ['90s', '10m'] });
const size = (description: string): Schema =>
  text(description, { pattern: '^\\d{1,6}(\\.\\d{1,3})?(KiB|MiB|GiB)$', examples: ['512MiB', '4GiB'] });
const object = (
  description: string,
  properties: Readonly<Record<string, Schema>>,
  required: string[] = [],
): Schema => ({
  type: 'object',
  description,
  properties,
  required,
  additionalProperties: false,
});

const command = texts('A program and its arguments.', { examples: [['./approve.sh']] });
const environment = object('Which variables programs see, besides PATH, HOME, LANG and the like.', {
  pass: texts('Variables to pass on, by name.', { examples: [['NODE_ENV']] }),
  set: {
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Variables to set.',
    examples: [{ FORCE_COLOR: '0' }],
  },
});

const yes = (description: string): Schema => ({ type: 'boolean', description });
const parallel = yes('Whether its calls may run beside their neighbours in a turn, in any order (false).');

const rule = object(
  'What happens to calls that fit. Of all rules that fit, the strictest counts: deny over ask over allow.',
  {
    id: text('Its name, in decisions and denials.', { pattern: '^[\\w.-]+$', examples: ['tests'] }),
    tool: textOrTexts('Names of tools; * stands for any run of characters.', [
      'run_shell_command',
      ['write_file', 'replace'],
    ]),
    command: textOrTexts('For run_shell_command: the first words of one simple command.', [
      ['npm test', 'git diff'],
    ]),
    path: textOrTexts('For file tools: globs, relative to the workspace.', [['src/**', 'test/**']]),
    when: { enum: ['untrusted'], description: 'Only if the run has input from strangers.' },
    decision: { enum: ['allow', 'ask', 'deny'], description: 'What happens.' },
    reason: text('Why, for the model and for people.'),
    parallel,
    match: texts('Command lines or paths that it must fit. Checked when the policy is loaded.'),
    not_match: texts('Command lines or paths that it must not fit.'),
  },
  ['id', 'tool', 'decision'],
);

const dollars = (description: string): Schema => ({ type: 'number', minimum: 0, maximum: 1e9, description });
const rates = {
  input: dollars('Of a million tokens of input.'),
  cached: dollars('Of input from a cache; without it, that of input.'),
  output: dollars('Of a million tokens of output.'),
  thoughts: dollars('Of thoughts; without it, that of output.'),
};
const prices = object(
  'What one model costs, in dollars for a million tokens.',
  {
    ...rates,
    long: object(
      'What holds for requests with a long prompt.',
      { above: whole('Tokens of the prompt from which on it holds.', 1), ...rates },
      ['above', 'input', 'output'],
    ),
  },
  ['input', 'output'],
);

const HARM_CATEGORIES = [
  'HARASSMENT',
  'HATE_SPEECH',
  'SEXUALLY_EXPLICIT',
  'DANGEROUS_CONTENT',
  'CIVIC_INTEGRITY',
];
const threshold: Schema = {
  enum: ['BLOCK_LOW_AND_ABOVE', 'BLOCK_MEDIUM_AND_ABOVE', 'BLOCK_ONLY_HIGH', 'BLOCK_NONE', 'OFF'],
  description: 'From which probability on.',
};

const model = object('Which model, and how it is to answer.', {
  name: text('gemini-…, vertex/…, or openai/….', { examples: ['gemini-2.5-pro'] }),
  fallback: texts('Models to go over to, in this order, when it cannot be had.', {
    examples: [['gemini-2.5-flash']],
  }),
  max_output_tokens: whole('The longest answer, in tokens (the longest that the model can give).', 1),
  temperature: { type: 'number', minimum: 0, maximum: 2, description: 'How freely it chooses its words.' },
  top_p: { type: 'number', minimum: 0, maximum: 1, description: 'From how much of the likely words.' },
  seed: { ...whole('The same seed makes the same answer more likely.'), maximum: 2 ** 31 - 1 },
  thinking: object('How much it thinks before it answers: one of these.', {
    budget: { type: 'integer', minimum: -1, description: 'Tokens; 0 for none, -1 for as many as it likes.' },
    level: { enum: THINKING_LEVELS, description: 'The same in a word, for models that take one.' },
  }),
  safety: object(
    'What Gemini holds back.',
    Object.fromEntries(HARM_CATEGORIES.map((category) => [`HARM_CATEGORY_${category}`, threshold])),
  ),
  prices: {
    type: 'object',
    additionalProperties: prices,
    description: 'Prices by name of a model: `input`, `cached`, `output`, in dollars for a million tokens.',
    examples: [{ 'gemini-2.5-pro': { input: 1.25, cached: 0.125, output: 10 } }],
  },
  context_window: whole('Tokens that the model takes, where that is not known or should be less.', 1000),
});

const readOnlyTools = texts(
  'Tools that only read, by name; * for any run of characters. All others count as changing something.',
);

const server = object('One MCP server: a program, or an address.', {
  command: texts('The program and its arguments; it runs in the workspace.', {
    examples: [['github-mcp', 'stdio']],
  }),
  url: text('The address of a server that speaks streamable HTTP, or SSE.', {
    pattern: '^https?://',
    examples: ['https://mcp.example.org/mcp'],
  }),
  headers: {
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'HTTP headers; ${NAME} stands for a variable of the environment.',
    examples: [{ Authorization: 'Bearer ${GITHUB_TOKEN}' }],
  },
  env: environment,
  required: yes('Whether the run ends if it cannot be reached (true).'),
  trust: yes('Whether its calls need no rule (false).'),
  include_tools: texts('Only these tools; * for any run of characters.'),
  exclude_tools: texts('Not these tools.'),
  read_only_tools: readOnlyTools,
  parallel,
  connect_timeout: duration('How long starting, greeting and listing may take (30s).'),
  timeout: duration('How long a call may take (10m).'),
  idle_timeout: duration('How long a call may go on without progress being told (5m).'),
});

const loops = object('When a model that goes round in circles is told, and stopped.', {
  repeats: whole('The same call with the same result this often in a row (5).', 2),
  cycle: whole('The longest cycle of calls that is looked for (4).', 1),
  cycle_repeats: whole('A cycle that comes round this often (4).', 2),
  more: whole('How many rounds after the notice end the run (3).', 1),
});

/** The JSON Schema of a policy file, for the loader and for editors. */
export const POLICY_SCHEMA: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Bosun policy',
  ...object(
    'What a model may do in a run of Bosun.',
    {
      version: { const: 1, description: 'The version of the format.' },
      extends: texts(
        'Policies to build on: presets by name, files by path. Lists add up, single values override.',
        { examples: [['read-only']] },
      ),
      mode: { enum: MODES, description: 'What happens to calls that no rule speaks of.', default: 'plan' },
      on_ask: {
        description: 'What becomes of «ask» when nobody is there.',
        default: 'deny',
        anyOf: [
          { enum: ['deny', 'fail', 'defer'] },
          object(
            'A program that answers.',
            { command, timeout: duration('How long it may take (60s).'), env: environment },
            ['command'],
          ),
        ],
      },
      approvals: object('Whose answers count.', {
        trusted_keys: texts(
          'Public ed25519 keys: answers of `bosun approve` must be signed by one of them.',
          {
            examples: [['keys/reviewers.pub.pem']],
          },
        ),
      }),
      on_denied: {
        enum: ['fail', 'warn', 'ignore'],
        description: 'What a denial does to the exit code.',
        default: 'fail',
      },
      rules: { type: 'array', minItems: 1, items: rule, description: 'Decisions about particular calls.' },
      tools: object('Which tools the model is offered.', {
        offer: texts('Names; * for any.', { examples: [['*']] }),
        exclude: texts('Names that are not offered after all.'),
      }),
      workspace: object('What files may be touched at all.', {
        include: texts('Further directories, relative to the workspace.', { examples: [['../shared-lib']] }),
        read_deny: texts('Globs of files that are never read.', { examples: [['**/secrets/**']] }),
        write_deny: texts('Globs of files that are never written.'),
        write_allow: texts('Globs that lift the built-in protection of .git and the like.'),
      }),
      shell: object('How commands run.', {
        timeout: duration('The longest a command may take (10m).'),
        idle_timeout: duration('The longest it may be silent (5m).'),
        read_scope: {
          enum: ['any', 'workspace'],
          description: 'Whether paths in commands must be inside the workspace.',
        },
        git: {
          enum: GIT_TRUST,
          description: 'hardened: no git runs programs that a repository names. repository: as it says.',
          default: 'hardened',
        },
        env: environment,
      }),
      network: object('Which hosts may be fetched from, and reached by commands in the sandbox.', {
        allow: texts('host, *.host (its subdomains), * (any public one); also with scheme and port.', {
          examples: [['api.github.com', '*.example.org', 'https://example.org:8443']],
        }),
        private: {
          enum: ['allow', 'deny'],
          description: 'Private addresses of hosts that are listed literally (deny).',
        },
      }),
      limits: object('What a run may use.', {
        turns: whole('Model responses (100).'),
        tool_calls: whole('Tool calls (1000).'),
        tokens: whole('Tokens.'),
        cost_usd: dollars('Dollars. The model needs a price: see docs/models.md.'),
        time: duration('Time (30m).'),
        retry_time: duration('How long one request may go on failing and be retried (5m).'),
        denials: whole('Refused calls before the run is ended (10).', 1),
        parallel: whole('Calls at a time (8).', 1),
        tool_output: whole('Characters of output that the model gets of one call (40000).', 100),
        stored_output: size('What the full outputs of all calls may take on disk (256MiB).'),
      }),
      model,
      context: object('What the model is given to read.', {
        files: texts('Files for the first message, relative to the workspace.', {
          examples: [['GEMINI.md']],
        }),
        compress_at: {
          type: 'number',
          exclusiveMinimum: 0,
          maximum: 1,
          description: 'How full the window is when the history is compressed (0.7).',
        },
      }),
      loops: {
        description: 'When a model that goes round in circles is told, and stopped: a table, or off.',
        anyOf: [{ const: 'off' }, loops],
      },
      memory: object(
        'What the model may remember, from one run to the next.',
        {
          file: text('The file it is kept in, relative to the workspace.', {
            pattern: '\\S',
            examples: ['.bosun/memory.md'],
          }),
        },
        ['file'],
      ),
      web: object(
        'How the web is looked up.',
        {
          model: text(
            'A Gemini model for look-ups of web_fetch and google_web_search; default: that of the run.',
            {
              examples: ['gemini-2.5-flash'],
            },
          ),
        },
        ['model'],
      ),
      success: object('When a run counts as done.', {
        verify: texts('Command lines that must succeed when the model is done.', {
          examples: [['npm test']],
        }),
        require_changes: yes('Whether something in the workspace must have changed (false).'),
        repairs: whole('How often the model may mend what failed (2).'),
      }),
      patch: object('What the changes of a run may be at most; it needs a git repository.', {
        max_files: whole('Files that it may touch; one that is renamed counts twice.'),
        max_bytes: whole('Bytes of the patch.'),
        paths: texts('Globs of the files that it may touch, relative to the workspace.', {
          examples: [['src/**', 'test/**']],
        }),
      }),
      redact: object('What nobody is shown, besides what looks like a secret anyway.', {
        env: texts('Variables whose values are secret, by name; * for any run of characters.', {
          examples: [['*_TOKEN', 'LICENSE']],
        }),
        patterns: texts('Regular expressions (RE2) of secrets, for one line at a time.', {
          examples: [['corp-[0-9a-f]{32}']],
        }),
      }),
      sandbox: object('How the programs that a run starts are confined.', {
        mode: {
          enum: SANDBOX_MODES,
          description: 'auto: where it works. required: or the run does not begin (exit 12). off: never.',
          default: 'auto',
        },
        bind_ro: texts('Paths outside the workspace to show as they are, read-only; ~ is the home.', {
          examples: [['~/.npm']],
        }),
        bind_rw: texts('Paths outside the workspace that may be written, too.'),
        limits: object('What one command may use.', {
          processes: whole('Processes at a time (4096; not for root).', 1),
          memory: size('Memory of one process.'),
          file_size: size('Length of one file that it writes.'),
        }),
      }),
      mcp: object('Tools from MCP servers.', {
        servers: {
          type: 'object',
          additionalProperties: server,
          description: 'Servers by name: letters, digits, dots, dashes and single underscores.',
        },
      }),
      discovery: object(
        'Tools from a command.',
        {
          list: texts('The program that prints the declarations, and its arguments.', {
            examples: [['./tools/list']],
          }),
          call: texts('The program that gets a name as its last argument, and the arguments on stdin.', {
            examples: [['./tools/call']],
          }),
          required: yes('Whether the run ends if it cannot list its tools (true).'),
          read_only_tools: readOnlyTools,
          parallel,
        },
        ['list', 'call'],
      ),
    },
    ['version'],
  ),
};
