import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { bound } from '../helpers/bounds.js';
import { sampled } from '../helpers/counts.js';
import { call, text, type Script } from '../helpers/gemini-server.mjs';
import { runUnder } from '../helpers/in-process.js';
import { EVERYTHING, listening, policyWith } from '../helpers/mcp.js';
import { eventsOf, ofType, resultOf, runAgainst } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const calling = (name: string, args: object): Script => [{ parts: [call(name, args)] }, done];

describe('a real server over HTTP', () => {
  test.each([
    ['streamableHttp', 'mcp'],
    ['sse', 'sse'],
  ])('%s: is listed and called', async (transport, path) => {
    const { port } = await listening([process.execPath, EVERYTHING, transport]);
    const servers = { far: { url: `http://127.0.0.1:${port}/${path}`, trust: true } };
    const script: Script = [
      { parts: [call('far__echo', { message: 'ahoy' }), call('far__get-tiny-image', {})] },
      done,
    ];
    const { code, server, place: where } = await runUnder(policyWith(servers), script);
    const [echo, , , image] = server.requests[1]?.body.contents.at(-1).parts ?? [];
    expect(echo.functionResponse.response).toEqual({ output: 'Echo: ahoy' });
    expect(image.inlineData.mimeType).toBe('image/png');
    expect(ofType(eventsOf(where), 'init')[0]?.mcp_servers).toMatchObject([{ status: 'connected' }]);
    expect(code).toBe(0);
  });

  test('that dies during a call is an error, and the run goes on', async () => {
    const { port, child } = await listening([process.execPath, EVERYTHING, 'streamableHttp']);
    const servers = { far: { url: `http://127.0.0.1:${port}/mcp`, trust: true, timeout: '20s' } };
    const model = await serve(calling('far__trigger-long-running-operation', { duration: 10, steps: 100 }));
    const where = place();
    writeFileSync(join(where.root, 'policy.yaml'), policyWith(servers));
    const args = ['--policy', join(where.root, 'policy.yaml'), '-p', 'do it', '--include-tool-output'];
    const running = runAgainst(model, where, args);
    child.stdout?.resume();
    const timer = setInterval(() => {
      // Once the first progress is there.
      if (safeEvents(where).some(({ type }) => type === 'tool_output')) child.kill('SIGKILL');
    }, 20);
    const { code } = await running;
    clearInterval(timer);
    const [result] = ofType(eventsOf(where), 'tool_result');
    expect(result).toMatchObject({ status: 'error', error: { type: 'mcp_tool_error' } });
    bound(result?.duration_ms ?? Infinity, 9000);
    expect(code).toBe(0);
  });
});

function safeEvents(where: Parameters<typeof eventsOf>[0]) {
  try {
    return eventsOf(where);
  } catch {
    return [];
  }
}

interface Body {
  readonly id?: number;
  readonly method: string;
  readonly params: { readonly protocolVersion: string };
}
type Handler = (body: Body, request: IncomingMessage, response: ServerResponse) => void;
const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server of the protocol whose call does what a test wants. */
async function far(onCall: Handler): Promise<{ url: string; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const server = createServer(async (request, response) => {
    seen.push(request);
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const body = JSON.parse(Buffer.concat(pieces).toString()) as Body;
    if (body.id === undefined) return void response.writeHead(202).end();
    const answer = (result: object) =>
      response
        .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's1' })
        .end(JSON.stringify({ jsonrpc: '2.0', id: body.id, result }));
    if (body.method === 'initialize') {
      const { protocolVersion } = body.params;
      answer({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'far', version: '1' } });
    } else if (body.method === 'tools/list')
      answer({ tools: [{ name: 'act', inputSchema: { type: 'object' } }] });
    else onCall(body, request, response);
  });
  open.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}/mcp`, seen };
}

describe('an answer over HTTP', () => {
  const odd: [string, Handler, RegExp][] = [
    [
      'a stream that ends without one',
      (_b, _q, r) => r.writeHead(200, { 'content-type': 'text/event-stream' }).end(': hi\n\n'),
      /closed before the answer/,
    ],
    ['a connection that breaks', (_b, _q, r) => r.destroy(), /fetch failed/],
    [
      'a page instead',
      (_b, _q, r) => r.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      /Unexpected content type/,
    ],
    ['refused', (_b, _q, r) => r.writeHead(403).end('not you'), /not you/],
    ['broken', (_b, _q, r) => r.writeHead(500).end('ouch'), /ouch/],
    ['forgotten', (_b, _q, r) => r.writeHead(404).end('who?'), /no longer knows the session.*started again/s],
    [
      'a redirect to elsewhere',
      (_b, _q, r) => r.writeHead(307, { location: 'http://127.0.0.2:9/' }).end(),
      /Redirect to http:\/\/127\.0\.0\.2:9\/ not followed/,
    ],
    [
      'far too long',
      (_b, _q, r) => {
        r.writeHead(200, { 'content-type': 'application/json' });
        for (let i = 0; i < 40; i++) r.write(' '.repeat(1024 * 1024));
        r.end('{}');
      },
      /more than 33554432 bytes/,
    ],
  ];
  sampled.each(odd)('%s is an error that says so', async (_what, onCall, message) => {
    const { url } = await far(onCall);
    const { code, place: where } = await runUnder(
      policyWith({ f: { url, trust: true } }),
      calling('f__act', {}),
    );
    expect(ofType(eventsOf(where), 'tool_result')[0]?.error).toMatchObject({
      type: 'mcp_tool_error',
      message: expect.stringMatching(message),
    });
    expect(code).toBe(0);
  });

  test('headers are filled in from the environment by name, and told nobody else', async () => {
    const { url, seen } = await far((body, _request, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id: body.id, result: { content: [] } })),
    );
    const headers = { authorization: 'Bearer ${FAR_TOKEN}', 'x-plain': '$FAR_TOKEN {x}' };
    const where = place();
    writeFileSync(join(where.root, 'policy.yaml'), policyWith({ f: { url, headers, trust: true } }));
    const model = await serve(calling('f__act', {}));
    const args = ['--policy', join(where.root, 'policy.yaml'), '-p', 'do it'];
    const { code } = await runAgainst(model, where, args, { env: { FAR_TOKEN: 'secret-value-1' } });
    expect(code).toBe(0);
    for (const { headers: sent } of seen)
      expect(sent).toMatchObject({ authorization: 'Bearer secret-value-1', 'x-plain': '$FAR_TOKEN {x}' });
    expect(JSON.stringify(eventsOf(where)) + model.requests.map(({ raw }) => raw).join('')).not.toContain(
      'secret-value-1',
    );
    expect(resultOf(where).status).toBe('completed');
  });
});
