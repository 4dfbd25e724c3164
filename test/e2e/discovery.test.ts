import { describe, expect, test } from '@jest/globals';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { call, text, type Script } from '../helpers/gemini-server.mjs';
import { runUnder } from '../helpers/in-process.js';
import { eventsOf, ofType, REPOSITORY, resultOf } from '../helpers/run-cli.js';
import { bosunUnder, offeredBy, type Server } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const PROGRAM = join(REPOSITORY, 'fixtures/programs/discovery.sh');
/** The same as a program of Node. */
const IN_NODE = [process.execPath, join(REPOSITORY, 'fixtures/programs/discovery.mjs')];
const done = { parts: [text('Done.')] };
const calling = (...names: readonly string[]): Script => [
  { parts: names.map((name, i) => call(`discovered_tool_${name}`, { text: 'x' }, { id: `c${i}` })) },
  done,
];

function policyWith(list: string, more: object = {}, discovery: object = {}): string {
  const commands = {
    list: ['sh', PROGRAM, 'list', list],
    call: ['sh', PROGRAM, 'call'],
  };
  return JSON.stringify({ version: 1, mode: 'yolo', discovery: { ...commands, ...discovery }, ...more });
}

const discoveredBy = (server: Server) =>
  offeredBy(server)?.filter((name: string) => name.startsWith('discovered_tool_'));

describe('tools that a command lists', () => {
  test.each([
    ['plain', ['echo', 'fail', 'warn', 'hang', 'flood', 'env', 'die']],
    ['snake', ['echo', 'two']],
    ['camel', ['echo', 'two']],
    ['nothing', []],
  ])('in the shape %s are offered', async (shape, names) => {
    const { code, server } = await runUnder(policyWith(shape), [done]);
    expect(discoveredBy(server)).toEqual(names.map((name) => `discovered_tool_${name}`));
    expect(code).toBe(0);
  });

  test('say what they run, get their arguments on stdin, and are known by one name everywhere', async () => {
    const programs = { list: [...IN_NODE, 'list', 'plain'], call: [...IN_NODE, 'call'] };
    const run = await bosunUnder(policyWith('plain', {}, programs), calling('echo'));
    const declared = run.server.requests[0]?.body.tools[0].functionDeclarations.find(
      ({ name }: { name: string }) => name === 'discovered_tool_echo',
    );
    expect(declared.description).toMatch(
      /The tool echo\..*Runs `.*discovery\.mjs call echo` in the workspace/s,
    );
    expect(declared.parametersJsonSchema).toEqual({
      type: 'object',
      properties: { text: { type: 'string' } },
      required: ['text'],
    });
    const events = eventsOf(run.place);
    expect(ofType(events, 'tool_use')[0]).toMatchObject({ tool_name: 'discovered_tool_echo', kind: 'other' });
    expect(ofType(events, 'tool_result')[0]?.output).toBe(
      `echo in ${realpathSync(run.place.workspace)}: {"text":"x"}\n`,
    );
  });

  test('have arguments that are checked first', async () => {
    const script: Script = [{ parts: [call('discovered_tool_echo', {})] }, done];
    const { place } = await runUnder(policyWith('plain'), script);
    expect(ofType(eventsOf(place), 'tool_result')[0]?.error).toMatchObject({
      type: 'invalid_tool_params',
      message: expect.stringContaining('`text` is missing'),
    });
  });

  test('may have odd names: a shell never sees them', async () => {
    const { server, place } = await runUnder(policyWith('odd_names'), (request, i) => {
      const names: string[] = request.body.tools[0].functionDeclarations.map(
        (one: { name: string }) => one.name,
      );
      const found = names.filter((name) => name.startsWith('discovered_tool_'));
      return i > 0 ? done : { parts: found.map((name) => call(name, {})) };
    });
    for (const name of discoveredBy(server) ?? []) expect(name).toMatch(/^[\w-]{1,64}$/);
    const outputs = ofType(eventsOf(place), 'tool_result').map(
      ({ output }) => String(output).split(' in ')[0],
    );
    expect(outputs).toEqual(['a b', 'a;b', 'x'.repeat(100)]);
  });
});

describe('a call that fails tells all five facts', () => {
  const cases: [string, string, string][] = [
    [
      'fail',
      'discovered_tool_execution_error',
      'Stdout: half a result\n\nStderr: it broke\nError: (none)\nExit Code: 3\nSignal: (none)',
    ],
    [
      'warn',
      'discovered_tool_execution_error',
      'Stdout: a result\n\nStderr: but also a warning\nError: (none)\nExit Code: 0\nSignal: (none)',
    ],
    [
      'die',
      'discovered_tool_execution_error',
      'Stdout: (empty)\nStderr: (empty)\nError: (none)\nExit Code: (none)\nSignal: SIGKILL',
    ],
    [
      'hang',
      'timeout',
      'Stdout: begun\n\nStderr: (empty)\nError: killed after 3.0 s\nExit Code: (none)\nSignal: SIGTERM',
    ],
  ];
  test.each(cases)('%s', async (name, type, message) => {
    const policy = policyWith('plain', { shell: { timeout: '3s' } });
    const { code, place } = await runUnder(policy, calling(name));
    expect(ofType(eventsOf(place), 'tool_result')[0]).toMatchObject({
      status: 'error',
      error: { type, message },
    });
    expect(code).toBe(0);
  });

  test('a program that is not there', async () => {
    const policy = policyWith('plain', {}, { call: ['./no-such-program'] });
    const { place } = await runUnder(policy, calling('echo'));
    expect(ofType(eventsOf(place), 'tool_result')[0]?.error?.message).toMatch(
      /^Stdout: \(empty\)\nStderr: \(empty\)\nError: .*ENOENT.*\nExit Code: \(none\)\nSignal: \(none\)$/,
    );
  });
});

test('long output is cut, and is whole in a file', async () => {
  const { place } = await runUnder(policyWith('plain'), calling('flood'));
  const [result] = ofType(eventsOf(place), 'tool_result');
  expect(result?.status).toBe('success');
  expect(String(result?.output).length).toBeLessThan(50_000);
  expect(result?.full_output).toBeDefined();
});

test('programs see the environment of commands, and no key of ours', async () => {
  const { place } = await runUnder(
    policyWith('plain', { shell: { env: { set: { MINE: '1' } } } }, { call: [...IN_NODE, 'call'] }),
    calling('env'),
  );
  const seen = JSON.parse(String(ofType(eventsOf(place), 'tool_result')[0]?.output));
  expect(seen).toMatchObject({ MINE: '1', HOME: place.home, CI: '1' });
  expect(Object.keys(seen)).not.toContain('GEMINI_API_KEY');
});

describe('a list that cannot be used', () => {
  const cases: [string, RegExp, string[]][] = [
    ['garbage', /did not print JSON/, []],
    ['fails', /exit code 4; it said: no tools today/, []],
    ['nameless', /a tool has no name: \{"description":"x"\}/, ['discovered_tool_echo']],
    [
      'schema',
      /the tool odd cannot be used: its schema does not describe an object/,
      ['discovered_tool_echo'],
    ],
    ['twice', /echo is declared twice/, ['discovered_tool_echo']],
  ];
  test.each(cases)('%s: the run ends before the first request', async (list, message) => {
    const { code, server, place } = await runUnder(policyWith(list), [done]);
    expect(resultOf(place)).toMatchObject({
      status: 'tool_infra_error',
      error: { code: 'discovery', message: expect.stringMatching(message) },
    });
    expect({ code, requests: server.requests.length }).toEqual({ code: 12, requests: 0 });
  });

  test.each(cases)('%s, but not needed: the run goes on with what there is', async (list, message, names) => {
    const { code, server, place } = await runUnder(policyWith(list, {}, { required: false }), [done]);
    expect(code).toBe(0);
    expect(discoveredBy(server)).toEqual(names);
    expect(resultOf(place).warnings).toEqual([expect.stringMatching(message)]);
  });
});

describe('a policy decides about discovered tools', () => {
  const rules = (tool: string, decision: string) => ({ rules: [{ id: 'r', tool, decision }] });
  const cases: [string, object, object, string][] = [
    ['a deny', rules('discovered_tool_echo', 'deny'), {}, 'policy_denied'],
    ['a deny of all', rules('discovered_*', 'deny'), {}, 'policy_denied'],
    ['mode manual', { mode: 'manual' }, {}, 'approval_denied'],
    ['mode plan, and one that only reads', { mode: 'plan' }, { read_only_tools: ['echo'] }, ''],
    ['mode plan, and a rule', { mode: 'plan', ...rules('discovered_tool_e*', 'allow') }, {}, ''],
  ];
  test.each(cases)('%s', async (_what, policy, discovery, error) => {
    const { place } = await runUnder(policyWith('plain', policy, discovery), calling('echo'));
    expect(ofType(eventsOf(place), 'tool_result')[0]?.error?.type ?? '').toBe(error);
  });
});
