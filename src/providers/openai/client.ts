import type { IncomingMessage } from 'node:http';
import type {
  ModelFailure,
  ModelReply,
  ModelRequest,
  ModelSettings,
  Provider,
} from '../../protocol/provider.js';
import { eventData } from '../http/event-stream.js';
import type { ProxyVariables } from '../http/proxy.js';
import { readText } from '../http/read-text.js';
import type { Connections } from '../http/connections.js';
import { createTransport, TIMEOUTS, type Timeouts } from '../http/transport.js';
import { completionsUrl, requestHeaders, type OpenAiAccess } from './access.js';
import { apiFailure, errorInAnswer, filterMessage, thrownFailure } from './failure.js';
import { UnsupportedMedia } from './media.js';
import { simplerDialect, createRequestWriter, type Dialect } from './request.js';
import { errorIn, parseChunk, ReplyBuilder } from './response.js';
import { lengthFieldAt } from './settings.js';

export interface OpenAiSettings {
  readonly model: string;
  readonly access: OpenAiAccess;
  readonly modelSettings: ModelSettings;
  readonly proxyVariables: ProxyVariables;
  readonly timeouts?: Partial<Timeouts> | undefined;
  readonly connections?: Connections | undefined;
  /** Called when a request is on its way. */
  readonly onSent?: () => void;
}

/** Any server that speaks OpenAI's chat completions. */
export function createOpenAiProvider(settings: OpenAiSettings): Provider {
  const { model, access } = settings;
  const timeouts = { ...TIMEOUTS, ...settings.timeouts };
  const transport = createTransport(timeouts, settings.proxyVariables, settings.onSent, settings.connections);
  const url = completionsUrl(access.baseUrl);
  const headers = requestHeaders(access);
  const write = createRequestWriter(model, settings.modelSettings);
  let dialect: Dialect = { usage: true, thoughts: true, schema: true, length: lengthFieldAt(access.baseUrl) };

  /** One exchange, or two or three: a request that asked for too much is repeated with less, once for each. */
  async function exchange(request: ModelRequest, signal: AbortSignal): Promise<ModelReply | ModelFailure> {
    while (true) {
      const body = write(request, dialect);
      const message = await transport.send({ url, method: 'POST', headers, body, signal });
      const status = message.statusCode ?? 0;
      if (status >= 200 && status < 300) return readReply(message, settings);
      // A body that breaks off does not change what the status says.
      const said = withoutKey(await readText(message).catch(() => ''), access);
      const less = simplerDialect(dialect, request, status, said);
      if (!less) return filteredReply(status, said, message, model);
      dialect = less;
    }
  }

  async function send(request: ModelRequest, signal: AbortSignal): Promise<ModelReply | ModelFailure> {
    // Our own, so that abandoning an answer closes its connection.
    const connection = new AbortController();
    const abort = () => connection.abort();
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    try {
      const outcome = await exchange(request, connection.signal);
      if (outcome.type === 'reply') return outcome;
      abort();
      return redacted(outcome, access);
    } catch (error) {
      abort();
      return redacted(error instanceof UnsupportedMedia ? notSent(error) : thrownFailure(error), access);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  return {
    name: 'openai',
    model,
    auth: access.apiKey === undefined ? 'none' : 'api_key',
    settings: settings.modelSettings,
    send,
    close: () => transport.close(),
  };
}

async function readReply(
  message: IncomingMessage,
  { model, access }: OpenAiSettings,
): Promise<ModelReply | ModelFailure> {
  const reply = new ReplyBuilder(model);
  for await (const data of eventData(message.iterator({ destroyOnReturn: false }))) {
    if (data.trim() === '') continue;
    if (data.trim() === '[DONE]') break;
    const chunk = parseChunk(data);
    if (errorIn(chunk)) return errorInAnswer(errorIn(parseChunk(withoutKey(data, access))), model);
    reply.add(chunk);
  }
  await ended(message);
  return reply.build();
}

const GRACE_MS = 100;

/** Waits briefly for an answer to end by itself after its last word, so that its connection can be reused. */
function ended(message: IncomingMessage): Promise<void> {
  if (message.closed) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => message.destroy(), GRACE_MS);
    message.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
    message.on('error', () => {}).resume();
  });
}

/** A filter before the model is an answer, too: the model will not get this request. */
function filteredReply(
  status: number,
  said: string,
  message: IncomingMessage,
  model: string,
): ModelReply | ModelFailure {
  const finishMessage = filterMessage(status, said);
  if (finishMessage === undefined) return apiFailure(status, said, message.headers, model);
  const content = { role: 'model', parts: [] } as const;
  return { type: 'reply', content, end: 'blocked', finishReason: 'content_filter', finishMessage, model };
}

function notSent({ message }: UnsupportedMedia): ModelFailure {
  const hint = 'Such a model takes images, PDF, WAV and MP3. Nothing was sent.';
  return { type: 'failure', class: 'invalid_request', retryable: false, message, hint };
}

/** A server may quote the request that it rejects. Keys of a few letters are placeholders. */
function withoutKey(text: string, { apiKey = '' }: OpenAiAccess): string {
  return apiKey.length < 8 ? text : text.replaceAll(apiKey, '[redacted]');
}

function redacted(failure: ModelFailure, access: OpenAiAccess): ModelFailure {
  return { ...failure, message: withoutKey(failure.message, access) };
}
