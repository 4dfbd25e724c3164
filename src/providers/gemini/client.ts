import type { ModelFailure, ModelReply, ModelRequest, Provider } from '../../protocol/provider.js';
import { createTransport, type Timeouts } from '../http/transport.js';
import type { ProxyVariables } from '../http/proxy.js';
import { failureOf, unavailable } from './failure.js';
import { fetchOver } from './fetch.js';
import { sdkParameters, withContents } from './request.js';
import { ReplyBuilder, type ResponseChunk } from './response.js';
import { openSdk, type SdkAccess, type SdkModels } from './sdk.js';

export interface GeminiSettings {
  readonly model: string;
  readonly access: SdkAccess;
  readonly baseUrl: string | undefined;
  readonly includeThoughts: boolean;
  readonly proxyVariables: ProxyVariables;
  readonly timeouts?: Timeouts;
  /** Called when a request is on its way. */
  readonly onSent?: () => void;
}

const TIMEOUTS: Timeouts = { connectMs: 30_000, firstByteMs: 300_000, idleMs: 120_000 };

/** Gemini by API key, or by Vertex. */
export function createGeminiProvider(settings: GeminiSettings): Provider {
  const { model, access } = settings;
  const transport = createTransport(settings.timeouts ?? TIMEOUTS, settings.proxyVariables, settings.onSent);
  let sdk: Promise<SdkModels> | undefined;

  async function send(request: ModelRequest, signal: AbortSignal): Promise<ModelReply | ModelFailure> {
    // Of our own, so that a response that is given up on closes its connection.
    const connection = new AbortController();
    const abort = () => connection.abort();
    signal.addEventListener('abort', abort, { once: true });
    try {
      sdk ??= openSdk(access, settings.baseUrl);
      const { config, ...parameters } = sdkParameters(model, request, settings.includeThoughts);
      const fetch = fetchOver(transport, (body) => withContents(body, request.contents));
      const stream = await (
        await sdk
      ).generateContentStream({
        ...parameters,
        config: { ...config, abortSignal: connection.signal, httpOptions: { fetch } },
      } as unknown as Parameters<SdkModels['generateContentStream']>[0]);
      const reply = new ReplyBuilder(model);
      for await (const chunk of stream) reply.add(chunk as unknown as ResponseChunk);
      return reply.build() ?? unavailable('the stream ended before the answer was whole (no finish reason)');
    } catch (error) {
      return failureOf(error, model);
    } finally {
      signal.removeEventListener('abort', abort);
      connection.abort();
    }
  }

  return {
    name: access.type === 'vertex' ? 'vertex' : 'gemini',
    model,
    auth: access.type === 'vertex' ? 'adc' : 'api_key',
    send,
    close: () => transport.close(),
  };
}
