import { afterEach } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import type { Content } from '../../src/protocol/content.js';
import type { ModelFailure, ModelReply, ModelRequest, Provider } from '../../src/protocol/provider.js';
import { createGeminiProvider, type GeminiSettings } from '../../src/providers/gemini/client.js';
import { startGeminiServer, type Reply, type Script } from './gemini-server.mjs';
import { startRawServer } from './raw-server.js';

export const HELLO: Content = { role: 'user', parts: [{ text: 'Hello.' }] };

export function request(more: Partial<ModelRequest> = {}): ModelRequest {
  return { system: 'Be brief.', contents: [HELLO], tools: [], ...more };
}

interface Closable {
  close(): unknown;
}

/** Closes what a test opened, last things first. */
export function closing(): <T extends Closable>(opened: T) => T {
  const open: Closable[] = [];
  afterEach(async () => {
    for (const one of open.splice(0).toReversed()) await one.close();
  });
  return (opened) => {
    open.push(opened);
    return opened;
  };
}

/** Opens providers and the servers they talk to; all are closed after the test. */
export function providers() {
  const use = closing();
  const open = (server: { readonly url: string }, settings: Partial<GeminiSettings> = {}): Provider =>
    use(
      createGeminiProvider({
        model: 'gemini-test',
        access: { type: 'api_key', apiKey: 'test-key' },
        baseUrl: server.url,
        includeThoughts: false,
        modelSettings: { max_output_tokens: 8192 },
        proxyVariables: {},
        ...settings,
      }),
    );
  const serve = async (script: Script) => use(await startGeminiServer(script));
  const serveRaw = async (answer: Parameters<typeof startRawServer>[0]) => use(await startRawServer(answer));
  /** What becomes of one request that is answered like this. */
  const outcomeOf = async (reply: Reply, settings: Partial<GeminiSettings> = {}) =>
    send(open(await serve([reply]), settings));
  return { use, open, serve, serveRaw, outcomeOf };
}

export function send(
  provider: Provider,
  more: Partial<ModelRequest> = {},
): Promise<ModelReply | ModelFailure> {
  return provider.send(request(more), new AbortController().signal);
}

export function asReply(outcome: ModelReply | ModelFailure): ModelReply {
  if (outcome.type !== 'reply') throw new Error(`a failure: ${JSON.stringify(outcome)}`);
  return outcome;
}

export function asFailure(outcome: ModelReply | ModelFailure): ModelFailure {
  if (outcome.type !== 'failure') throw new Error(`a reply: ${JSON.stringify(outcome)}`);
  return outcome;
}

/** Fails if something that has to end does not. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = wait(ms, undefined, { signal: timer.signal, ref: false }).then(() => {
    throw new Error(`still waiting after ${ms} ms`);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
    late.catch(() => {});
  }
}
