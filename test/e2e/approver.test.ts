import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { compileSchema } from '../../src/lib/schema.js';
import type { ConfirmationRequest } from '../../src/protocol/approval.js';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { approvedBy, approverPolicy, toldOf } from '../helpers/approvals.js';
import { sampled } from '../helpers/counts.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { EVERYTHING } from '../helpers/mcp.js';
import {
  eventsOf,
  fileIn,
  ofType,
  REPOSITORY,
  resultOf,
  runArgs,
  serverEnv,
  startCli,
  type Scratch,
} from '../helpers/run-cli.js';
import { bosunUnder, place, serve } from '../helpers/served.js';
import { isAlive, until } from '../helpers/until.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const shell = (command: string, id: string) => call('run_shell_command', { command }, { id });
const write = (file_path: string, content: string, id: string) =>
  call('write_file', { file_path, content }, { id });

const options = (...ids: string[]) =>
  ids.map((id) => ({ id, name: expect.any(String), description: expect.any(String) }));

function askedIn(where: Scratch): ConfirmationRequest[] {
  const log = join(where.root, 'asked.jsonl');
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as ConfirmationRequest);
}

describe('each kind of call is asked about with its details and the options that make sense', () => {
  test('an edit', async () => {
    const script = [{ parts: [write('src/a.txt', 'new\n', '1')] }, done];
    const { code, place: where } = await approvedBy(`answer('proceed_once')`, script, {
      files: { 'src/a.txt': 'old\n' },
    });
    expect(code).toBe(0);
    expect(askedIn(where)).toEqual([
      {
        tool_call_id: '1',
        tool_name: 'write_file',
        display_name: 'Write file',
        title: 'Write src/a.txt',
        risk: 'writes',
        reason: 'mode manual asks before edit tools such as write_file',
        options: [
          {
            id: 'proceed_once',
            name: 'Allow once',
            description: 'Runs this call; the next one is asked about again.',
          },
          { id: 'proceed_always', name: 'Always allow edits', description: expect.any(String) },
          { id: 'proceed_always_tool', name: 'Always allow this tool', description: expect.any(String) },
          { id: 'modify', name: 'Allow with changes', description: expect.any(String) },
          { id: 'cancel', name: 'Deny', description: expect.any(String) },
        ],
        file_edit_details: {
          file_name: 'a.txt',
          file_path: 'src/a.txt',
          old_content: 'old\n',
          new_content: 'new\n',
          formatted_diff: expect.stringContaining('-old\n+new\n'),
        },
      },
    ]);
    expect(fileIn(where, 'src/a.txt')).toBe('new\n');
  });

  test('a command', async () => {
    const script = [{ parts: [shell('echo a && git status | head', '1')] }, done];
    const { place: where } = await approvedBy(`answer('proceed_once')`, script);
    expect(askedIn(where)).toMatchObject([
      {
        ...{ display_name: 'Shell', title: 'Run echo a && git status | head', risk: 'reads' },
        options: options('proceed_once', 'proceed_always', 'proceed_always_tool', 'cancel'),
        execute_details: {
          command: 'echo a && git status | head',
          working_directory: '.',
          root_commands: ['echo', 'git', 'head'],
        },
      },
    ]);
  });

  test('anything else, with its arguments', async () => {
    const more =
      'rules: [{ id: notes, tool: read_file, path: notes.txt, decision: ask, reason: Private. }]\n';
    const script = [{ parts: [call('read_file', { file_path: 'notes.txt' }, { id: '1' })] }, done];
    const { place: where } = await approvedBy(`answer('proceed_once')`, script, {
      more,
      files: { 'notes.txt': 'x' },
    });
    expect(askedIn(where)).toEqual([
      {
        tool_call_id: '1',
        tool_name: 'read_file',
        ...{ display_name: 'Read file', title: 'Read notes.txt', risk: 'reads' },
        reason: 'Private.',
        options: options('proceed_once', 'proceed_always', 'proceed_always_tool', 'cancel'),
        generic_details: { description: 'Read notes.txt' },
        parameters: { file_path: 'notes.txt' },
      },
    ]);
  });
});

test('a request is valid against the schema that ships, and its risk is that of the line', async () => {
  const schema = JSON.parse(readFileSync(join(REPOSITORY, 'dist/confirmation-request.schema.json'), 'utf8'));
  const lines = ['cat a.txt', 'echo x > b.txt', 'git push', 'npm test'];
  const parts = [
    ...lines.map((line, i) => shell(line, `${i}`)),
    call('write_todos', { todos: [] }, { id: 't' }),
  ];
  const more = 'rules: [{ id: plans, tool: write_todos, decision: ask }]\n';
  const { place: where } = await approvedBy(`answer('cancel')`, [{ parts }, done], { more });
  const asked = askedIn(where);
  expect(asked.map(({ risk }) => risk)).toEqual(['reads', 'writes', 'network', 'unknown', 'reads']);
  const validate = await compileSchema(schema as object as Readonly<Record<string, unknown>>);
  for (const request of asked) expect(validate(request)).toEqual([]);
  expect(validate({ ...asked[0], options: ['cancel'] })).not.toEqual([]);
  expect(ofType(eventsOf(where), 'approval_request')[2]).toMatchObject({
    title: 'Run git push',
    risk: 'network',
  });
});

test('proceed_once is for the one call, and everything is an event of a valid transcript', async () => {
  const script = [{ parts: [shell('echo 1', 'a'), shell('echo 2', 'b')] }, done];
  const { code, place: where } = await approvedBy(`answer('proceed_once')`, script);
  expect([code, askedIn(where).length]).toEqual([0, 2]);
  const events = eventsOf(where);
  expect(ofType(events, 'approval_request').map(({ tool_id }) => tool_id)).toEqual(['a', 'b']);
  expect(ofType(events, 'approval_response')).toMatchObject([
    { tool_id: 'a', tool_call_id: 'a', selected_option_id: 'proceed_once', source: 'command' },
    { tool_id: 'b', tool_call_id: 'b', selected_option_id: 'proceed_once', source: 'command' },
  ]);
  expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
});

describe('proceed_always', () => {
  test('for a command covers its programs, and neither others nor redirections', async () => {
    const lines = [
      'echo 1; true',
      'echo 2',
      'echo 3 | cat',
      'echo 4 > out.txt',
      'env echo 5',
      'LD_PRELOAD=./x.so echo 6',
      'echo 7 && echo 8',
    ];
    const script = [{ parts: lines.map((line, i) => shell(line, String(i + 1))) }, done];
    const { code, place: where } = await approvedBy(
      `answer(request.tool_call_id === '1' ? 'proceed_always' : 'cancel')`,
      script,
    );
    expect(code).toBe(3);
    expect(askedIn(where).map(({ tool_call_id }) => tool_call_id)).toEqual(['1', '3', '4', '5', '6']);
    const responses = ofType(eventsOf(where), 'approval_response');
    expect(responses[0]).toMatchObject({
      selected_option_id: 'proceed_always',
      grant: { roots: ['echo', 'true'] },
    });
    expect(responses.filter(({ source }) => source === 'grant').map(({ tool_id }) => tool_id)).toEqual([
      '2',
      '7',
    ]);
    const ran = ofType(eventsOf(where), 'tool_result').filter(({ status }) => status === 'success');
    expect(ran.map(({ tool_id }) => tool_id)).toEqual(['1', '2', '7']);
    expect(fileIn(where, 'out.txt')).toBeUndefined();
  });

  test('grants only what was asked about, not what the policy allowed anyway', async () => {
    const more = 'rules: [{ id: looking, tool: run_shell_command, command: git status, decision: allow }]\n';
    const script = [
      { parts: [shell('git status; echo x', '1')] },
      { parts: [shell('git gc', '2'), shell('echo y', '3')] },
      done,
    ];
    const { place: where } = await approvedBy(`answer('proceed_always')`, script, { more });
    expect(askedIn(where).map(({ tool_call_id }) => tool_call_id)).toEqual(['1', '2']);
  });

  test('for an edit covers edits, in later turns too, but no deny and nothing beyond the boundary', async () => {
    const more = 'rules: [{ id: locked, tool: [write_file, replace], path: "lock/**", decision: deny }]\n';
    const script = [
      { parts: [write('a.txt', 'a', '1'), write('b.txt', 'b', '2')] },
      {
        parts: [
          call('replace', { file_path: 'a.txt', old_string: 'a', new_string: 'c' }, { id: '3' }),
          write('lock/x', 'x', '4'),
          write('../outside.txt', 'x', '5'),
          write('.git/config', 'x', '6'),
          shell('echo x', '7'),
        ],
      },
      done,
    ];
    const { place: where, server } = await approvedBy(
      `answer(request.execute_details ? 'cancel' : 'proceed_always')`,
      script,
      { more },
    );
    expect(askedIn(where).map(({ tool_call_id }) => tool_call_id)).toEqual(['1', '7']);
    expect([fileIn(where, 'a.txt'), fileIn(where, 'b.txt')]).toEqual(['c', 'b']);
    const told = toldOf(server, 1);
    expect(Object.values(told).map(({ type }) => type)).toEqual([
      undefined,
      'policy_denied',
      'path_not_in_workspace',
      'policy_denied',
      'approval_denied',
    ]);
  });
});

test('proceed_always_tool covers the tool and no other of its kind', async () => {
  const script = [
    {
      parts: [
        write('a.txt', 'a', '1'),
        write('b.txt', 'b', '2'),
        call('replace', { file_path: 'c.txt', old_string: 'c', new_string: 'd' }, { id: '3' }),
      ],
    },
    done,
  ];
  const { code, place: where } = await approvedBy(
    `answer(request.tool_name === 'write_file' ? 'proceed_always_tool' : 'cancel')`,
    script,
    { files: { 'c.txt': 'c' } },
  );
  expect([code, askedIn(where).length]).toEqual([3, 2]);
  expect([fileIn(where, 'b.txt'), fileIn(where, 'c.txt')]).toEqual(['b', 'c']);
});

test.each([
  ['proceed_always_server', ['a']],
  ['proceed_always_tool', ['a', 'c']],
])('%s about a tool of an MCP server asks about %p only', async (option, expected) => {
  const more = `mcp: { servers: { everything: { command: ${JSON.stringify([process.execPath, EVERYTHING, 'stdio'])} } } }\n`;
  const echo = (message: string, id: string) => call('everything__echo', { message }, { id });
  const sum = call('everything__get-sum', { a: 1, b: 2 }, { id: 'c' });
  const script = [{ parts: [echo('1', 'a'), echo('2', 'b'), sum] }, done];
  const { code, place: where } = await approvedBy(
    `answer(request.options.some(({ id }) => id === '${option}') ? '${option}' : 'cancel')`,
    script,
    { more },
  );
  expect(code).toBe(0);
  const asked = askedIn(where);
  expect(asked.map(({ tool_call_id }) => tool_call_id)).toEqual(expected);
  expect(asked[0]).toMatchObject({
    ...{ display_name: 'Echo Tool', title: 'everything: echo', risk: 'unknown' },
    options: options('proceed_once', 'proceed_always_tool', 'proceed_always_server', 'cancel'),
    mcp_details: { server_name: 'everything', tool_name: 'echo' },
    parameters: { message: '1' },
  });
});

describe('modify', () => {
  const cases = [
    ['write_file', call('write_file', { file_path: 'a.txt', content: 'theirs\n' }, { id: '1' })],
    [
      'replace',
      call('replace', { file_path: 'a.txt', old_string: 'old', new_string: 'theirs' }, { id: '1' }),
    ],
  ] as const;
  sampled.each(cases)(
    'puts another content into %s; arguments, diff and model show it',
    async (tool, part) => {
      const code = `answer('modify', { file_details: { new_content: 'mine\\n' }, reason: 'Shorter.' })`;
      const {
        code: exit,
        place: where,
        server,
      } = await approvedBy(code, [{ parts: [part] }, done], {
        files: { 'a.txt': 'old\n' },
      });
      expect(exit).toBe(0);
      expect(fileIn(where, 'a.txt')).toBe('mine\n');
      const [response] = ofType(eventsOf(where), 'approval_response');
      const content =
        tool === 'write_file' ? { content: 'mine\n' } : { old_string: 'old\n', new_string: 'mine\n' };
      expect(response).toMatchObject({
        selected_option_id: 'modify',
        file_details: { new_content: 'mine\n' },
        parameters: { file_path: 'a.txt', ...content },
      });
      const [result] = ofType(eventsOf(where), 'tool_result');
      expect(result?.change?.diff).toContain('-old\n+mine\n');
      expect(toldOf(server)['1']?.output).toMatch(
        /^Your change was modified: .*Shorter\.\n.*\n[^]*-old\n\+mine/,
      );
    },
  );
});

test('cancel refuses the call with its reason, and the run ends as denied', async () => {
  const {
    code,
    place: where,
    server,
  } = await approvedBy(`answer('cancel', { reason: 'Not on a Friday.' })`, [
    { parts: [shell('touch x', '1')] },
    done,
  ]);
  expect(code).toBe(3);
  expect(toldOf(server)['1']).toMatchObject({
    type: 'approval_denied',
    error: expect.stringContaining('Not on a Friday.'),
  });
  expect(resultOf(where).denials).toMatchObject([{ tool_id: '1', tool_name: 'run_shell_command' }]);
  expect(fileIn(where, 'x')).toBeUndefined();
});

describe('an approver that does not answer as it should has said no, and the model is told why', () => {
  const cases: [string, string, RegExp][] = [
    ['crashes', `throw new Error('database is down')`, /said no \(exit code 1\)/],
    ['says yes and fails', `answer('proceed_once'); process.exitCode = 3`, /said no \(exit code 3\)/],
    ['kills itself', `answer('proceed_once'); process.kill(process.pid, 'SIGKILL')`, /killed by SIGKILL/],
    ['prints nothing', ``, /printed no answer/],
    ['prints nonsense', `console.log('yes, of course')`, /not one JSON value/],
    ['prints two answers', `answer('proceed_once'); answer('proceed_once')`, /not one JSON value/],
    ['prints something else', `console.log('[]')`, /answer is not valid/],
    [
      'names no option',
      `console.log(JSON.stringify({ tool_call_id: '1' }))`,
      /selected_option_id` is missing/,
    ],
    ['names an unknown option', `answer('yes')`, /must be one of/],
    [
      'names an option that was not offered',
      `answer('modify', { file_details: { new_content: '' } })`,
      /not among the options/,
    ],
    ['answers for another call', `answer('proceed_once', { tool_call_id: '2' })`, /it is for the call 2/],
    [
      'sends a content with a plain yes',
      `answer('proceed_once', { file_details: { new_content: 'x' } })`,
      /only modify can/,
    ],
    ['prints without end', `for (;;) writeFileSync(1, 'x'.repeat(1e6))`, /printed too much/],
  ];
  sampled.each(cases)('%s', async (_what, code, reason) => {
    const {
      code: exit,
      place: where,
      server,
    } = await approvedBy(code, [{ parts: [shell('touch x', '1')] }, done]);
    expect(exit).toBe(3);
    expect(toldOf(server)['1']).toMatchObject({
      type: 'approval_denied',
      error: expect.stringMatching(reason),
    });
    expect(fileIn(where, 'x')).toBeUndefined();
    expect(resultOf(where).warnings.join('\n')).toMatch(reason);
    const [response] = ofType(eventsOf(where), 'approval_response');
    expect(response).toMatchObject({ selected_option_id: 'cancel', reason: expect.stringMatching(reason) });
  });

  test('hangs: it is killed with all that it started when its time is over', async () => {
    const code = `const { spawn } = await import('node:child_process');
      const child = spawn('sleep', ['300'], { stdio: 'inherit' });
      writeFileSync('pid', String(child.pid));
      await new Promise(() => setInterval(() => {}, 1000));`;
    const {
      code: exit,
      place: where,
      server,
    } = await approvedBy(code, [{ parts: [shell('touch x', '1')] }, done], { timeout: '1s' });
    expect(exit).toBe(3);
    expect(toldOf(server)['1']?.error).toContain('did not answer within 1.0 s');
    expect(isAlive(Number(fileIn(where, 'pid')))).toBe(false);
  });

  test('cannot be started', async () => {
    const policy = 'version: 1\nmode: manual\non_ask: { command: [/no/such/program] }\n';
    const { code, server } = await bosunUnder(policy, [{ parts: [shell('touch x', '1')] }, done]);
    expect(code).toBe(3);
    expect(toldOf(server)['1']?.error).toContain('could not be started');
  });
});

test('the same call is not asked about again once it was refused', async () => {
  const part = shell('touch x', '1');
  const { place: where, server } = await approvedBy(`answer('cancel')`, [
    { parts: [part] },
    { parts: [shell('touch x', '2')] },
    done,
  ]);
  expect(askedIn(where)).toHaveLength(1);
  expect(toldOf(server, 1)['2']?.error).toContain('denied before');
});

test('an approver sees a clean environment, and what its own `env` passes', async () => {
  const where = place();
  const code = `writeFileSync('env', JSON.stringify(process.env)); answer('proceed_once')`;
  const policy = approverPolicy(where, code).replace(
    'timeout: 20s',
    'env: { pass: [GH_TOKEN], set: { TEAM: x } }',
  );
  writeFileSync(join(where.root, 'policy.yaml'), policy);
  const server = await serve([{ parts: [shell('env > child', '1')] }, done]);
  const args = runArgs(where, ['-p', 'x', '--policy', join(where.root, 'policy.yaml')]);
  await startCli(args, { env: serverEnv(server, where, { GH_TOKEN: 'secret', OTHER: 'x' }) }).done;
  const seen = JSON.parse(fileIn(where, 'env') ?? '{}') as Record<string, string>;
  expect(seen).toMatchObject({ GH_TOKEN: 'secret', TEAM: 'x' });
  expect(Object.keys(seen)).not.toEqual(expect.arrayContaining(['GEMINI_API_KEY']));
  expect(seen['OTHER']).toBeUndefined();
  expect(fileIn(where, 'child')).not.toContain('GH_TOKEN');
});

test('an approver inside the workspace is out of reach for the model, and is not asked if it changed', async () => {
  const where = place({ 'yes.sh': 'exit 1\n', 'change.js': `require('fs').appendFileSync('yes.sh', '#')` });
  // In the sandbox it could not be changed at all.
  const policy = `version: 1\nmode: auto_edit\nsandbox: {mode: off}\non_ask: { command: [sh, yes.sh] }
rules: [{ id: any, tool: run_shell_command, command: node, decision: allow }]\n`;
  const { code, server } = await bosunUnder(
    policy,
    [
      { parts: [write('yes.sh', 'exit 0\n', '1')] },
      { parts: [shell('node change.js', '2')] },
      { parts: [shell('touch x', '3')] },
      done,
    ],
    [],
    where,
  );
  expect(code).toBe(3);
  expect(toldOf(server, 0)['1']).toMatchObject({
    type: 'policy_denied',
    error: expect.stringContaining('protected'),
  });
  expect(toldOf(server, 2)['3']?.error).toContain('has changed since the run began');
});

test('a signal while the approver thinks ends it, and the call is cancelled, not refused', async () => {
  const where = place();
  const code = `writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1000);`;
  writeFileSync(join(where.root, 'policy.yaml'), approverPolicy(where, code));
  const server = await serve([{ parts: [shell('touch x', '1'), shell('touch y', '2')] }, done]);
  const args = runArgs(where, [
    '-p',
    'x',
    '--policy',
    join(where.root, 'policy.yaml'),
    '--include-tool-state',
  ]);
  const { child, done: ended } = startCli(args, { env: serverEnv(server, where) });
  await until(() => existsSync(join(where.workspace, 'pid')), 'the approver to be asked');
  child.kill('SIGTERM');
  expect((await ended).code).toBe(143);
  expect(isAlive(Number(fileIn(where, 'pid')))).toBe(false);
  const states = ofType(eventsOf(where), 'tool_state').map(({ tool_id, state }) => `${tool_id} ${state}`);
  expect(states).toEqual([
    '1 validating',
    '2 validating',
    '1 awaiting_approval',
    '2 awaiting_approval',
    '1 cancelled',
    '2 cancelled',
  ]);
  expect(resultOf(where).denials).toEqual([]);
});

test('the example approver answers as it says', async () => {
  const file = join(REPOSITORY, 'fixtures/programs/approver.mjs');
  const policy = `version: 1\nmode: manual\non_ask: { command: [${JSON.stringify(file)}] }\n`;
  const {
    code,
    place: where,
    server,
  } = await bosunUnder(policy, [
    { parts: [write('README.md', '# Hi\n', '1'), shell('git status', '2'), shell('git push', '3')] },
    done,
  ]);
  expect(code).toBe(3);
  expect(fileIn(where, 'README.md')).toBe('# Hi\n');
  expect(toldOf(server)['2']?.output).toContain('it only looks');
  expect(toldOf(server)['3']?.error).toContain('only documentation and looking around');
});

test('two policies with different approvers are a mistake; of two answers the stricter counts', async () => {
  const where = place();
  const asking = approverPolicy(where, `answer('proceed_once')`);
  const strict = join(where.root, 'strict.yaml');
  writeFileSync(strict, 'version: 1\nmode: manual\non_ask: deny\n');
  const script = [{ parts: [shell('touch x', '1')] }, done];
  const { code } = await bosunUnder(asking, script, ['--policy', strict], where);
  expect([code, askedIn(where)]).toEqual([3, []]);
  writeFileSync(strict, 'version: 1\nmode: manual\non_ask: { command: ["true"] }\n');
  const { code: second, stderr } = await bosunUnder(asking, script, ['--policy', strict], where);
  expect([second, stderr]).toEqual([2, expect.stringContaining('two policies name different approvers')]);
});
