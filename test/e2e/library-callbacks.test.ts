import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { ApprovalAnswer, Approve, OwnTool, RunRequest } from '../../src/index.js';
import { sampled } from '../helpers/counts.js';
import { call, text, type Script } from '../helpers/gemini-server.mjs';
import { runUnder } from '../helpers/in-process.js';
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

/** A program whose run has a tool. */
function runWith({ policy = '', execute = '', more = '' }): string {
  return `
import { writeFileSync } from 'node:fs';
import { buildTask, run } from 'bosun';
writeFileSync('../policy.yaml', ${JSON.stringify(`version: 1\n${policy}`)});
await run({
  cwd: process.cwd(), policies: ['../policy.yaml'], model: 'gemini-x', variables: process.env,
  transcript: process.env.TRANSCRIPT, readTask: async () => buildTask('go', []), ${more}
  tools: [{ name: 'ours', description: 'Ours.', parameters: { type: 'object' }, execute: ${execute} }],
});`;
}

/** A run of a program in this process. */
const running = (policy: string, script: Script, more: Partial<RunRequest>) =>
  runUnder(`version: 1\n${policy}`, script, more);

const tool = (fields: Partial<OwnTool>): Pick<RunRequest, 'tools'> => ({
  tools: [
    {
      name: 'ours',
      description: 'Ours.',
      parameters: { type: 'object', properties: { n: { type: 'number' } } },
      ...fields,
    } as OwnTool,
  ],
});
const calling = (args: object = {}): Script => [{ parts: [call('ours', args, { id: 'c' })] }, done];
const outcome = (where: Scratch) => ofType(eventsOf(where), 'tool_result')[0];
const never = () => new Promise<never>(() => {});

describe('a tool of the program', () => {
  test('is decided about like any other: in plan mode only reading is allowed', async () => {
    const read = tool({ kind: 'read', execute: () => 'read' });
    const reading = await running('', calling(), read);
    expect(outcome(reading.place)).toMatchObject({ status: 'success', output: 'read' });
    const other = await running('', calling(), tool({ execute: () => 'done' }));
    expect(outcome(other.place)).toMatchObject({ status: 'error', error: { type: 'policy_denied' } });
    expect(resultOf(other.place)).toMatchObject({ exit_code: 3 });
    expect(offeredBy(other.server)).not.toContain('ours');
    const excluded = await running('tools: {exclude: ["own:ours"]}\n', calling(), read);
    expect(outcome(excluded.place)?.error).toMatchObject({ type: 'policy_denied' });
  });

  test.each<[string, Partial<OwnTool>, object, string, string]>([
    [
      'arguments that do not fit',
      { execute: () => 1 },
      { n: 'x' },
      'invalid_tool_params',
      '`n` must be a number',
    ],
    [
      'an error',
      {
        execute: () => {
          throw new Error('no such thing');
        },
      },
      {},
      'execution_failed',
      'no such thing',
    ],
    ['what cannot be JSON', { execute: () => 1n }, {}, 'execution_failed', 'BigInt'],
    ['no end', { timeoutMs: 50, execute: never }, {}, 'timeout', 'longer than 50 ms'],
  ])('that has %s is an error that the model reads', async (_what, fields, args, type, message) => {
    const { place: where } = await running('mode: yolo\n', calling(args), tool(fields));
    expect(outcome(where)).toMatchObject({ error: { type, message: expect.stringContaining(message) } });
    expect(resultOf(where).exit_code).toBe(0);
  });

  test('has its output redacted and cut, and values become JSON', async () => {
    const { where, server } = await program(
      runWith({
        policy: 'mode: yolo\nlimits: {tool_output: 1000}\n',
        execute: "() => ({ token: process.env.DEPLOY_TOKEN, rest: 'x'.repeat(9000) })",
      }),
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
        execute: '() => new Promise(() => {})',
        more: 'limits: {time_ms: 1500},',
      }),
      calling(),
    );
    expect(resultOf(where)).toMatchObject({ exit_code: 6, reason: 'time' });
  });

  sampled.each<[Record<string, unknown>, string]>([
    [{ name: 'grep_search', execute: () => 1 }, 'there is a tool of that name already'],
    [{ name: 'mcp:a/b', execute: () => 1 }, 'its name is up to 64 letters'],
    [{ kind: 'magic', execute: () => 1 }, 'its kind "magic" is none of read'],
    [{ execute: 'rm' }, 'it has no execute function'],
    [{ description: ' ', execute: () => 1 }, 'it has no description'],
  ])('declared with %j is a config_error before any request', async (fields, message) => {
    const { place: where, server } = await running('', calling(), tool(fields));
    expect(resultOf(where)).toMatchObject({
      exit_code: 2,
      error: { message: expect.stringContaining(message) },
    });
    expect(server.requests).toHaveLength(0);
  });
});

describe('an approve callback', () => {
  const ours = tool({ execute: () => 'ran' });
  const asking = 'mode: manual\n';
  const answering =
    (fields: Omit<ApprovalAnswer, 'tool_call_id'>): Approve =>
    ({ tool_call_id }) => ({ tool_call_id, ...fields });

  test('says yes or no, with a reason, and is told as such', async () => {
    const approve = answering({ selected_option_id: 'proceed_once' });
    const yes = await running(asking, calling(), { ...ours, approve });
    expect(outcome(yes.place)).toMatchObject({ status: 'success', output: 'ran' });
    expect(ofType(eventsOf(yes.place), 'approval_request')).toMatchObject([
      { tool_id: 'c', tool_name: 'own:ours' },
    ]);
    expect(ofType(eventsOf(yes.place), 'approval_response')).toMatchObject([
      { tool_id: 'c', source: 'callback', selected_option_id: 'proceed_once' },
    ]);
    const refuse = answering({ selected_option_id: 'cancel', reason: 'Not on Fridays' });
    const no = await running(asking, calling(), { ...ours, approve: refuse });
    expect(outcome(no.place)?.error).toMatchObject({
      type: 'approval_denied',
      message: expect.stringContaining('Not on Fridays'),
    });
    expect(resultOf(no.place).exit_code).toBe(3);
  });

  test.each<[string, Approve, string]>([
    ['nothing', () => undefined as never, "the approver's answer is not valid"],
    [
      'another call',
      () => ({ tool_call_id: 'x', selected_option_id: 'proceed_once' }),
      'it is for the call x',
    ],
    [
      'what was not offered',
      answering({ selected_option_id: 'modify', file_details: { new_content: '' } }),
      'is not among the options',
    ],
    ['no end', never, 'did not answer within 100 ms'],
  ])('that gives %s has said no', async (_what, approve, warning) => {
    const { place: where } = await running(asking, calling(), { ...ours, approve, approveTimeoutMs: 100 });
    expect(outcome(where)?.error).toMatchObject({ type: 'approval_denied' });
    expect(resultOf(where)).toMatchObject({ exit_code: 3, warnings: [expect.stringContaining(warning)] });
  });

  test('that gives an error has said no', async () => {
    const code = runWith({
      policy: asking,
      execute: "() => 'ran'",
      more: "approve: async () => { throw new Error('broken') },",
    });
    const { where } = await program(code, calling());
    expect(outcome(where)?.error).toMatchObject({ type: 'approval_denied' });
    const warnings = [expect.stringContaining('the approver failed: broken')];
    expect(resultOf(where)).toMatchObject({ exit_code: 3, warnings });
  });

  test('writes another content for an edit, and sees no secret', async () => {
    const asked: object[] = [];
    const approve: Approve = async ({ tool_call_id, ...rest }) => {
      asked.push(rest);
      return { tool_call_id, selected_option_id: 'modify', file_details: { new_content: 'ours\n' } };
    };
    const script = [{ parts: [call('write_file', { file_path: 'a.txt', content: 'theirs\n' })] }, done];
    const { place: where } = await running(asking, script, { approve });
    expect(readFileSync(join(where.workspace, 'a.txt'), 'utf8')).toBe('ours\n');
    expect(asked).toMatchObject([{ file_edit_details: { new_content: 'theirs\n' } }]);
  });

  test.each([
    ['fail', { exit_code: 3 }],
    ['defer', { exit_code: 4 }],
  ])('is not asked where the policy says on_ask: %s', async (onAsk, expected) => {
    const approve = answering({ selected_option_id: 'proceed_once' });
    const { place: where } = await running(`${asking}on_ask: ${onAsk}\n`, calling(), { ...ours, approve });
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
