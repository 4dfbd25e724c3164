import { errorMessage } from '../lib/errors.js';
import type { CallResult } from '../protocol/call.js';
import { failure, type Outcome, type Status } from '../protocol/outcome.js';
import type { FailureClass, ModelFailure, ModelReply } from '../protocol/provider.js';
import { Problem, shortageProblem } from '../protocol/problem.js';
import { isFatal } from '../protocol/tool-error.js';

type Failed = Exclude<Status, 'completed'>;

const BY_CLASS: Readonly<Record<FailureClass, readonly [status: Failed, reason: string]>> = {
  auth: ['auth', 'refused'],
  quota: ['quota_exhausted', 'quota'],
  not_found: ['config_error', 'model_not_found'],
  invalid_request: ['model_error', 'invalid_request'],
  unavailable: ['provider_unavailable', 'unavailable'],
  protocol: ['provider_unavailable', 'not_the_protocol'],
  recording: ['model_error', 'recording_exhausted'],
};

/** The end of a run whose model did not answer. */
export function failureOutcome({ class: kind, message, hint, retryable, httpStatus }: ModelFailure): Outcome {
  const [status, reason] = BY_CLASS[kind];
  return failure(status, reason, message, {
    retryable,
    ...(hint && { hint }),
    ...(httpStatus !== undefined && { http_status: httpStatus }),
  });
}

const SENTENCES: Readonly<Record<string, string>> = {
  truncated: 'the answer was cut off at the output limit',
  malformed_function_call: 'the model keeps making calls that cannot be read',
  unexpected_tool_call: 'the model keeps calling tools that do not exist',
  blocked: 'the provider blocked the answer',
  empty_response: 'the model gave an empty answer twice',
  unknown_finish_reason: 'the answer ended for an unknown reason, so it does not count as success',
};

const HINTS: Readonly<Record<string, string>> = {
  truncated: 'Ask for less, or raise model.max_output_tokens in the policy.',
  malformed_function_call: 'Try another model, or --tool-protocol text.',
  unexpected_tool_call: 'Try another model, or --tool-protocol text.',
  blocked: 'Change the prompt or its attachments; asking again without a change rarely helps.',
  empty_response: 'Run it again, or try another model.',
};

/** The end of a run whose model answered, but not in a usable way. */
export function replyOutcome({ finishReason, finishMessage }: ModelReply, reason: string): Outcome {
  const detail = finishMessage ? `: ${finishMessage}` : '';
  const hint = HINTS[reason];
  const message = `${SENTENCES[reason] ?? reason} (${finishReason}${detail})`;
  return failure('model_error', reason, message, hint ? { hint } : {});
}

/** The end of a run whose tools are no longer reliable. */
export function fatalOutcome(results: readonly CallResult[]): Outcome | undefined {
  const error = results.find((result) => result.error && isFatal(result.error.type))?.error;
  return error && failure('tool_infra_error', error.type, error.message);
}

/** The end that an exception caused: bad input at a door, or a bug. */
export function problemOutcome(error: unknown): Outcome {
  const problem = error instanceof Problem ? error : shortageProblem(error);
  if (problem) {
    const { status, code, message, hint } = problem;
    return failure(status, code, message, hint ? { hint } : {});
  }
  const where = error instanceof Error && error.stack ? ` ${error.stack.split('\n')[1]?.trim() ?? ''}` : '';
  return failure('internal_error', 'bug', `${errorMessage(error)}${where}`, {
    hint: 'This is a bug in Bosun; please report it with the transcript.',
  });
}
