// A Gemini API on loopback that says what a script tells it to, over real HTTP and SSE, and logs what it was sent.
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * @typedef {object} Reply One scripted answer. Give `parts` for an ordinary one.
 * @property {object[]} [parts] The model's parts, sent as one event.
 * @property {object[][]} [chunks] The same, spread over several events.
 * @property {string | null} [finishReason] `STOP` unless given; null for a stream without one.
 * @property {string} [finishMessage]
 * @property {object} [candidate] More fields of the last event's candidate.
 * @property {object | null} [usage] `usageMetadata` of the last event; null for none.
 * @property {object} [promptFeedback] Sent instead of a candidate.
 * @property {number} [delayMs] Before the first byte.
 * @property {number} [chunkDelayMs] Before each further event.
 * @property {number} [cutAfterChunks] Closes the connection after this many events.
 * @property {boolean} [hang] Never answers.
 * @property {boolean} [reset] Closes the connection at once.
 * @property {number} [status] Answers with this HTTP status and `body`.
 * @property {object | string} [body]
 * @property {Record<string, string>} [headers]
 * @property {string} [raw] The bytes of a 200 answer, as they are.
 * @property {string[]} [pieces] The same in several writes.
 */

/**
 * @typedef {object} LoggedRequest
 * @property {string} method
 * @property {string} url
 * @property {import('node:http').IncomingHttpHeaders} headers
 * @property {any} body
 * @property {string} raw
 * @property {boolean} aborted The client closed the connection before the answer was out.
 * @property {number} receivedAt When the whole request was there, on `performance.now()`'s clock.
 * @property {number} answeredAt When the whole answer was out.
 */

/** @typedef {Reply[] | ((request: LoggedRequest, index: number) => Reply)} Script */

const USAGE = { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 };

/**
 * @param {Script} script
 * @param {{keepBodies?: boolean}} [options] A long benchmark does not keep what it was sent.
 */
export async function startGeminiServer(script, { keepBodies = true } = {}) {
  /** @type {LoggedRequest[]} */
  const requests = [];
  const server = createServer(async (incoming, response) => {
    const pieces = [];
    for await (const piece of incoming) if (keepBodies) pieces.push(piece);
    const receivedAt = performance.now();
    const raw = Buffer.concat(pieces).toString('utf8');
    const request = {
      method: incoming.method ?? '',
      url: incoming.url ?? '',
      headers: incoming.headers,
      body: parse(raw),
      raw,
      aborted: false,
      receivedAt,
      answeredAt: 0,
    };
    const index = requests.push(request) - 1;
    response.on('close', () => (request.aborted = !response.writableFinished));
    const reply = typeof script === 'function' ? script(request, index) : script[index];
    await answer(reply ?? { status: 500, body: `the script has no reply ${index}` }, response);
    request.answeredAt = performance.now();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

/**
 * @param {Reply} reply
 * @param {import('node:http').ServerResponse} response
 */
async function answer(reply, response) {
  if (reply.delayMs) await wait(reply.delayMs);
  if (reply.hang) return;
  if (reply.reset) {
    response.socket?.resetAndDestroy();
    return;
  }
  if (reply.status !== undefined) {
    const isText = typeof reply.body === 'string';
    const type = isText ? 'text/plain' : 'application/json';
    response.writeHead(reply.status, { 'content-type': type, ...reply.headers });
    response.end(isText ? reply.body : JSON.stringify(reply.body));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', ...reply.headers });
  const events = reply.pieces ?? (reply.raw === undefined ? eventsOf(reply) : [reply.raw]);
  for (const [i, event] of events.entries()) {
    if (i > 0 && reply.chunkDelayMs) await wait(reply.chunkDelayMs);
    if (i === reply.cutAfterChunks) {
      response.socket?.destroy();
      return;
    }
    response.write(event);
  }
  if (reply.cutAfterChunks === events.length) response.socket?.destroy();
  else response.end();
}

/** @param {Reply} reply */
function eventsOf(reply) {
  const chunks = reply.promptFeedback ? [[]] : (reply.chunks ?? [reply.parts ?? []]);
  const { finishReason = 'STOP', usage = USAGE } = reply;
  return chunks.map((parts, i) => {
    const last = i === chunks.length - 1;
    const candidate = {
      content: { role: 'model', ...(parts.length > 0 && { parts }) },
      ...(last && finishReason !== null && { finishReason }),
      ...(last && reply.finishMessage && { finishMessage: reply.finishMessage }),
      ...(last && reply.candidate),
      index: 0,
    };
    const event = {
      ...(reply.promptFeedback ? { promptFeedback: reply.promptFeedback } : { candidates: [candidate] }),
      ...(usage !== null && last && { usageMetadata: usage }),
      modelVersion: 'gemini-scripted',
      responseId: 'scripted',
    };
    return `data: ${JSON.stringify(event)}\r\n\r\n`;
  });
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * A part with a call.
 * @param {string} name
 * @param {object} args
 * @param {{id?: string, thoughtSignature?: string}} [more]
 */
export function call(name, args, { id, thoughtSignature } = {}) {
  return {
    functionCall: { ...(id !== undefined && { id }), name, args },
    ...(thoughtSignature && { thoughtSignature }),
  };
}

/** @param {string} text */
export function text(text) {
  return { text };
}
