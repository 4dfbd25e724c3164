import type { IncomingHttpHeaders } from 'node:http';
import { oneLine } from '../../../lib/text.js';
import { Problem } from '../../../protocol/problem.js';

export interface Answer {
  readonly status: number;
  /** The JSON; undefined if it is none. */
  readonly body: unknown;
  readonly headers: IncomingHttpHeaders;
}

/** What GitHub says about an error. */
export function saidBy({ status, body }: Answer): string {
  const { message, errors } = (body ?? {}) as { readonly message?: unknown; readonly errors?: unknown };
  const more = Array.isArray(errors)
    ? errors.flatMap((one: { readonly message?: unknown } | null) =>
        one?.message ? [String(one.message)] : [],
      )
    : [];
  const text = [typeof message === 'string' ? message : '', ...more].filter(Boolean).join(': ');
  return oneLine(`HTTP ${status}${text && `: ${text}`}`, 300);
}

/** What an answer means that is no answer to the question: for whoever set the token, or for us. */
export function answerProblem(answer: Answer, what: string): Problem {
  const said = saidBy(answer);
  if (answer.status === 401)
    return new Problem('auth', 'github_token', `GitHub does not accept GITHUB_TOKEN: ${said}`);
  if (answer.status === 403)
    return new Problem('auth', 'github_token', `GITHUB_TOKEN may not ${what}: ${said}`, {
      hint: 'It needs contents: write and pull-requests: write; GitHub Actions may also be forbidden to create pull requests (settings of the repository, Actions, General).',
    });
  return new Problem('provider_unavailable', 'github', `GitHub could not ${what}: ${said}`);
}
