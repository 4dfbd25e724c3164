import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { call, text } from '../helpers/gemini-server.mjs';
import { eventsOf, ofType, runAgainst, runCli, type Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

interface Request {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

const cleanUps: (() => void)[] = [];
afterEach(() => cleanUps.splice(0).forEach((clean) => clean()));

/** A collector that takes everything, or answers with another status, or not at all. */
async function collector(status: number | 'silent' = 200) {
  const requests: Request[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
    request.on('end', () => {
      requests.push({ path: request.url ?? '', headers: request.headers, body });
      if (status !== 'silent') response.writeHead(status, { location: '/elsewhere' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUps.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, requests, of: (signal: string) => requests.find(({ path }) => path.endsWith(signal)) };
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly object[];
}

interface Point {
  readonly attributes: readonly KeyValue[];
  readonly count: string;
  readonly bucketCounts: readonly string[];
  readonly explicitBounds: readonly number[];
  readonly asInt: string;
}

interface Points {
  readonly dataPoints: Point[];
}

const attributes = (list: readonly KeyValue[]) =>
  Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));

function spansIn({ body }: Request): Span[] {
  const { resourceSpans } = JSON.parse(body);
  return resourceSpans[0].scopeSpans[0].spans.map((span: { attributes: KeyValue[] }) => ({
    ...span,
    attributes: attributes(span.attributes),
  }));
}

/** The points of a metric. */
function pointsIn({ body }: Request, name: string): Point[] {
  const { resourceMetrics } = JSON.parse(body);
  const all: { name: string; histogram?: Points; sum?: Points }[] =
    resourceMetrics[0].scopeMetrics[0].metrics;
  const metric = all.find((one) => one.name === name);
  return (metric?.histogram ?? metric?.sum)?.dataPoints ?? [];
}

const usage = { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 };
const SCRIPT = [
  {
    parts: [
      call('read_file', { file_path: 'a.txt' }, { id: 'c1' }),
      call('run_shell_command', { command: 'make secret-thing' }, { id: 'c2' }),
    ],
    usage,
  },
  { parts: [text('The answer.')], usage },
];

async function traced(env: Record<string, string>, args: readonly string[] = [], script: object[] = SCRIPT) {
  const where = place({ 'a.txt': 'content\n' });
  const server = await serve(script);
  const run = await runAgainst(server, where, ['-p', 'do it', '--reporter', 'otlp', ...args], { env });
  return { ...run, where };
}

describe('--reporter otlp', () => {
  test('sends a trace of the run by the conventions for generative AI', async () => {
    const { url, requests, of } = await collector();
    const { code, stderr, where } = await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/` });
    expect([code, stderr]).toEqual([3, expect.not.stringContaining('otlp')]);
    expect(requests.map(({ path }) => path).toSorted()).toEqual(['/v1/metrics', '/v1/traces']);
    const [run, first, , read, shell, ...more] = spansIn(of('traces') as Request);
    expect(more).toEqual([]);
    const [init] = ofType(eventsOf(where), 'init');
    expect(run).toMatchObject({
      name: 'invoke_agent bosun',
      kind: 1,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.provider.name': 'gcp.gemini',
        'gen_ai.request.model': 'gemini-test',
        'gen_ai.conversation.id': init?.session_id,
        'gen_ai.usage.input_tokens': '200',
        'bosun.status': 'denied',
        'bosun.exit_code': '3',
        'bosun.denials': '1',
      },
      status: { code: 2, message: 'calls_refused' },
    });
    expect(first).toMatchObject({
      name: 'generate_content gemini-test',
      kind: 3,
      parentSpanId: run?.spanId,
      attributes: {
        'gen_ai.operation.name': 'generate_content',
        'gen_ai.usage.output_tokens': '10',
      },
      status: {},
    });
    expect(read).toMatchObject({
      name: 'execute_tool read_file',
      kind: 1,
      parentSpanId: run?.spanId,
      attributes: { 'gen_ai.tool.call.id': 'c1', 'bosun.decision': 'allow' },
      status: {},
    });
    expect(shell).toMatchObject({
      name: 'execute_tool run_shell_command',
      attributes: { 'bosun.decision': 'deny', 'error.type': 'policy_denied' },
      status: { code: 2, message: 'policy_denied' },
    });
    for (const span of [run, first, read, shell] as Span[]) {
      expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
      expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
      expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true);
      expect(BigInt(span.startTimeUnixNano) >= BigInt(run?.startTimeUnixNano ?? 0)).toBe(true);
    }
    // No prompt, no arguments, no output, no answer.
    for (const { body } of requests) expect(body).not.toMatch(/do it|secret-thing|content\\n|The answer/);
  });

  test('sends metrics', async () => {
    const { url, of } = await collector();
    await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: url });
    const sent = of('metrics') as Request;
    const [input, output] = pointsIn(sent, 'gen_ai.client.token.usage') as [Point, Point];
    expect(input).toMatchObject({ count: '2', sum: 200, min: 100, max: 100 });
    expect(attributes(output.attributes)).toMatchObject({ 'gen_ai.token.type': 'output' });
    // 100 tokens are above 64 and at most 256.
    expect(input.bucketCounts.indexOf('2')).toBe(input.explicitBounds.indexOf(256));
    expect(input.bucketCounts).toHaveLength(input.explicitBounds.length + 1);
    expect(pointsIn(sent, 'gen_ai.client.operation.duration')).toMatchObject([{ count: '2' }]);
    const calls = pointsIn(sent, 'bosun.tool.calls').map((point) => {
      const { 'gen_ai.tool.name': tool, 'bosun.status': status } = attributes(point.attributes);
      return [tool, status, point.asInt];
    });
    expect(calls).toEqual([
      ['read_file', 'success', '1'],
      ['run_shell_command', 'error', '1'],
    ]);
  });

  test('joins the trace of what started it, and takes names and headers from the environment', async () => {
    const { url, of } = await collector();
    await traced({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/own/traces`,
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${url}/own/metrics`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b, x-team = infra',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=ci,service.name=ignored',
      OTEL_SERVICE_NAME: 'nightly',
      TRACEPARENT: '00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01',
      TRACESTATE: 'a=b',
    });
    const { path, headers, body } = of('traces') as Request;
    expect([path, headers['x-key'], headers['x-team']]).toEqual(['/own/traces', 'a b', 'infra']);
    expect(headers['content-type']).toBe('application/json');
    const [run] = spansIn({ path, headers, body });
    expect(run).toMatchObject({
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      parentSpanId: '00f067aa0ba902b7',
      traceState: 'a=b',
    });
    const { resource } = JSON.parse(body).resourceSpans[0];
    expect(attributes(resource.attributes)).toMatchObject({
      'service.name': 'nightly',
      'deployment.environment.name': 'ci',
    });
  });

  test.each(['00-0', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, 'nonsense'])(
    'begins a trace of its own where TRACEPARENT is %s',
    async (TRACEPARENT) => {
      const { url, of } = await collector();
      await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: url, TRACEPARENT }, [], [{ parts: [text('ok')] }]);
      const [run] = spansIn(of('traces') as Request);
      expect(run?.traceId).not.toMatch(/^0+$/);
      expect(run).not.toHaveProperty('parentSpanId');
    },
  );

  test('has the same ids when the report is made again from the transcript', async () => {
    const live = await collector();
    const { where } = await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: live.url });
    const later = await collector();
    const { code } = await runCli(['report', where.transcript, '--reporter', 'otlp'], {
      env: { PATH: process.env['PATH'] ?? '', OTEL_EXPORTER_OTLP_ENDPOINT: later.url },
    });
    expect(code).toBe(0);
    expect(JSON.parse(later.of('traces')?.body ?? '')).toEqual(JSON.parse(live.of('traces')?.body ?? ''));
  });

  test('reports retries as events, and a run that failed', async () => {
    const { url, of } = await collector();
    const { code } = await traced(
      { OTEL_EXPORTER_OTLP_ENDPOINT: url },
      [],
      [{ status: 503 }, { parts: [text('ok')], finishReason: 'SAFETY' }],
    );
    expect(code).toBe(7);
    const [run] = spansIn(of('traces') as Request);
    expect(run?.events).toEqual([expect.objectContaining({ name: 'retry' })]);
    expect(run?.attributes['error.type']).toBe('blocked');
  });

  test.each<[string, number | 'silent', RegExp]>([
    ['refuses', 500, /traces: the collector answered HTTP 500; metrics: the collector answered HTTP 500/],
    ['redirects', 302, /traces: .*redirect/],
    ['does not answer', 'silent', /traces: the collector did not answer in time/],
  ])('a collector that %s is a warning', async (_, status, message) => {
    const { url, requests } = await collector(status);
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_TIMEOUT: status === 'silent' ? '50' : '60000',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer abcdefghijkl',
    };
    const { code, stdout, stderr } = await traced(env, [], [{ parts: [text('The answer.')] }]);
    expect([code, stdout]).toEqual([0, 'The answer.\n']);
    expect(stderr).toMatch(/the otlp report was not delivered: /);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('abcdefghijkl');
    expect(requests.every(({ path }) => path.startsWith('/v1/'))).toBe(true);
  });

  test('a collector that is not there is a warning', async () => {
    const { code, stderr } = await traced(
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' },
      [],
      [{ parts: [text('ok')] }],
    );
    expect(code).toBe(0);
    expect(stderr).toMatch(/not delivered: traces: .+; metrics: /);
  });

  test.each<[string, Record<string, string>, string[], string]>([
    ['no collector', {}, [], '--reporter otlp needs OTEL_EXPORTER_OTLP_ENDPOINT'],
    [
      'an address that is none',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' },
      [],
      'OTEL_EXPORTER_OTLP_ENDPOINT is not an http or https address: collector:4317',
    ],
    [
      'a header that cannot be sent',
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
        OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%0Ab%20hidden',
      },
      [],
      'OTEL_EXPORTER_OTLP_HEADERS: "x-key" cannot be sent as a header',
    ],
    [
      'a password in the address',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:hidden@127.0.0.1:1' },
      [],
      'OTEL_EXPORTER_OTLP_ENDPOINT holds a user or a password',
    ],
    [
      'a file',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' },
      ['--reporter', 'otlp=x'],
      'takes no file',
    ],
  ])('refuses %s before any request', async (_, env, args, message) => {
    const where: Scratch = place();
    const server = await serve([{ parts: [text('ok')] }]);
    const flags = args.length > 0 ? args : ['--reporter', 'otlp'];
    const { code, stderr } = await runAgainst(server, where, ['-p', 'x', ...flags], { env });
    expect([code, server.requests.length]).toEqual([2, 0]);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('hidden');
  });

  test('no secret of its headers reaches what a run writes or the model reads', async () => {
    const { url } = await collector();
    const secret = 'Bearer%20q7w8e9r0t1y2u3';
    const { where } = await traced(
      { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_HEADERS: `authorization=${secret}` },
      ['--mode', 'yolo'],
      [
        {
          parts: [
            call(
              'run_shell_command',
              { command: `echo authorization=${secret} $OTEL_EXPORTER_OTLP_HEADERS` },
              { id: 'c' },
            ),
          ],
        },
        { parts: [text('ok')] },
      ],
    );
    const [result] = ofType(eventsOf(where), 'tool_result');
    expect(result?.output).toContain('[redacted:OTEL_EXPORTER_OTLP_HEADERS]');
    expect(JSON.stringify(result)).not.toContain(secret);
  });
});
