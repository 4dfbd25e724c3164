import type { IncomingMessage } from 'node:http';
import { errorMessage } from '../../../lib/errors.js';
import { pause } from '../../../lib/pause.js';
import { oneLine } from '../../../lib/text.js';
import { VERSION } from '../../../lib/version.js';
import { Problem } from '../../../protocol/problem.js';
import { createTransport, TIMEOUTS, type Transport } from '../../../providers/http/transport.js';
import { cancelProblem } from '../../halt.js';
import { saidBy, type Answer } from './answer.js';
import { limitedFor } from './rate-limit.js';

export interface ApiSettings {
  /** Without a slash at the end. */
  readonly api: string;
  readonly token: string;
  /** For proxies. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** How often a request is sent that gets no useful answer, and the first wait between two of them. */
const TRIES = 5;
const FIRST_WAIT_MS = 500;
/** A longer wait is for whoever runs us again. */
const LONGEST_WAIT_MS = 60_000;
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_REDIRECTS = 3;
const TIMEOUT_MS = { ...TIMEOUTS, firstByteMs: 60_000, totalMs: 300_000 };

/** GitHub's REST API: JSON in, JSON out. What another try may fix is tried again. */
export class GitHubApi {
  readonly #settings: ApiSettings;
  readonly #transport: Transport;

  constructor(settings: ApiSettings) {
    this.#settings = settings;
    this.#transport = createTransport(TIMEOUT_MS, settings.variables);
  }

  get(path: string): Promise<Answer> {
    return this.#ask('GET', path);
  }

  post(path: string, body: object): Promise<Answer> {
    return this.#ask('POST', path, body);
  }

  close(): void {
    this.#transport.close();
  }

  /** Resolves with any answer that is about the request itself. */
  async #ask(method: string, path: string, body?: object): Promise<Answer> {
    const { api, signal } = this.#settings;
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#exchange(method, `${api}${path}`, body).catch((error: unknown) => {
        if (signal.aborted) throw cancelProblem(signal.reason);
        if (error instanceof Problem) throw error;
        return errorMessage(error);
      });
      const wait = typeof answer === 'string' || answer.status >= 500 ? undefined : limitedFor(answer);
      if (typeof answer !== 'string' && answer.status < 500 && wait === undefined) return answer;
      const ms = wait ?? FIRST_WAIT_MS * 2 ** (attempt - 1);
      if (wait !== undefined && (ms > LONGEST_WAIT_MS || attempt === TRIES)) throw limitProblem(ms);
      if (attempt === TRIES) throw unavailable(typeof answer === 'string' ? answer : saidBy(answer));
      await pause(ms, signal);
    }
  }

  async #exchange(method: string, first: string, body?: object): Promise<Answer> {
    const { token, signal } = this.#settings;
    const headers = {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token}`,
      'user-agent': `bosun/${VERSION}`,
      'x-github-api-version': '2022-11-28',
      ...(body && { 'content-type': 'application/json' }),
    };
    const bytes = body ? [Buffer.from(JSON.stringify(body))] : [];
    let url = first;
    for (let redirects = 0; ; redirects++) {
      const message = await this.#transport.send({ url, method, headers, body: bytes, signal });
      const answer = await readAnswer(message);
      const next = redirectOf(answer, url);
      if (next === undefined) return answer;
      // The token is for this server only.
      if (new URL(next).origin !== new URL(first).origin)
        throw new Problem('provider_unavailable', 'github', `${first} redirects to another server`);
      if (redirects === MAX_REDIRECTS) throw new Error(`${first} redirects without an end`);
      url = next;
    }
  }
}

function redirectOf({ status, headers }: Answer, url: string): string | undefined {
  const { location } = headers;
  return [301, 302, 307, 308].includes(status) && location ? new URL(location, url).href : undefined;
}

async function readAnswer(message: IncomingMessage): Promise<Answer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of message) {
    pieces.push(piece as Buffer);
    bytes += (piece as Buffer).length;
    if (bytes > MAX_BYTES) throw new Error(`the answer has more than ${MAX_BYTES} bytes`);
  }
  const { statusCode: status = 0, headers } = message;
  const text = Buffer.concat(pieces).toString('utf8');
  try {
    return { status, headers, body: JSON.parse(text) as unknown };
  } catch {
    // An error page; but what should be an answer has to be one.
    if (status < 300) throw new Error(`the answer is not JSON: ${oneLine(text, 100)}`);
    return { status, headers, body: undefined };
  }
}

function unavailable(why: string): Problem {
  return new Problem('provider_unavailable', 'github', `GitHub cannot be reached: ${oneLine(why, 300)}`, {
    hint: 'Run the same command again later: it goes on.',
  });
}

function limitProblem(ms: number): Problem {
  const when = new Date(Date.now() + ms).toISOString().replace(/\.\d+/, '');
  return new Problem('quota_exhausted', 'rate_limit', `GitHub's rate limit is used up until ${when}`, {
    hint: 'Run the same command again after that: it goes on.',
  });
}
