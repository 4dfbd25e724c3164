import type { IncomingHttpHeaders } from 'node:http';
import { orAbort } from '../../lib/or-abort.js';
import type {
  ModelFailure,
  ModelReply,
  ModelRequest,
  ModelSettings,
  Provider,
} from '../../protocol/provider.js';
import { unavailable } from '../failure.js';
import type { Connections } from '../http/connections.js';
import type { ProxyVariables } from '../http/proxy.js';
import { createTransport, TIMEOUTS, timeoutError, type Timeouts } from '../http/transport.js';
import { credentialFailure, failureOfError } from './failure.js';
import { fetchOver } from './fetch.js';
import { bodyWriter, sdkParameters } from './request.js';
import { ReplyBuilder, type ResponseChunk } from './response.js';
import { misfitIn, SdkMisfit } from './sdk-workarounds.js';
import { openSdk, type SdkAccess, type SdkModels } from './sdk.js';

export interface GeminiSettings {
  readonly model: string;
  readonly access: SdkAccess;
  readonly baseUrl: string | undefined;
  readonly modelSettings: ModelSettings;
  readonly includeThoughts: boolean;
  readonly proxyVariables: ProxyVariables;
  readonly timeouts?: Partial<Timeouts> | undefined;
  readonly connections?: Connections | undefined;
  /** Called when a request is on its way. */
  readonly onSent?: () => void;
}

/** A request to the SDK, and what assembles its response. */
interface Exchange<R> {
  readonly parameters: { readonly model: string; readonly config: object };
  readonly body: (sdkBody: string) => readonly Buffer[];
  readonly reply: {
    add(chunk: ResponseChunk): void;
    addRaw(data: string): void;
    build(): R | undefined;
    /** The failure that ended the stream, with the cost of the answer until then. */
    brokenBy(failure: ModelFailure): ModelFailure;
  };
}

const CUT = 'the stream ended before the answer was complete (no finish reason)';

/** Gemini by API key, or by Vertex. */
export function createGeminiProvider(settings: GeminiSettings): Provider {
  const { model, access } = settings;
  const timeouts = { ...TIMEOUTS, ...settings.timeouts };
  const transport = createTransport(timeouts, settings.proxyVariables, settings.onSent, settings.connections);
  let sdk: Promise<SdkModels> | undefined;
  const write = bodyWriter();

  async function stream<R>(exchange: Exchange<R>, signal: AbortSignal): Promise<R | ModelFailure> {
    // A missing part of the program is not the provider's failure.
    const models = await (sdk ??= openSdk(access, settings.baseUrl));
    // Our own, so that abandoning a response closes its connection.
    const connection = new AbortController();
    const abort = () => connection.abort();
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    // The SDK fetches credentials without any time limit.
    const noToken = () => connection.abort(timeoutError('none', timeouts.connectMs, 'connect'));
    const tokenTimer = setTimeout(noToken, timeouts.connectMs);
    const { reply } = exchange;
    let headers: IncomingHttpHeaders = {};
    let sent = false;
    try {
      const { config, ...parameters } = exchange.parameters;
      const fetch = fetchOver(transport, {
        body: (sdkBody) => {
          sent = true;
          clearTimeout(tokenTimer);
          return exchange.body(sdkBody);
        },
        onHead: (received) => (headers = received),
        onData: (data) => reply.addRaw(data),
      });
      const streaming = models.generateContentStream({
        ...parameters,
        config: { ...config, abortSignal: connection.signal, httpOptions: { fetch } },
      } as unknown as Parameters<SdkModels['generateContentStream']>[0]);
      const chunks = await orAbort(streaming, connection.signal);
      if (!sent) throw new SdkMisfit('contents', 'it sent something without our fetch');
      for await (const chunk of chunks) reply.add(chunk as unknown as ResponseChunk);
      return reply.build() ?? reply.brokenBy(unavailable(CUT));
    } catch (error) {
      // An answer read to its end returns its connection; any other is abandoned.
      connection.abort();
      const failure = failureBy(error, access, { model, headers, sent });
      return withoutKey(reply.brokenBy(failure), access);
    } finally {
      clearTimeout(tokenTimer);
      signal.removeEventListener('abort', abort);
    }
  }

  function send(request: ModelRequest, signal: AbortSignal): Promise<ModelReply | ModelFailure> {
    const exchange = {
      parameters: sdkParameters(model, request, settings.modelSettings, settings.includeThoughts),
      body: (sdkBody: string) => write(sdkBody, request.contents),
      reply: new ReplyBuilder(model, settings.modelSettings.tier),
    };
    return stream(exchange, signal);
  }

  const ground: NonNullable<Provider['ground']> = async (request, signal) => {
    const { groundingParameters, GroundingBuilder } = await import('./ground.js');
    const exchange = {
      parameters: groundingParameters(model, request),
      body: (sdkBody: string) => [Buffer.from(sdkBody)],
      reply: new GroundingBuilder(model),
    };
    return stream(exchange, signal);
  };

  return {
    name: access.type === 'vertex' ? 'vertex' : 'gemini',
    model,
    auth: access.type === 'vertex' ? 'adc' : 'api_key',
    settings: settings.modelSettings,
    send,
    ground,
    close: () => transport.close(),
  };
}

/** Throws errors of the SDK and our own. */
function failureBy(
  error: unknown,
  { type }: SdkAccess,
  at: { readonly model: string; readonly headers: IncomingHttpHeaders; readonly sent: boolean },
): ModelFailure {
  const vertex = type === 'vertex';
  const misfit = misfitIn(error);
  if (misfit) throw misfit;
  return !at.sent && vertex ? credentialFailure(error) : failureOfError(error, { ...at, vertex });
}

/** A server may quote the request that it rejects. Keys of a few letters are placeholders. */
function withoutKey(failure: ModelFailure, access: SdkAccess): ModelFailure {
  if (access.type !== 'api_key' || access.apiKey.length < 8) return failure;
  return { ...failure, message: failure.message.replaceAll(access.apiKey, '[redacted]') };
}
