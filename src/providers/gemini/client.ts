import type { IncomingHttpHeaders } from 'node:http';
import { orAbort } from '../../lib/or-abort.js';
import type { ModelFailure, ModelReply, ModelRequest, Provider } from '../../protocol/provider.js';
import { unavailable } from '../failure.js';
import type { ProxyVariables } from '../http/proxy.js';
import { createTransport, TIMEOUTS, timeoutError, type Timeouts } from '../http/transport.js';
import { credentialFailure, failureOf } from './failure.js';
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
  readonly timeouts?: Partial<Timeouts> | undefined;
  /** Called when a request is on its way. */
  readonly onSent?: () => void;
}

const CUT = 'the stream ended before the answer was whole (no finish reason)';

/** Gemini by API key, or by Vertex. */
export function createGeminiProvider(settings: GeminiSettings): Provider {
  const { model, access } = settings;
  const timeouts = { ...TIMEOUTS, ...settings.timeouts };
  const transport = createTransport(timeouts, settings.proxyVariables, settings.onSent);
  let sdk: Promise<SdkModels> | undefined;

  async function send(request: ModelRequest, signal: AbortSignal): Promise<ModelReply | ModelFailure> {
    // Of our own, so that a response that is given up on closes its connection.
    const connection = new AbortController();
    const abort = () => connection.abort();
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    // Credentials are fetched by the SDK's own means, which know no limit.
    const tokenError = timeoutError('none', timeouts.connectMs, 'connect');
    const tokenTimer = setTimeout(() => connection.abort(tokenError), timeouts.connectMs);
    const reply = new ReplyBuilder(model);
    let headers: IncomingHttpHeaders = {};
    let sent = false;
    try {
      sdk ??= openSdk(access, settings.baseUrl);
      const { config, ...parameters } = sdkParameters(model, request, settings.includeThoughts);
      const fetch = fetchOver(transport, {
        body: (sdkBody) => {
          sent = true;
          clearTimeout(tokenTimer);
          return withContents(sdkBody, request.contents);
        },
        onHead: (received) => (headers = received),
        onData: (line) => reply.addRaw(line),
      });
      const streaming = (await sdk).generateContentStream({
        ...parameters,
        config: { ...config, abortSignal: connection.signal, httpOptions: { fetch } },
      } as unknown as Parameters<SdkModels['generateContentStream']>[0]);
      const stream = await orAbort(streaming, connection.signal);
      for await (const chunk of stream) reply.add(chunk as unknown as ResponseChunk);
      return reply.build() ?? reply.brokenBy(unavailable(CUT));
    } catch (error) {
      const vertex = access.type === 'vertex';
      const early = !sent && vertex;
      const failure = early ? credentialFailure(error) : failureOf(error, { model, vertex, headers });
      return withoutKey(reply.brokenBy(failure), access);
    } finally {
      clearTimeout(tokenTimer);
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

/** A server may quote the request that it refuses. */
function withoutKey(failure: ModelFailure, access: SdkAccess): ModelFailure {
  if (access.type !== 'api_key') return failure;
  return { ...failure, message: failure.message.replaceAll(access.apiKey, '[redacted]') };
}
