import { ANSWER, ANSWER_BINDING, GRANT, RECORDED_REQUEST } from './approval.js';
import { CALL_STATES } from './call.js';
import type { Content, Part } from './content.js';
import { COMMAND_DECISION, REMEDY, RULE, DECISION_WORD } from './decision-fields.js';
import { MODES } from './decision.js';
import { KINDS } from './kind.js';
import { LIMIT_NAMES } from './limit.js';
import { MODEL_SETTINGS } from './model-settings.js';
import { OUTCOME_ERROR } from './outcome-error.js';
import { TOOL_PROTOCOLS } from './provider.js';
import { SANDBOX_STATE } from './sandbox-state.js';
import {
  amount,
  anything,
  boolean,
  count,
  kept,
  listOf,
  mapOf,
  name,
  object,
  oneOf,
  only,
  openObject,
  optionally,
  shape,
  text,
  word,
  type Fields,
} from './shape.js';
import { SERVER_STATUS } from './source.js';
import { STATUSES } from './status.js';
import { BASELINE, NET_CHANGE, PATCH_REPORT, SUCCESS_CONDITIONS, VERIFICATION } from './success.js';
import { TODO } from './todo.js';
import { TOOL_ERROR } from './tool-error.js';
import { FILE_CHANGE, PROCESS_END, type JsonSchema } from './tool.js';
import { MODEL_USAGE, USAGE } from './usage.js';

const part = shape<Part>({ type: 'object' }, 'value');
const parts = shape<readonly Part[]>(listOf(part), 'parts');

/** What a run may use. Policies may get further limits later. */
export const LIMITS = openObject({
  turns: count,
  tool_calls: count,
  'tokens?': count,
  'cost_usd?': amount,
  time_ms: count,
  retry_time_ms: count,
  parallel: count,
  tool_output: count,
  // Bytes. Older versions lack it.
  'stored_output?': count,
  denials: count,
});

/** A denied call. */
export const DENIAL = object({
  tool_id: name,
  tool_name: name,
  rule: RULE,
  reason: text,
  // What would have allowed it.
  'remedy?': REMEDY,
});

const TOKENS = {
  'total_tokens?': count,
  'input_tokens?': count,
  'output_tokens?': count,
  'cached?': count,
  'input?': count,
  'thoughts?': count,
  'tool_use?': count,
  // Absent unless the cost of every response is known.
  'cost_usd?': amount,
};
export const TOKEN_STATS = object(TOKENS);
export const TOOL_STATS = object({
  calls: count,
  success: count,
  error: count,
  cancelled: count,
  duration_ms: count,
});
export const RUN_STATS = object({
  ...TOKENS,
  turns: count,
  retries: count,
  tool_calls: count,
  tools: mapOf(TOOL_STATS),
  models: mapOf(TOKEN_STATS),
  duration_ms: count,
  model_duration_ms: count,
  // Of that, the time spent waiting before retries.
  retry_wait_ms: count,
  tool_duration_ms: count,
  // The sums of `changes`; absent if those are.
  'files_changed?': count,
  'lines_added?': count,
  'lines_removed?': count,
});

/**
 * The fields of each type of event. The transcript's schema, the types of events and the redaction of events are made
 * from them. Each says what may be secret in it.
 */
export const EVENT_FIELDS = {
  init: {
    version: text,
    schema_version: count,
    model: name,
    // How the model should answer. A recording is not asked.
    'model_settings?': MODEL_SETTINGS,
    provider: text,
    auth: text,
    cwd: text,
    git_head: optionally(text),
    policy: listOf(object({ file: text, sha256: word })),
    mode: oneOf(MODES),
    limits: LIMITS,
    tools: listOf(text),
    mcp_servers: listOf(SERVER_STATUS),
    sandbox: SANDBOX_STATE,
    // Absent if the provider's own function calling is used.
    'tool_protocol?': oneOf(TOOL_PROTOCOLS),
    'replay?': text,
    // Calls that would change something are not executed.
    'dry_run?': only(true),
    // Where the run was resumed: the last line before, and how it had ended.
    'resumed_from?': object({ seq: count, status: oneOf([...STATUSES, 'killed']) }),
    // The policies with all that they extend. This and the following fields are needed to resume.
    effective_policy: kept(listOf(shape<object>({ type: 'object' }, 'kept'))),
    // The file for a patch of the run's changes.
    'patch_out?': text,
    // The workspace before the run.
    'baseline?': BASELINE,
    // What must be true at the end.
    'success?': kept(SUCCESS_CONDITIONS),
    // The schema of `--output-schema`.
    'output_schema?': shape<JsonSchema>({ type: 'object' }, 'kept'),
    // What the model is told about its situation.
    system: text,
    // A secret was removed from the policies or the schema: the run cannot be resumed.
    'redacted?': boolean,
  },
  message: {
    role: oneOf(['user', 'assistant']),
    content: text,
    'phase?': oneOf(['interim', 'final']),
    // The message as sent, with attachments. Needed to resume.
    'parts?': parts,
    // Something in it is untrusted.
    'untrusted?': boolean,
    // It asks the model to fix its answer or its work; the `reason` of the result, if that is not fixed.
    'repair?': word,
  },
  thought: { turn: count, content: text },
  turn: {
    index: count,
    model: name,
    finish_reason: text,
    latency_ms: count,
    'usage?': USAGE,
    // Absent if the usage or the price is not known.
    'cost_usd?': amount,
    // What the model said, exact except for secrets. Needed to resume and to replay.
    content: shape<Content>(object({ role: oneOf(['user', 'model']), parts }), 'content'),
    // A secret was removed from it.
    'redacted?': boolean,
  },
  tool_use: {
    tool_name: name,
    tool_id: name,
    // What the call does, for people: `Read src/a.ts`. Older versions lack it.
    'title?': text,
    parameters: anything,
    kind: oneOf(KINDS),
    turn: count,
  },
  policy_decision: {
    tool_id: name,
    decision: DECISION_WORD,
    rule: RULE,
    reason: text,
    // For a command line: each simple command in it.
    'commands?': listOf(COMMAND_DECISION),
    // What would have allowed it.
    'remedy?': REMEDY,
  },
  // A call needs approval. `tool_id` is the request's `tool_call_id`. Deferred: by `bosun approve`.
  approval_request: { tool_id: name, 'deferred?': boolean, ...RECORDED_REQUEST },
  // An answer, from any approver. Those of `bosun approve` take effect when the run is resumed.
  approval_response: {
    tool_id: name,
    ...ANSWER,
    // Who answered: the approver command, a function, an earlier "always", or `bosun approve`.
    source: oneOf(['command', 'callback', 'grant', 'approve']),
    // What it covers besides the call, from now on.
    'grant?': GRANT,
    // The arguments that the call continues with, if they were modified.
    'parameters?': anything,
    'binding?': ANSWER_BINDING,
  },
  // A call that changes something begins. On disk before it does: without a result it may have done its work.
  tool_start: { tool_id: name },
  tool_state: { tool_id: name, state: oneOf(CALL_STATES) },
  tool_output: { tool_id: name, content: text },
  tool_result: {
    tool_id: name,
    status: oneOf(['success', 'error', 'cancelled']),
    'output?': shape<string | Readonly<Record<string, unknown>>>({ type: ['string', 'object'] }, 'value'),
    'error?': TOOL_ERROR,
    duration_ms: count,
    'change?': FILE_CHANGE,
    'process?': PROCESS_END,
    'full_output?': text,
    // It was not executed: the run is a dry run.
    'suppressed?': only(true),
    // Tokens that the tool used by asking a model, and which model.
    'usage?': MODEL_USAGE,
    // Media that went to the model with the output. Needed to resume.
    'media?': parts,
  },
  // Whether a command could reach a host, if commands have only the policy's network.
  network_decision: {
    host: text,
    port: count,
    // The scheme it was judged as: a tunnel is `https` unless only `http` is allowed there.
    scheme: oneOf(['http', 'https']),
    decision: oneOf(['allow', 'deny']),
    reason: text,
    // What the name resolved to.
    'address?': text,
    // How often this was decided since the last event: repeats are reported together.
    count,
  },
  verification: VERIFICATION,
  // The model's current plan: the whole list.
  todos: { todos: listOf(TODO) },
  // The oldest part of what is sent was replaced by a summary, or was to be.
  compression: {
    used: boolean,
    // The next request, estimated.
    before_tokens: count,
    after_tokens: count,
    // How many contents the summary replaces: those after the first, which is the task with earlier notes.
    contents: count,
    // Needed to resume.
    'summary?': text,
    // Why it was dropped.
    'reason?': oneOf(['empty', 'longer', 'truncated', 'blocked', 'failed']),
    'message?': text,
    model: name,
    latency_ms: count,
    'usage?': USAGE,
    // Absent if the usage or the price is not known.
    'cost_usd?': amount,
  },
  // The model was warned that it repeats itself.
  loop_notice: {
    // The call whose result ends with the notice.
    tool_id: name,
    // One round of the loop.
    calls: listOf(object({ tool_id: name, tool_name: name })),
    repeats: count,
    message: text,
  },
  retry: {
    attempt: count,
    wait_ms: count,
    class: word,
    // The model that was asked.
    model: name,
    message: text,
    // Tokens of the answer that was dropped.
    'usage?': USAGE,
    'cost_usd?': amount,
  },
  // A limit is nearly used up. Time is in milliseconds, cost in dollars.
  limit_notice: {
    limit: oneOf(LIMIT_NAMES),
    used: amount,
    value: amount,
    // What the model is told, after the results of its last calls. Needed to resume.
    message: text,
  },
  error: { severity: oneOf(['warning', 'error']), class: word, message: text },
  result: {
    status: oneOf(STATUSES),
    exit_code: count,
    'reason?': text,
    response: text,
    // The answer as a value, if a schema was given.
    'structured_output?': anything,
    stats: RUN_STATS,
    denials: listOf(DENIAL),
    pending: listOf(object(RECORDED_REQUEST)),
    warnings: listOf(text),
    'error?': OUTCOME_ERROR,
    'transcript?': text,
    // The net change of the whole run. Absent if it is not known.
    'changes?': listOf(NET_CHANGE),
    'patch?': PATCH_REPORT,
    // With `--learn`: the rules that the run needed, as YAML, and where the whole policy was written.
    'learnt?': object({ file: text, rules: text }),
    // Absent if the run ended before it was known.
    'sandbox?': SANDBOX_STATE,
    // Nothing was changed, whatever the calls say.
    'dry_run?': only(true),
  },
} as const satisfies Readonly<Record<string, Fields>>;
