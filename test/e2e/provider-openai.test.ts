import { describe, expect, test } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXIT_CODES, type Status } from '../../src/protocol/outcome.js';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { sampled } from '../helpers/counts.js';
import { toolCall, type ChatReply, type ChatScript } from '../helpers/openai-server.mjs';
import {
  cleanEnv,
  eventsOf,
  fileIn,
  IMPATIENT,
  ofType,
  resultOf,
  runCli,
  type CliResult,
} from '../helpers/run-cli.js';
import { bosunRun } from '../helpers/served.js';
import { CHAT_KEY, chatRun } from '../helpers/served-openai.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

interface Message {
  readonly role: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string }[];
}

const done: ChatReply = { text: 'Done.' };
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
  'base64',
);

describe('a run with an openai/… model', () => {
  test('reads in parallel, edits, and tells the truth about it', async () => {
    const script: ChatScript = [
      {
        text: 'Let me look.',
        calls: [
          toolCall('read_file', '{"file_path": "a.txt"}', 'call_A'),
          toolCall('read_file', '{"file_path": "b.txt"}', 'call_B'),
          toolCall('read_file', '{"file_path": "missing.txt"}', 'call_C'),
        ],
      },
      {
        calls: [
          toolCall('replace', { file_path: 'a.txt', old_string: 'alpha', new_string: 'ALPHA' }, 'call_D'),
        ],
        usage: {
          prompt_tokens: 200,
          completion_tokens: 30,
          total_tokens: 230,
          prompt_tokens_details: { cached_tokens: 150 },
          completion_tokens_details: { reasoning_tokens: 20 },
        },
      },
      done,
    ];
    const files = { 'a.txt': 'alpha\n', 'b.txt': 'beta\n' };
    const { code, stdout, stderr, server, place } = await chatRun(script, ['--mode', 'auto_edit'], files);
    expect({ code, stdout, stderr: stderr.includes('rror') }).toEqual({
      code: 0,
      stdout: 'Done.\n',
      stderr: false,
    });
    expect(fileIn(place, 'a.txt')).toBe('ALPHA\n');

    const [, , assistant, ...answers] = server.requests[1]?.body.messages ?? [];
    expect(assistant).toEqual({
      role: 'assistant',
      content: 'Let me look.',
      tool_calls: script[0]?.calls,
    });
    expect(answers.map((one: Message) => [one.role, one.tool_call_id])).toEqual([
      ['tool', 'call_A'],
      ['tool', 'call_B'],
      ['tool', 'call_C'],
    ]);
    expect(answers[0].content).toContain('alpha');
    expect(answers[1].content).toContain('beta');
    expect(JSON.parse(answers[2].content)).toMatchObject({ type: 'file_not_found' });

    const events = eventsOf(place);
    expect(ofType(events, 'init')[0]).toMatchObject({
      provider: 'openai',
      auth: 'api_key',
      model: 'org/some-model:tag',
    });
    expect(server.requests[0]?.body.model).toBe('org/some-model:tag');
    expect(ofType(events, 'turn').map((turn) => turn.finish_reason)).toEqual([
      'tool_calls',
      'tool_calls',
      'stop',
    ]);
    expect(resultOf(place).stats).toMatchObject({
      turns: 3,
      tool_calls: 4,
      input_tokens: 400,
      cached: 150,
      input: 250,
      output_tokens: 30,
      thoughts: 20,
      total_tokens: 450,
      models: { scripted: { total_tokens: 450 } },
      files_changed: 1,
    });
    expect(await verifyTranscript(place.transcript)).toMatchObject({ valid: true });
    expect(server.requests.every(({ socket }) => socket === 0)).toBe(true);
  });

  test('can be said again from its transcript', async () => {
    const files = { 'a.txt': 'alpha\n' };
    const script = [{ calls: [toolCall('read_file', '{"file_path": "a.txt"}')] }, done];
    const first = await chatRun(script, [], files);
    const args = ['run', '-C', first.place.workspace, '--replay', first.place.transcript];
    const again = await runCli(args, { env: cleanEnv(first.place.home) });
    expect({ code: again.code, stdout: again.stdout }).toEqual({ code: 0, stdout: 'Done.\n' });
  });

  test('names calls that have no id, or one that was used before, and answers each', async () => {
    const read = (id: string) => toolCall('read_file', { file_path: 'a.txt' }, id);
    const script: ChatScript = [
      { calls: [read(''), read('same'), read('same')] },
      { calls: [read('same'), read('')] },
      done,
    ];
    const { code, server, place } = await chatRun(script, [], { 'a.txt': 'alpha\n' });
    expect(code).toBe(0);
    const messages: Message[] = server.requests[2]?.body.messages;
    const called = messages.flatMap((one) => one.tool_calls ?? []).map(({ id }) => id);
    const answered = messages.filter((one) => one.role === 'tool').map((one) => one.tool_call_id);
    expect(answered).toEqual(called);
    expect(called).toHaveLength(5);
    expect(new Set(called.slice(0, 3)).size).toBe(3);
    expect(new Set(ofType(eventsOf(place), 'tool_use').map((event) => event.tool_id)).size).toBe(5);
  });

  test('sends an attached picture, and one that a tool reads', async () => {
    const script = [{ calls: [toolCall('read_file', { file_path: 'dot.png' }, 'c1')] }, done];
    const { code, server } = await chatRun(
      script,
      ['--file', 'dot.png'],
      { 'dot.png': PNG },
      { inside: true },
    );
    expect(code).toBe(0);
    const url = `data:image/png;base64,${PNG.toString('base64')}`;
    const messages = server.requests[1]?.body.messages;
    expect(messages[1].content.at(-1)).toEqual({ type: 'image_url', image_url: { url } });
    expect(messages.at(-2)).toMatchObject({ role: 'tool', tool_call_id: 'c1' });
    expect(messages.at(-1).content).toEqual([
      { type: 'text', text: 'Attached by the tool calls above:' },
      { type: 'text', text: '[1] dot.png (call 1, read_file)' },
      { type: 'image_url', image_url: { url } },
    ]);
  });

  test('gives the model a second chance after arguments that cannot be read, and counts its tokens', async () => {
    const broken = { calls: [toolCall('write_file', '{"file_path": "x", "content": ')] };
    const { code, server, place } = await chatRun([broken, done], ['--mode', 'yolo']);
    expect(code).toBe(0);
    expect(server.requests[1]?.body.messages[0].content).toContain('valid JSON');
    expect(server.requests[1]?.body.messages).toHaveLength(2);
    expect(ofType(eventsOf(place), 'retry')[0]).toMatchObject({ class: 'malformed_function_call' });
    expect(ofType(eventsOf(place), 'tool_use')).toEqual([]);
    expect(resultOf(place).stats.total_tokens).toBe(220);
  });

  test('keeps thoughts out of the answer, gives them back to the model, and tells them if asked to', async () => {
    const think: ChatReply = {
      deltas: [
        { reasoning_content: 'Secret ' },
        { reasoning_content: 'plan.' },
        { tool_calls: [{ index: 0, ...toolCall('read_file', { file_path: 'a.txt' }) }] },
      ],
      finishReason: 'tool_calls',
    };
    const files = { 'a.txt': 'x' };
    const { stdout, server, place } = await chatRun([think, done], ['--include-thoughts'], files);
    expect(stdout).toBe('Done.\n');
    expect(server.requests[1]?.body.messages[2]).toMatchObject({
      content: null,
      reasoning_content: 'Secret plan.',
    });
    expect(ofType(eventsOf(place), 'thought')).toMatchObject([{ content: 'Secret plan.' }]);
    const quiet = await chatRun([think, done], ['-o', 'stream-json'], files);
    expect(quiet.stdout).not.toContain('Secret');
  });

  test('works with a server that never tells usage, which is then unknown', async () => {
    const { code, place } = await chatRun([{ ...done, usage: null }]);
    expect(code).toBe(0);
    expect(resultOf(place).stats).not.toHaveProperty('total_tokens');
  });

  test('loads no SDK, and a run with Gemini loads nothing of what this needs', async () => {
    const marks = { sdk: 'x-goog-api-client', chat: 'stream_options' };
    const chat = await loadedBy((env) => chatRun([done], [], {}, { env }));
    expect(chat).toContain(marks.chat);
    expect(chat).not.toContain(marks.sdk);
    const gemini = await loadedBy((env) => bosunRun([{ parts: [{ text: 'Done.' }] }], [], {}, { env }));
    expect(gemini).toContain(marks.sdk);
    expect(gemini).not.toContain(marks.chat);
  });
});

/** The text of every file of the bundle that a run has loaded. */
async function loadedBy(run: (env: Record<string, string>) => Promise<CliResult>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'bosun-loaded-'));
  try {
    expect((await run({ NODE_V8_COVERAGE: folder })).code).toBe(0);
    const [report] = readdirSync(folder);
    const { result } = JSON.parse(readFileSync(join(folder, report as string), 'utf8'));
    const files = (result as { url: string }[]).map(({ url }) => url).filter((url) => url.includes('/dist/'));
    return files.map((url) => readFileSync(fileURLToPath(url), 'utf8')).join('');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Case {
  readonly what: string;
  readonly script: ChatScript;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly expected: readonly [Status, string | undefined];
  readonly stderr?: RegExp;
}

const failed = (status: number, message: string, code = 'some_code'): ChatReply => ({
  status,
  body: { error: { message, code } },
});

const CASES: Case[] = [
  {
    what: 'no key for OpenAI itself',
    script: [],
    env: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '' },
    expected: ['auth', 'no_credentials'],
    stderr: /OPENAI_API_KEY/,
  },
  {
    what: 'a key of two words',
    script: [],
    env: { OPENAI_API_KEY: 'sk two' },
    expected: ['auth', 'malformed_key'],
    stderr: /OPENAI_API_KEY/,
  },
  {
    what: 'a base URL that is none',
    script: [],
    env: { OPENAI_BASE_URL: 'localhost:1' },
    expected: ['config_error', 'base_url'],
    stderr: /OPENAI_BASE_URL/,
  },
  {
    what: 'a model without a name',
    script: [],
    args: ['-m', 'openai/'],
    expected: ['config_error', 'model'],
    stderr: /"openai\/"/,
  },
  {
    what: 'a key that is refused',
    script: [failed(401, `Incorrect API key provided: ${CHAT_KEY}.`, 'invalid_api_key')],
    expected: ['auth', 'refused'],
    stderr: /HTTP 401/,
  },
  { what: 'a key without permission', script: [failed(403, 'no')], expected: ['auth', 'refused'] },
  {
    what: 'an unknown model',
    script: [failed(404, 'The model does not exist', 'model_not_found')],
    expected: ['config_error', 'model_not_found'],
    stderr: /some-model/,
  },
  { what: 'a bad request', script: [failed(400, 'bad')], expected: ['model_error', 'invalid_request'] },
  {
    what: 'a request that is too large',
    script: [failed(413, 'too large')],
    expected: ['model_error', 'invalid_request'],
  },
  {
    what: 'an account without money',
    script: [failed(429, 'pay first', 'insufficient_quota')],
    expected: ['quota_exhausted', 'quota'],
    stderr: /pay first/,
  },
  {
    what: 'a blocked answer',
    script: [{ text: '…', finishReason: 'content_filter' }],
    expected: ['model_error', 'blocked'],
  },
  {
    what: 'a refusal',
    script: [{ deltas: [{ refusal: 'I cannot.' }], finishReason: 'stop' }],
    expected: ['model_error', 'blocked'],
    stderr: /I cannot/,
  },
  {
    what: 'a cut answer',
    script: [{ calls: [toolCall('write_file', '{"file_path":"x","content":"x"}')], finishReason: 'length' }],
    args: ['--mode', 'yolo'],
    expected: ['model_error', 'truncated'],
  },
  {
    what: 'an unknown finish reason',
    script: [{ text: '…', finishReason: 'tired' }],
    expected: ['model_error', 'unknown_finish_reason'],
    stderr: /tired/,
  },
  {
    what: 'calls that stay unreadable',
    script: () => ({ calls: [toolCall('f', '{')] }),
    expected: ['model_error', 'malformed_function_call'],
    stderr: /not valid JSON/,
  },
  { what: 'nothing, twice', script: () => ({ text: '' }), expected: ['model_error', 'empty_response'] },
  {
    what: 'too many tokens',
    script: () => ({ calls: [toolCall('list_directory', { path: '.' })] }),
    args: ['--max-tokens', '200'],
    expected: ['limit', 'tokens'],
  },
  {
    what: 'too much time',
    script: [{ hang: true }],
    args: ['--timeout', '500ms'],
    expected: ['limit', 'time'],
  },
  {
    what: 'a refused call',
    script: [{ calls: [toolCall('run_shell_command', { command: 'id' })] }, done],
    expected: ['denied', 'calls_refused'],
  },
];

describe('the end of a run with an openai/… model', () => {
  sampled.each(CASES)('$what is $expected', async ({ script, args = [], env = {}, expected, stderr }) => {
    const run = await chatRun(script, args, {}, { env });
    const [status, reason] = expected;
    expect(run.code).toBe(EXIT_CODES[status]);
    const result = resultOf(run.place);
    expect({ status: result.status, reason: result.reason }).toEqual({ status, reason });
    if (stderr) expect(run.stderr).toMatch(stderr);
    expect(fileIn(run.place, 'x')).toBeUndefined();
    expect(run.stderr + run.stdout + readFileSync(run.place.transcript, 'utf8')).not.toContain(CHAT_KEY);
    expect(await verifyTranscript(run.place.transcript)).toMatchObject({ valid: true });
  });
});

describe('an end that another try might mend', () => {
  sampled.each<[string, ChatReply, Status, string]>([
    ['a limit of requests', failed(429, 'slow down', 'rate_limit_exceeded'), 'quota_exhausted', 'quota'],
    ['a busy server', failed(503, 'busy'), 'provider_unavailable', 'unavailable'],
    ['a reset', { reset: true }, 'provider_unavailable', 'unavailable'],
    ['a stream without an end', { text: 'half', finishReason: null }, 'provider_unavailable', 'unavailable'],
    [
      'a stream that is cut after a call',
      { calls: [toolCall('write_file', { file_path: 'x', content: 'x' })], cutAfter: 4 },
      'provider_unavailable',
      'unavailable',
    ],
    ['a login page', { pieces: ['<html>Log in</html>'] }, 'provider_unavailable', 'not_the_protocol'],
  ])('%s: nothing is run, printed or kept', async (_, reply, status, reason) => {
    const { code, stdout, place } = await chatRun(() => reply, IMPATIENT);
    expect({ code, stdout }).toEqual({ code: EXIT_CODES[status], stdout: '' });
    expect(resultOf(place)).toMatchObject({ status, reason, error: { retryable: true } });
    expect(ofType(eventsOf(place), 'turn')).toEqual([]);
    expect(fileIn(place, 'x')).toBeUndefined();
  });
});

test('a server of one’s own needs no key', async () => {
  const { code, server, place } = await chatRun([done], [], {}, { env: { OPENAI_API_KEY: '' } });
  expect(code).toBe(0);
  expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
  expect(ofType(eventsOf(place), 'init')[0]).toMatchObject({ provider: 'openai', auth: 'none' });
});

test('keys for other providers that lie around are no matter', async () => {
  const env = { GEMINI_API_KEY: 'one-lying-around', GOOGLE_API_KEY: 'two-lying-around' };
  const { code, server } = await chatRun([done], [], {}, { env });
  expect(code).toBe(0);
  expect(server.requests[0]?.headers['authorization']).toBe(`Bearer ${CHAT_KEY}`);
});

test('commands of the model never see the key', async () => {
  const call = toolCall('run_shell_command', { command: 'env' });
  const { code, server, place } = await chatRun([{ calls: [call] }, done], ['--mode', 'yolo']);
  expect(code).toBe(0);
  expect(server.requests[1]?.raw).not.toContain(CHAT_KEY);
  expect(readFileSync(place.transcript, 'utf8')).not.toContain(CHAT_KEY);
});

test('the help names such models', async () => {
  const { stdout } = await runCli(['run', '--help'], { env: cleanEnv(tmpdir()) });
  expect(stdout).toContain('openai/…');
});

test('the settings of the policy are sent, the longest answer always, and under the name that the server knows', async () => {
  const policy = join(mkdtempSync(join(tmpdir(), 'bosun-test-')), 'policy.yaml');
  writeFileSync(
    policy,
    'version: 1\nmodel: {max_output_tokens: 900, temperature: 0.2, seed: 7, thinking: {level: low}}\n',
  );
  const refusal = {
    status: 400,
    body: { error: { message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead." } },
  };
  const { code, server } = await chatRun([refusal, { text: 'ok' }], ['--policy', policy]);
  rmSync(dirname(policy), { recursive: true });
  expect(code).toBe(0);
  const [first, second] = server.requests.map(({ body }) => body);
  expect(first).toMatchObject({ max_tokens: 900, temperature: 0.2, seed: 7, reasoning_effort: 'low' });
  expect(second).toMatchObject({ max_completion_tokens: 900, temperature: 0.2 });
  expect(second.max_tokens).toBeUndefined();
});
