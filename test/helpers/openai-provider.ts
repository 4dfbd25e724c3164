import type { Provider } from '../../src/protocol/provider.js';
import { createOpenAiProvider, type OpenAiSettings } from '../../src/providers/openai/client.js';
import { startOpenAiServer, type ChatReply, type ChatScript } from './openai-server.mjs';
import { closing, send } from './provider.js';
import { startRawServer } from './raw-server.js';

type Settings = Partial<OpenAiSettings>;

export const KEY = 'test-key-openai';

/** Opens OpenAI-compatible providers and the servers they talk to; all are closed after the test. */
export function openAiProviders() {
  const use = closing();
  const open = (server: { readonly url: string }, settings: Settings = {}): Provider => {
    const access = { baseUrl: server.url, apiKey: KEY };
    const modelSettings = { max_output_tokens: 8192 };
    const own = { model: 'some-model', access, modelSettings, proxyVariables: {} };
    return use(createOpenAiProvider({ ...own, ...settings }));
  };
  const serve = async (script: ChatScript) => use(await startOpenAiServer(script));
  const serveRaw = async (answer: Parameters<typeof startRawServer>[0]) => use(await startRawServer(answer));
  /** What becomes of one request that is answered like this. */
  const outcomeOf = async (reply: ChatReply, settings: Settings = {}) =>
    send(open(await serve([reply]), settings));
  return { use, open, serve, serveRaw, outcomeOf };
}
