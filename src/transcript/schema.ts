import { APPROVAL_OPTIONS } from '../protocol/approval-options.js';
import { RISKS } from '../protocol/risk.js';
import { CALL_STATES } from '../protocol/call.js';
import { MODES } from '../protocol/decision.js';
import { COMPRESSION_FAULTS, NETWORK_SCHEMES, SCHEMA_VERSION } from '../protocol/event.js';
import { KINDS } from '../protocol/kind.js';
import { LIMIT_NAMES } from '../protocol/limit.js';
import { EXIT_CODES } from '../protocol/outcome.js';
import { THINKING_LEVELS, TOOL_PROTOCOLS } from '../protocol/provider.js';
import { SANDBOX_MODES } from '../protocol/sandbox.js';
import { CHANGE_KINDS, CHANGED_BY } from '../protocol/success.js';
import { TODO_STATUSES } from '../protocol/todo.js';
import { TOOL_ERROR_TYPES } from '../protocol/tool-error.js';

type Schema = Readonly<Record<string, unknown>>;

const string: Schema = { type: 'string' };
const boolean: Schema = { type: 'boolean' };
const count: Schema = { type: 'integer', minimum: 0 };
const amount: Schema = { type: 'number', minimum: 0 };
const number: Schema = { type: 'number' };
const anything: Schema = {};
const strings: Schema = { type: 'array', items: string };
const oneOf = (values: readonly unknown[]): Schema => ({ enum: values });
const listOf = (items: Schema): Schema => ({ type: 'array', items });
const mapOf = (values: Schema): Schema => ({ type: 'object', additionalProperties: values });
const optionally = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });

/** An object of just these fields; a name that ends in `?` may be absent. */
function object(fields: Readonly<Record<string, Schema>>): Schema {
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  for (const [field, schema] of Object.entries(fields)) {
    const name = field.replace('?', '');
    properties[name] = schema;
    if (name === field) required.push(name);
  }
  return { type: 'object', properties, required, additionalProperties: false };
}

/** The same, with any other number besides. */
function open(fields: Readonly<Record<string, Schema>>): Schema {
  return { ...object(fields), additionalProperties: amount };
}

const parts: Schema = listOf({ type: 'object' });
const content = object({ role: oneOf(['user', 'model']), parts });
const tokenCounts = {
  'prompt?': count,
  'cached?': count,
  'output?': count,
  'thoughts?': count,
  'tool_use?': count,
  'total?': count,
  'estimated?': { const: true },
};
const usage = object(tokenCounts);
const rule = optionally(object({ id: string, file: string, line: count }));
const remedy = { anyOf: [object({ rules: string }), object({ none: string })] };
const verdict = oneOf(['allow', 'ask', 'deny']);
const toolError = object({ type: oneOf(TOOL_ERROR_TYPES), message: string });
const status = oneOf(Object.keys(EXIT_CODES));
const sandbox = object({
  mode: oneOf(SANDBOX_MODES),
  active: boolean,
  backend: optionally(string),
  reason: string,
});
const tokens = {
  'total_tokens?': count,
  'input_tokens?': count,
  'output_tokens?': count,
  'cached?': count,
  'input?': count,
  'thoughts?': count,
  'tool_use?': count,
  'cost_usd?': amount,
};

const stats = object({
  ...tokens,
  turns: count,
  retries: count,
  tool_calls: count,
  tools: mapOf(object({ calls: count, success: count, error: count, cancelled: count, duration_ms: count })),
  models: mapOf(object(tokens)),
  duration_ms: count,
  model_duration_ms: count,
  retry_wait_ms: count,
  tool_duration_ms: count,
  'files_changed?': count,
  'lines_added?': count,
  'lines_removed?': count,
});

const hash: Schema = { type: 'string', pattern: '^[0-9a-f]{64}$' };

/** A confirmation request: just one of the details is there. */
const REQUEST_FIELDS = {
  tool_call_id: string,
  tool_name: string,
  'display_name?': string,
  'title?': string,
  'risk?': oneOf(RISKS),
  reason: string,
  // Older versions wrote mere ids.
  options: listOf({
    anyOf: [
      oneOf(APPROVAL_OPTIONS),
      object({ id: oneOf(APPROVAL_OPTIONS), name: string, description: string }),
    ],
  }),
  'execute_details?': object({ command: string, working_directory: string, root_commands: strings }),
  'file_edit_details?': object({
    file_name: string,
    file_path: string,
    old_content: string,
    new_content: string,
    formatted_diff: string,
  }),
  'mcp_details?': object({ server_name: string, tool_name: string }),
  'generic_details?': object({ description: string }),
  'parameters?': anything,
};

/** The fields of each type of event. */
export const EVENT_FIELDS: Readonly<Record<string, Readonly<Record<string, Schema>>>> = {
  init: {
    version: string,
    schema_version: count,
    model: string,
    'model_settings?': object({
      max_output_tokens: count,
      'temperature?': amount,
      'top_p?': amount,
      'seed?': count,
      'thinking?': object({ 'budget?': number, 'level?': oneOf(THINKING_LEVELS) }),
      'safety?': mapOf(string),
    }),
    provider: string,
    auth: string,
    cwd: string,
    git_head: optionally(string),
    policy: listOf(object({ file: string, sha256: string })),
    mode: oneOf(MODES),
    // A policy may come to have further ones.
    limits: open({
      turns: count,
      tool_calls: count,
      'tokens?': count,
      'cost_usd?': amount,
      time_ms: count,
      retry_time_ms: count,
      parallel: count,
      tool_output: count,
      'stored_output?': count,
      denials: count,
    }),
    tools: strings,
    mcp_servers: listOf(
      object({
        name: string,
        status: oneOf(['connected', 'failed', 'skipped']),
        tools: count,
        latency_ms: count,
        'error?': string,
      }),
    ),
    sandbox,
    'tool_protocol?': oneOf(TOOL_PROTOCOLS),
    'replay?': string,
    'dry_run?': { const: true },
    'resumed_from?': object({ seq: count, status: oneOf([...Object.keys(EXIT_CODES), 'killed']) }),
    effective_policy: listOf({ type: 'object' }),
    'patch_out?': string,
    'baseline?': object({ head: optionally(string), 'trees?': mapOf(string) }),
    'success?': object({ verify: strings, require_changes: boolean, repairs: count }),
    'output_schema?': { type: 'object' },
    system: string,
    'redacted?': boolean,
  },
  message: {
    role: oneOf(['user', 'assistant']),
    content: string,
    'phase?': oneOf(['interim', 'final']),
    'parts?': parts,
    'untrusted?': boolean,
    'repair?': string,
  },
  thought: { turn: count, content: string },
  turn: {
    index: count,
    model: string,
    finish_reason: string,
    latency_ms: count,
    'usage?': usage,
    'cost_usd?': amount,
    content,
    'redacted?': boolean,
  },
  tool_use: {
    tool_name: string,
    tool_id: string,
    'title?': string,
    parameters: anything,
    kind: oneOf(KINDS),
    turn: count,
  },
  policy_decision: {
    tool_id: string,
    decision: verdict,
    rule,
    reason: string,
    'commands?': listOf(object({ words: strings, decision: verdict, rule, reason: string })),
    'remedy?': remedy,
  },
  approval_request: { tool_id: string, 'deferred?': boolean, ...REQUEST_FIELDS },
  approval_response: {
    tool_id: string,
    tool_call_id: string,
    selected_option_id: oneOf(APPROVAL_OPTIONS),
    'file_details?': object({ new_content: string }),
    'reason?': string,
    source: oneOf(['command', 'callback', 'grant', 'approve']),
    'grant?': object({ 'roots?': strings, 'kind?': oneOf(KINDS), 'tool?': string, 'server?': string }),
    'parameters?': anything,
    'binding?': object({
      arguments_sha256: hash,
      request_sha256: hash,
      policy_sha256: hash,
      'transcript_sha256?': hash,
      expires_at: string,
      'signature?': object({ key: string, value: string }),
    }),
  },
  tool_start: { tool_id: string },
  tool_state: { tool_id: string, state: oneOf(CALL_STATES) },
  tool_output: { tool_id: string, content: string },
  tool_result: {
    tool_id: string,
    status: oneOf(['success', 'error', 'cancelled']),
    'output?': { type: ['string', 'object'] },
    'error?': toolError,
    duration_ms: count,
    'change?': object({ path: string, diff: string, lines_added: count, lines_removed: count }),
    'process?': object({
      exit_code: optionally({ type: 'integer' }),
      signal: optionally(string),
      'timed_out?': boolean,
      'leftover_pids?': listOf(count),
    }),
    'full_output?': string,
    'suppressed?': { const: true },
    'usage?': object({ model: string, 'cost_usd?': amount, ...tokenCounts }),
    'media?': parts,
  },
  network_decision: {
    host: string,
    port: count,
    scheme: oneOf(NETWORK_SCHEMES),
    decision: oneOf(['allow', 'deny']),
    reason: string,
    'address?': string,
    count,
  },
  verification: {
    condition: oneOf(['verify', 'require_changes', 'patch']),
    ok: boolean,
    attempt: count,
    message: string,
    'command?': string,
    'exit_code?': optionally({ type: 'integer' }),
    'signal?': optionally(string),
    'timed_out?': boolean,
    'output?': string,
    'full_output?': string,
    'places?': listOf(object({ file: string, line: count, 'column?': count, message: string })),
    duration_ms: count,
  },
  todos: { todos: listOf(object({ description: string, status: oneOf(TODO_STATUSES) })) },
  compression: {
    used: boolean,
    before_tokens: count,
    after_tokens: count,
    contents: count,
    'summary?': string,
    'reason?': oneOf(COMPRESSION_FAULTS),
    'message?': string,
    model: string,
    latency_ms: count,
    'usage?': usage,
    'cost_usd?': amount,
  },
  loop_notice: {
    tool_id: string,
    calls: listOf(object({ tool_id: string, tool_name: string })),
    repeats: count,
    message: string,
  },
  retry: {
    attempt: count,
    wait_ms: count,
    class: string,
    model: string,
    message: string,
    'usage?': usage,
    'cost_usd?': amount,
  },
  limit_notice: { limit: oneOf(LIMIT_NAMES), used: amount, value: amount, message: string },
  error: { severity: oneOf(['warning', 'error']), class: string, message: string },
  result: {
    status,
    exit_code: count,
    'reason?': string,
    response: string,
    'structured_output?': anything,
    stats,
    denials: listOf(object({ tool_id: string, tool_name: string, rule, reason: string, 'remedy?': remedy })),
    pending: listOf(object(REQUEST_FIELDS)),
    warnings: strings,
    'error?': object({
      class: status,
      code: string,
      message: string,
      'hint?': string,
      'retryable?': boolean,
      'http_status?': count,
    }),
    'transcript?': string,
    'changes?': listOf(
      object({
        path: string,
        kind: oneOf(CHANGE_KINDS),
        'from?': string,
        'added?': count,
        'removed?': count,
        by: oneOf(CHANGED_BY),
      }),
    ),
    'patch?': object({
      file: string,
      files: count,
      bytes: count,
      'rejected?': { const: true },
      'redacted?': { const: true },
    }),
    'sandbox?': sandbox,
    'dry_run?': { const: true },
  },
};

function lineSchema(type: string, fields: Readonly<Record<string, Schema>>): Schema {
  return object({
    v: { const: SCHEMA_VERSION },
    seq: count,
    timestamp: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' },
    session_id: { type: 'string', minLength: 1 },
    type: { const: type },
    ...fields,
    prev: hash,
  });
}

/** The JSON Schema of one line of a transcript. */
export const TRANSCRIPT_SCHEMA: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: `Bosun transcript line, version ${SCHEMA_VERSION}`,
  type: 'object',
  required: ['type'],
  properties: { type: { enum: Object.keys(EVENT_FIELDS) } },
  allOf: Object.entries(EVENT_FIELDS).map(([type, fields]) => ({
    if: { properties: { type: { const: type } }, required: ['type'] },
    then: lineSchema(type, fields),
  })),
};
