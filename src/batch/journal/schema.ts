import { EXIT_CODES } from '../../protocol/outcome.js';
import { JOURNAL_VERSION, STABILITIES, type BatchEvent } from './event.js';

type Schema = Readonly<Record<string, unknown>>;

const string: Schema = { type: 'string' };
const boolean: Schema = { type: 'boolean' };
const count: Schema = { type: 'integer', minimum: 0 };
const amount: Schema = { type: 'number', minimum: 0 };
const anything: Schema = {};
const hash: Schema = { type: 'string', pattern: '^[0-9a-f]{64}$' };
const oneOf = (values: readonly unknown[]): Schema => ({ enum: values });
const optionally = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });
const mapOf = (values: Schema): Schema => ({ type: 'object', additionalProperties: values });

/** An object of exactly these fields; a name that ends in `?` may be absent. */
function object(fields: Readonly<Record<string, Schema>>): Schema {
  const entries = Object.entries(fields).map(([field, schema]) => [field.replace('?', ''), schema] as const);
  const required = Object.keys(fields).filter((field) => !field.endsWith('?'));
  return { type: 'object', properties: Object.fromEntries(entries), required, additionalProperties: false };
}

const status = oneOf(Object.keys(EXIT_CODES));
const error = object({ code: string, message: string, 'hint?': string });
const estimated = object({ cost_usd: amount, tokens: count });
const counts = object({ total: count, completed: count, failed: count, pending: count, skipped: count });

/** The fields of each event of a journal, besides those of every line. */
export const JOURNAL_FIELDS: Readonly<Record<BatchEvent['type'], Readonly<Record<string, Schema>>>> = {
  batch_init: {
    version: string,
    name: string,
    batch_sha256: hash,
    workspace: string,
    isolation: oneOf(['clone', 'none']),
    base: optionally(string),
    model: string,
    concurrency: count,
    tasks: object({ total: count, to_run: count }),
    options: mapOf({ type: ['string', 'boolean', 'number'] }),
    'budget?': object({ 'cost_usd?': amount, 'tokens?': count, spent_usd: amount, spent_tokens: count }),
  },
  task_start: {
    id: string,
    key: hash,
    parts: mapOf(string),
    attempt: count,
    'run?': count,
    resumed: boolean,
    transcript: string,
    'workspace?': string,
    'worker?': string,
    'why?': string,
    'fresh?': { const: true },
  },
  task_end: {
    id: string,
    key: hash,
    attempt: count,
    'run?': count,
    ended: boolean,
    status,
    exit_code: count,
    reason: optionally(string),
    response: optionally(string),
    'structured_output?': anything,
    'changes?': anything,
    patch: optionally(string),
    transcript: optionally(string),
    cost_usd: optionally(amount),
    tokens: optionally(count),
    turns: count,
    duration_ms: count,
    waited_ms: count,
    requests: count,
    'estimated?': estimated,
    'error?': error,
    'seal?': object({ transcript: hash, 'patch?': hash, 'outputs?': mapOf(hash) }),
  },
  gate: {
    kind: oneOf(['rejected', 'reopened', 'grown', 'closed']),
    account: string,
    message: string,
    'concurrency?': amount,
    'requests_per_minute?': amount,
    'wait_ms?': count,
    'worker?': string,
  },
  batch_notice: {
    level: oneOf(['info', 'warning']),
    code: string,
    message: string,
    'task?': string,
    'sha256?': hash,
    'head?': string,
    'files?': { type: 'array', items: object({ path: string, state: string }) },
  },
  batch_result: {
    status: oneOf([...Object.keys(EXIT_CODES), 'tasks_failed']),
    exit_code: count,
    reason: optionally(string),
    message: string,
    tasks: counts,
    'stability?': object(Object.fromEntries(STABILITIES.map((one) => [one, count]))),
    cost_usd: optionally(amount),
    tokens: optionally(count),
    'estimated?': estimated,
    requests: count,
    rejected: count,
    late_results: count,
    waited_ms: count,
    duration_ms: count,
    reset_at: optionally(string),
    continue: optionally(string),
  },
};

function lineSchema(type: string, fields: Readonly<Record<string, Schema>>): Schema {
  return object({
    v: { const: JOURNAL_VERSION },
    seq: count,
    timestamp: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' },
    batch_id: { type: 'string', minLength: 1 },
    type: { const: type },
    ...fields,
    prev: hash,
  });
}

/** The JSON Schema of one line of a journal. */
export const JOURNAL_SCHEMA: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: `Bosun batch journal line, version ${JOURNAL_VERSION}`,
  type: 'object',
  required: ['type'],
  properties: { type: { enum: Object.keys(JOURNAL_FIELDS) } },
  allOf: Object.entries(JOURNAL_FIELDS).map(([type, fields]) => ({
    if: { properties: { type: { const: type } }, required: ['type'] },
    then: lineSchema(type, fields),
  })),
};

/** The end of a task as a worker sends it. */
export const TASK_END_SCHEMA: Schema = object({ type: { const: 'task_end' }, ...JOURNAL_FIELDS.task_end });

/** A worker's news about its gate. */
export const GATE_SCHEMA: Schema = object({ type: { const: 'gate' }, ...JOURNAL_FIELDS.gate });

const values = mapOf({ anyOf: [string, { type: 'array', items: string }] });

/** The JSON Schema of one line of results.jsonl. */
export const RESULTS_SCHEMA: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Bosun batch results line',
  ...object({
    id: string,
    key: hash,
    values,
    status: oneOf([...Object.keys(EXIT_CODES), 'pending']),
    exit_code: optionally(count),
    reason: optionally(string),
    response: optionally(string),
    structured_output: anything,
    changes: anything,
    patch: optionally(string),
    transcript: optionally(string),
    cost_usd: optionally(amount),
    tokens: optionally(count),
    turns: optionally(count),
    duration_ms: optionally(count),
    waited_ms: optionally(count),
    attempts: count,
    stability: optionally(oneOf(STABILITIES)),
    runs: optionally(object({ passed: count, failed: count })),
    error: optionally(error),
  }),
};
