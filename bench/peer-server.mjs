// A model that says one word, in the three APIs that other agents speak. It notes when the first request was there as a whole.
import { createServer } from 'node:http';

const event = (data, name = data.type) =>
  `${name ? `event: ${name}\r\n` : ''}data: ${JSON.stringify(data)}\r\n\r\n`;

/** Google: generateContent, as a stream or not. */
function gemini(path) {
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  const content = { role: 'model', parts: [{ text: 'done' }] };
  const answer = { candidates: [{ index: 0, content, finishReason: 'STOP' }], usageMetadata };
  return path.includes(':stream') ? event(answer) : JSON.stringify(answer);
}

/** OpenAI: responses. */
function responses() {
  const item = {
    type: 'message',
    id: 'm',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'done', annotations: [] }],
  };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const response = { id: 'r', object: 'response', status: 'completed', output: [item], usage };
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ]
    .map((data) => event(data))
    .join('');
}

/** Anthropic: messages. */
function messages() {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'bench', content: [], usage };
  return [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'done' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
    { type: 'message_stop' },
  ]
    .map((data) => event(data))
    .join('');
}

const APIS = [
  [/generateContent/i, gemini],
  [/\/responses$/, responses],
  [/\/messages$/, messages],
];

/** @returns {Promise<{url: string, firstAt: () => number | undefined, close: () => Promise<void>}>} */
export async function startPeerServer() {
  let first;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      const path = new URL(request.url, 'http://localhost').pathname;
      const api = request.method === 'POST' && APIS.find(([mark]) => mark.test(path))?.[1];
      // What else they ask for before they begin, such as lists of models, is answered by nothing.
      if (!api) return response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
      first ??= performance.now();
      const body = api(path);
      const type = body.startsWith('{') ? 'application/json' : 'text/event-stream';
      return response.writeHead(200, { 'content-type': type }).end(body);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    firstAt: () => first,
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}
