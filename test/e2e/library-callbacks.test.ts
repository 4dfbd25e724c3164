import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { sampled } from '../helpers/counts.js';
import { call, text, type Script } from '../helpers/gemini-server.mjs';
import { cleanEnv, eventsOf, ofType, REPOSITORY, resultOf, type Scratch } from '../helpers/run-cli.js';
import { offeredBy, place, serve } from '../helpers/served.js';

const done = { parts: [text('Done.')] };

/** Runs a program that uses the library, in a workspace with these files. */
async function program(code: string, script: Script, files: Readonly<Record<string, string>> = {}) {
  const where = place({ ...files, 'program.mjs': code });
  mkdirSync(join(where.workspace, 'node_modules'));
  symlinkSync(REPOSITORY, join(where.workspace, 'node_modules/bosun'));
  const server = await serve(script);
  const env = cleanEnv(where.home, {
    GEMINI_API_KEY: 'test-key-0123456789',
    GOOGLE_GEMINI_BASE_URL: server.url,
    DEPLOY_TOKEN: 'canary-0123456789-abcdef',
    TRANSCRIPT: where.transcript,
  });
  const child = spawn(process.execPath, ['program.mjs'], { cwd: where.workspace, env });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const exitCode = await new Promise((resolve) => child.once('close', resolve));
  return { code: exitCode, stdout, stderr, server, where };
}

test('the example of the docs does what they say', async () => {
  const page = readFileSync(join(REPOSITORY, 'docs/library.md'), 'utf8');
  const [, code = ''] = /```js\n([\s\S]*?)```/.exec(page) ?? [];
  const [, policy = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  const { stdout, stderr, server } = await program(
    code,
    [{ parts: [call('close_ticket', { id: 'T-1' }, { id: 'c1' })] }, done],
    { 'policy.yaml': policy },
  );
  expect(stderr).toBe('');
  expect(stdout).toBe('c1: own:close_ticket\nc1: success\ncompleted 0 closed\n');
  expect(offeredBy(server)).toContain('close_ticket');
});

/** A run with a tool and an approver, both as code. */
function runWith({ policy = '', tools = '[]', approve = 'undefined', more = '' }): string {
  return `
import { writeFileSync } from 'node:fs';
import { buildTask, run } from 'bosun';
writeFileSync('../policy.yaml', ${JSON.stringify(`version: 1\n${policy}`)});
const result = await run({
  cwd: process.cwd(), policies: ['../policy.yaml'], model: 'gemini-x', variables: process.env,
  transcript: process.env.TRANSCRIPT, readTask: async () => buildTask('go', []),
  tools: ${tools}, approve: ${approve}, ${more}
});
process.stdout.write(JSON.stringify(result));`;
}

const tool = (fields: string) =>
  `[{ name: 'ours', description: 'Ours.', parameters: { type: 'object', properties: { n: { type: 'number' } } }, ${fields} }]`;
const calling = (args: object = {}): Script => [{ parts: [call('ours', args, { id: 'c' })] }, done];
const outcome = (where: Scratch) => ofType(eventsOf(where), 'tool_result')[0];

describe('a tool of the program', () => {
  test('is decided about like any other: in plan mode only reading is allowed', async () => {
    const reading = await program(runWith({ tools: tool("kind: 'read', execute: () => 'read'") }), calling());
    expect(outcome(reading.where)).toMatchObject({ status: 'success', output: 'read' });
    const other = await program(runWith({ tools: tool("execute: () => 'done'") }), calling());
    expect(outcome(other.where)).toMatchObject({ status: 'error', error: { type: 'policy_denied' } });
    expect(resultOf(other.where)).toMatchObject({ exit_code: 3 });
    expect(offeredBy(other.server)).not.toContain('ours');
    const excluded = await program(
      runWith({
        policy: 'tools: {exclude: ["own:ours"]}\n',
        tools: tool("kind: 'read', execute: () => 'read'"),
      }),
      calling(),
    );
    expect(outcome(excluded.where)?.error).toMatchObject({ type: 'policy_denied' });
  });

  test.each([
    [
      'arguments that do not fit',
      'execute: () => 1',
      { n: 'x' },
      'invalid_tool_params',
      '`n` must be a number',
    ],
    [
      'an error',
      "execute: () => { throw new Error('no such thing') }",
      {},
      'execution_failed',
      'no such thing',
    ],
    ['what cannot be JSON', 'execute: () => 1n', {}, 'execution_failed', 'BigInt'],
    ['no end', 'timeoutMs: 50, execute: () => new Promise(() => {})', {}, 'timeout', 'longer than 50 ms'],
  ])('that has %s is an error that the model reads', async (_what, fields, args, type, message) => {
    const { where } = await program(runWith({ policy: 'mode: yolo\n', tools: tool(fields) }), calling(args));
    expect(outcome(where)).toMatchObject({ error: { type, message: expect.stringContaining(message) } });
    expect(resultOf(where).exit_code).toBe(0);
  });

  test('has its output redacted and cut, and values become JSON', async () => {
    const execute = "execute: () => ({ token: process.env.DEPLOY_TOKEN, rest: 'x'.repeat(9000) })";
    const { where, server } = await program(
      runWith({ policy: 'mode: yolo\nlimits: {tool_output: 1000}\n', tools: tool(execute) }),
      calling(),
    );
    const { output } = server.requests[1]?.body.contents.at(-1).parts[0].functionResponse.response ?? {};
    expect(output).toContain('"token": "[redacted:DEPLOY_TOKEN]"');
    expect(output.length).toBeLessThan(2000);
    expect(outcome(where)?.full_output).toBeDefined();
  });

  test('cannot keep a run from ending', async () => {
    const { where } = await program(
      runWith({
        policy: 'mode: yolo\n',
        tools: tool('execute: () => new Promise(() => {})'),
        more: 'limits: {time_ms: 1500},',
      }),
      calling(),
    );
    expect(resultOf(where)).toMatchObject({ exit_code: 6, reason: 'time' });
  });

  sampled.each([
    ["name: 'grep_search', execute: () => 1", 'there is a tool of that name already'],
    ["name: 'mcp:a/b', execute: () => 1", 'its name is up to 64 letters'],
    ["kind: 'magic', execute: () => 1", 'its kind "magic" is none of read'],
    ["execute: 'rm'", 'it has no execute function'],
    ["description: ' ', execute: () => 1", 'it has no description'],
  ])('declared with %s is a config_error before any request', async (fields, message) => {
    const { where, server } = await program(runWith({ tools: tool(fields) }), calling());
    expect(resultOf(where)).toMatchObject({
      exit_code: 2,
      error: { message: expect.stringContaining(message) },
    });
    expect(server.requests).toHaveLength(0);
  });
});

describe('an approve callback', () => {
  const tools = tool("execute: () => 'ran'");
  const asking = 'mode: manual\n';
  const answering = (fields: string) => `async ({ tool_call_id }) => ({ tool_call_id, ${fields} })`;

  test('says yes or no, with a reason, and is told as such', async () => {
    const yes = await program(
      runWith({ policy: asking, tools, approve: answering("selected_option_id: 'proceed_once'") }),
      calling(),
    );
    expect(outcome(yes.where)).toMatchObject({ status: 'success', output: 'ran' });
    expect(ofType(eventsOf(yes.where), 'approval_request')).toMatchObject([
      { tool_id: 'c', tool_name: 'own:ours' },
    ]);
    expect(ofType(eventsOf(yes.where), 'approval_response')).toMatchObject([
      { tool_id: 'c', source: 'callback', selected_option_id: 'proceed_once' },
    ]);
    const no = await program(
      runWith({
        policy: asking,
        tools,
        approve: answering("selected_option_id: 'cancel', reason: 'Not on Fridays'"),
      }),
      calling(),
    );
    expect(outcome(no.where)?.error).toMatchObject({
      type: 'approval_denied',
      message: expect.stringContaining('Not on Fridays'),
    });
    expect(resultOf(no.where).exit_code).toBe(3);
  });

  test.each([
    ['an error', "async () => { throw new Error('broken') }", 'the approver failed: broken'],
    ['nothing', '() => undefined', "the approver's answer is not valid"],
    [
      'another call',
      "() => ({ tool_call_id: 'x', selected_option_id: 'proceed_once' })",
      'it is for the call x',
    ],
    [
      'what was not offered',
      answering("selected_option_id: 'modify', file_details: { new_content: '' }"),
      'is not among the options',
    ],
    ['no end', '() => new Promise(() => {})', 'did not answer within 100 ms'],
  ])('that gives %s has said no', async (_what, approve, warning) => {
    const { where } = await program(
      runWith({ policy: asking, tools, approve, more: 'approveTimeoutMs: 100,' }),
      calling(),
    );
    expect(outcome(where)?.error).toMatchObject({ type: 'approval_denied' });
    expect(resultOf(where)).toMatchObject({ exit_code: 3, warnings: [expect.stringContaining(warning)] });
  });

  test('writes another content for an edit, and sees no secret', async () => {
    const approve = `async ({ tool_call_id, ...rest }) => {
      writeFileSync('../asked.json', JSON.stringify(rest));
      return { tool_call_id, selected_option_id: 'modify', file_details: { new_content: 'ours\\n' } };
    }`;
    const { where } = await program(runWith({ policy: asking, approve }), [
      { parts: [call('write_file', { file_path: 'a.txt', content: 'theirs\n' })] },
      done,
    ]);
    expect(readFileSync(join(where.workspace, 'a.txt'), 'utf8')).toBe('ours\n');
    expect(JSON.parse(readFileSync(join(where.root, 'asked.json'), 'utf8'))).toMatchObject({
      file_edit_details: { new_content: 'theirs\n' },
    });
  });

  test.each([
    ['fail', { exit_code: 3 }],
    ['defer', { exit_code: 4 }],
  ])('is not asked where the policy says on_ask: %s', async (onAsk, expected) => {
    const approve = answering("selected_option_id: 'proceed_once'");
    const { where } = await program(
      runWith({ policy: `${asking}on_ask: ${onAsk}\n`, tools, approve }),
      calling(),
    );
    expect(resultOf(where)).toMatchObject(expected);
  });
});

test('a reporter that throws holds up no later run', async () => {
  const code = `
import { buildTask, run } from 'bosun';
const request = { cwd: process.cwd(), mode: 'auto_edit', model: 'gemini-x', variables: process.env,
  readTask: async () => buildTask('go', []) };
const event = ({ type }) => { if (type === 'result') throw new Error('full'); };
const failed = await run({ ...request, reporters: [{ event }] }).catch(({ message }) => message);
const { status, error } = await run({ ...request, reporters: [] });
process.stdout.write(JSON.stringify([failed, status, error?.message]));`;
  const { stdout } = await program(code, [done, done]);
  expect(JSON.parse(stdout)).toEqual(['full', 'completed', null]);
});
