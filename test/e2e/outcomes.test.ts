import { describe, expect, test } from '@jest/globals';
import { EXIT_CODES, type Status } from '../../src/protocol/outcome.js';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { call, text, type Script } from '../helpers/gemini-server.mjs';
import { cleanEnv, IMPATIENT, resultOf, runCli, runArgs } from '../helpers/run-cli.js';
import { bosunRun, place } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const googleError = (code: number, status: string, message: string, details: object[] = []) => ({
  status: code,
  body: { error: { code, status, message, details } },
});
const read = { parts: [call('read_file', { file_path: 'a.txt' })] };

interface Case {
  readonly what: string;
  readonly script: Script;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly expected: readonly [Status, string | undefined];
  readonly stderr?: RegExp;
}

const CASES: Case[] = [
  { what: 'an answer', script: [done], expected: ['completed', undefined] },
  {
    what: 'an unknown model (404)',
    script: [googleError(404, 'NOT_FOUND', 'models/gemini-test is not found')],
    expected: ['config_error', 'model_not_found'],
    stderr: /gemini-test/,
  },
  {
    what: 'an unknown form of model name',
    script: [],
    args: ['-m', 'gpt-9'],
    expected: ['config_error', 'model'],
    stderr: /"gpt-9"/,
  },
  {
    what: 'an openai model without a key',
    script: [],
    args: ['-m', 'openai/x'],
    expected: ['auth', 'no_credentials'],
    stderr: /OPENAI_API_KEY/,
  },
  {
    what: 'a refused call',
    script: [{ parts: [call('run_shell_command', { command: 'id' })] }, done],
    expected: ['denied', 'calls_refused'],
  },
  {
    what: 'a call that nobody approves',
    script: [{ parts: [call('write_file', { file_path: 'a.txt', content: '' })] }, done],
    args: ['--mode', 'manual'],
    expected: ['denied', 'calls_refused'],
  },
  {
    what: 'too many turns',
    script: [read, read, read],
    args: ['--max-turns', '2'],
    expected: ['limit', 'turns'],
    stderr: /--max-turns/,
  },
  { what: 'no turn at all', script: [], args: ['--max-turns', '0'], expected: ['limit', 'turns'] },
  {
    what: 'too many calls',
    script: [{ parts: [...read.parts, ...read.parts] }, done],
    args: ['--max-tool-calls', '1'],
    expected: ['limit', 'tool_calls'],
  },
  {
    what: 'too many tokens',
    script: [read, read, done],
    args: ['--max-tokens', '200'],
    expected: ['limit', 'tokens'],
  },
  {
    what: 'too much time',
    script: [{ hang: true }],
    args: ['--timeout', '300ms'],
    expected: ['limit', 'time'],
  },
  {
    what: 'a blocked answer',
    script: [{ parts: [text('…')], finishReason: 'SAFETY' }],
    expected: ['model_error', 'blocked'],
    stderr: /SAFETY/,
  },
  {
    what: 'a blocked prompt',
    script: [{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }],
    expected: ['model_error', 'blocked'],
  },
  {
    what: 'a cut answer',
    script: [{ parts: [text('…')], finishReason: 'MAX_TOKENS' }],
    expected: ['model_error', 'truncated'],
  },
  {
    what: 'an unknown finish reason',
    script: [{ parts: [text('…')], finishReason: 'TIRED' }],
    expected: ['model_error', 'unknown_finish_reason'],
    stderr: /TIRED/,
  },
  {
    what: 'a request the API refuses',
    script: [googleError(400, 'INVALID_ARGUMENT', 'bad')],
    expected: ['model_error', 'invalid_request'],
  },
  {
    what: 'no key',
    script: [],
    env: { GEMINI_API_KEY: '' },
    expected: ['auth', 'no_credentials'],
    stderr: /GEMINI_API_KEY/,
  },
  {
    what: 'two different keys',
    script: [],
    env: { GOOGLE_API_KEY: 'other' },
    expected: ['auth', 'two_credentials'],
    stderr: /GEMINI_API_KEY and GOOGLE_API_KEY/,
  },
  {
    what: 'a key that is not valid',
    script: [googleError(400, 'INVALID_ARGUMENT', 'API key not valid.', [{ reason: 'API_KEY_INVALID' }])],
    expected: ['auth', 'refused'],
  },
  {
    what: 'a key without permission',
    script: [googleError(403, 'PERMISSION_DENIED', 'no')],
    expected: ['auth', 'refused'],
  },
  {
    what: 'a vertex model without a project',
    script: [],
    args: ['-m', 'vertex/gemini-x'],
    expected: ['auth', 'no_project'],
  },
  {
    what: 'an exhausted quota',
    script: [googleError(429, 'RESOURCE_EXHAUSTED', 'quota')],
    args: IMPATIENT,
    expected: ['quota_exhausted', 'quota'],
  },
  {
    what: 'a server error',
    script: [{ status: 503, body: 'overloaded' }],
    args: IMPATIENT,
    expected: ['provider_unavailable', 'unavailable'],
    stderr: /503/,
  },
  {
    what: 'a connection that is reset',
    script: [{ reset: true }],
    args: IMPATIENT,
    expected: ['provider_unavailable', 'unavailable'],
  },
  {
    what: 'a page of HTML',
    script: [{ raw: '<html><body>Please log in</body></html>' }],
    args: IMPATIENT,
    expected: ['provider_unavailable', 'not_the_protocol'],
  },
  {
    what: 'an empty answer of the server',
    script: [{ raw: '' }],
    args: IMPATIENT,
    expected: ['provider_unavailable', 'unavailable'],
  },
  {
    what: 'half an event',
    script: [{ raw: 'data: {"candidates":[{"content"' }],
    args: IMPATIENT,
    expected: ['provider_unavailable', 'not_the_protocol'],
  },
  {
    what: 'an event that is not JSON',
    script: [{ raw: 'data: {"candidates": nope}\r\n\r\n' }],
    args: IMPATIENT,
    expected: ['provider_unavailable', 'not_the_protocol'],
  },
  {
    what: 'a stream without a finish reason',
    script: [{ parts: [text('half')], finishReason: null }],
    args: IMPATIENT,
    expected: ['provider_unavailable', 'unavailable'],
  },
];

describe('a run ends truthfully', () => {
  test.each(CASES)('$what', async ({ script, args = [], env = {}, expected: [status, reason], stderr }) => {
    const run = await bosunRun(
      script,
      [...args, '-o', 'json', '--progress', 'none'],
      { 'a.txt': 'A' },
      { env },
    );
    const result = resultOf(run.place);
    expect([result.status, result.reason, result.exit_code]).toEqual([status, reason, EXIT_CODES[status]]);
    expect(run.code).toBe(EXIT_CODES[status]);
    expect(await verifyTranscript(run.place.transcript)).toMatchObject({ valid: true });
    expect(JSON.parse(run.stdout)).toMatchObject({ type: 'result', status, exit_code: run.code });
    const lines = run.stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(status === 'completed' ? /^bosun: completed/ : /^bosun: error: /);
    if (status !== 'completed') expect(result.error?.message).toBeTruthy();
    if (stderr) expect(run.stderr).toMatch(stderr);
  });
});

test('a transcript that cannot be opened is exit 2, and json says so all the same', async () => {
  const where = place({ file: '' });
  const transcript = `${where.workspace}/file/t.jsonl`;
  const env = cleanEnv(where.home, { GEMINI_API_KEY: 'k' });
  const { code, stdout, stderr } = await runCli(
    ['run', '-p', 'x', '-o', 'json', '--transcript', transcript],
    { env },
  );
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({ type: 'result', status: 'config_error', exit_code: 2 });
  expect(stderr).toContain(transcript);
});

test('a transcript that fills its disk ends the run as 12', async () => {
  const { code, stdout, stderr } = await bosunRun([done], ['--transcript', '/dev/full', '-o', 'json']);
  expect(code).toBe(12);
  expect(JSON.parse(stdout)).toMatchObject({ status: 'tool_infra_error', exit_code: 12 });
  expect(stderr).toMatch(/can no longer be written/);
});

test('a connection that nobody listens for is 11', async () => {
  const where = place();
  const env = cleanEnv(where.home, { GEMINI_API_KEY: 'k', GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:9' });
  const { code, stderr } = await runCli(runArgs(where, ['-p', 'x', ...IMPATIENT]), { env });
  expect([code, resultOf(where).status]).toEqual([11, 'provider_unavailable']);
  expect(stderr).toMatch(/ECONNREFUSED/);
});

test('what is not known of the usage is absent', async () => {
  const { place: where } = await bosunRun([{ ...done, usage: null }], []);
  const { stats } = resultOf(where);
  expect(Object.keys(stats).filter((name) => name.includes('token'))).toEqual([]);
});
