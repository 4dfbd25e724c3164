// A server of OpenAI's chat completions on loopback that says what a script tells it to, over real HTTP and SSE, and
// logs what it was sent.
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * @typedef {object} ChatReply One scripted answer. Give `text` and `calls` for an ordinary one.
 * @property {string} [text] Streamed in two pieces.
 * @property {object[]} [calls] Tool calls, made by `toolCall`; the arguments of each are streamed in pieces.
 * @property {object[]} [deltas] What `text` and `calls` would be made into, as it is.
 * @property {string | null} [finishReason] `tool_calls` or `stop` unless given; null for a stream without one.
 * @property {object | null} [usage] Sent in a last event without choices; null for none.
 * @property {boolean} [done] False to leave out `[DONE]`.
 * @property {object[]} [events] The whole chunks, instead of all of the above.
 * @property {object} [whole] A body that is not streamed.
 * @property {number} [delayMs] Before the first byte.
 * @property {number} [cutAfter] Closes the connection after this many events.
 * @property {boolean} [stayOpen] Does not end the answer after its last event.
 * @property {boolean} [hang] Never answers.
 * @property {boolean} [reset] Closes the connection at once.
 * @property {number} [status] Answers with this HTTP status and `body`.
 * @property {object | string} [body]
 * @property {Record<string, string>} [headers]
 * @property {(string | Buffer)[]} [pieces] The bytes of a 200 answer, in several writes.
 */

/**
 * @typedef {object} LoggedRequest
 * @property {string} method
 * @property {string} url
 * @property {import('node:http').IncomingHttpHeaders} headers
 * @property {any} body
 * @property {string} raw
 * @property {number} socket Which connection it came over.
 * @property {boolean} aborted The client closed the connection before the answer was out.
 */

/** @typedef {ChatReply[] | ((request: LoggedRequest, index: number) => ChatReply)} ChatScript */

export const USAGE = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };

/** @param {ChatScript} script */
export async function startOpenAiServer(script) {
  /** @type {LoggedRequest[]} */
  const requests = [];
  /** @type {import('node:net').Socket[]} */
  const sockets = [];
  const server = createServer(async (incoming, response) => {
    const pieces = [];
    for await (const piece of incoming) pieces.push(piece);
    const raw = Buffer.concat(pieces).toString('utf8');
    if (!sockets.includes(incoming.socket)) sockets.push(incoming.socket);
    const request = {
      method: incoming.method ?? '',
      url: incoming.url ?? '',
      headers: incoming.headers,
      body: JSON.parse(raw),
      raw,
      socket: sockets.indexOf(incoming.socket),
      aborted: false,
    };
    const index = requests.push(request) - 1;
    response.on('close', () => (request.aborted = !response.writableFinished));
    const reply = typeof script === 'function' ? script(request, index) : script[index];
    await answer(reply ?? { status: 500, body: `the script has no reply ${index}` }, response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}/v1`,
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
 * @param {ChatReply} reply
 * @param {import('node:http').ServerResponse} response
 */
async function answer(reply, response) {
  if (reply.delayMs) await wait(reply.delayMs);
  if (reply.hang) return;
  if (reply.reset) {
    response.socket?.resetAndDestroy();
    return;
  }
  if (reply.status !== undefined || reply.whole) {
    const body = reply.whole ?? reply.body;
    const isText = typeof body === 'string';
    const type = isText ? 'text/plain' : 'application/json';
    response.writeHead(reply.status ?? 200, { 'content-type': type, ...reply.headers });
    response.end(isText ? body : JSON.stringify(body));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', ...reply.headers });
  const events = reply.pieces ?? streamOf(reply);
  for (const event of events.slice(0, reply.cutAfter)) {
    await new Promise((resolve) => response.write(event, resolve));
    // So that each is a piece of its own on the wire, as far as anyone can ask for that.
    if (reply.pieces) await new Promise(setImmediate);
  }
  if (reply.cutAfter !== undefined) response.socket?.destroy();
  else if (!reply.stayOpen) response.end();
}

/**
 * The events of an ordinary answer, as OpenAI streams them.
 * @param {ChatReply} reply
 */
export function streamOf(reply) {
  const chunks = reply.events ?? chunksOf(reply);
  const events = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
  return reply.done === false ? events : [...events, 'data: [DONE]\n\n'];
}

/** @param {ChatReply} reply */
function chunksOf({ text = '', calls = [], deltas, finishReason, usage = USAGE }) {
  const reason = finishReason === undefined ? (calls.length > 0 ? 'tool_calls' : 'stop') : finishReason;
  const half = Math.ceil(text.length / 2);
  const pieces = deltas ?? [
    { role: 'assistant', content: text === '' ? null : '' },
    ...[text.slice(0, half), text.slice(half)].filter(Boolean).map((content) => ({ content })),
    ...calls.flatMap(callDeltas),
  ];
  return [
    ...pieces.map((delta) => chunk([{ index: 0, delta, finish_reason: null }])),
    ...(reason === null ? [] : [chunk([{ index: 0, delta: {}, finish_reason: reason }])]),
    ...(usage === null ? [] : [{ ...chunk([]), usage }]),
  ];
}

/** @param {object[]} choices */
export function chunk(choices) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'scripted',
    choices,
    usage: null,
  };
}

/**
 * @param {any} call
 * @param {number} index
 */
function callDeltas({ function: { name, arguments: args }, ...rest }, index) {
  const third = Math.ceil(args.length / 3);
  const pieces = [args.slice(0, third), args.slice(third, 2 * third), args.slice(2 * third)].filter(Boolean);
  return [
    { tool_calls: [{ index, ...rest, function: { name, arguments: '' } }] },
    ...pieces.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ];
}

/**
 * A call as OpenAI writes it.
 * @param {string} name
 * @param {object | string} args A string is taken as it is.
 * @param {string} [id]
 */
export function toolCall(name, args, id = `call_${name}`) {
  const text = typeof args === 'string' ? args : JSON.stringify(args);
  return { id, type: 'function', function: { name, arguments: text } };
}
