import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { call, text, type Script } from '../helpers/gemini-server.mjs';
import { behaving, policyWith } from '../helpers/mcp.js';
import { eventsOf, REPOSITORY, type Scratch } from '../helpers/run-cli.js';
import { bosunUnder, place, type Server } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const DISCOVERY = join(REPOSITORY, 'fixtures/programs/discovery.mjs');
const done = { parts: [text('Done.')] };
const turn = (...calls: readonly (readonly [string, object])[]): Script => [
  { parts: calls.map(([name, args], i) => call(name, args, { id: `c${i}` })) },
  done,
];

/** When calls began and ended, in the order of the transcript. */
function order(where: Scratch): string {
  return eventsOf(where)
    .flatMap((event) => {
      if (event.type === 'tool_start') return [`+${event.tool_id}`];
      return event.type === 'tool_result' ? [`-${event.tool_id}`] : [];
    })
    .join(' ');
}

function answers(server: Server): unknown[] {
  const parts: { functionResponse: { id: string; response: object } }[] =
    server.requests[1]?.body.contents.at(-1).parts;
  return parts.map(({ functionResponse: { id, response } }) => [id, response]);
}

describe('discovered tools', () => {
  const policy = (discovery: object, more: object = {}) =>
    JSON.stringify({
      version: 1,
      mode: 'yolo',
      discovery: {
        list: [process.execPath, DISCOVERY, 'list', 'pair'],
        call: [process.execPath, DISCOVERY, 'call'],
        ...discovery,
      },
      // One that waits in vain shall not wait for long.
      shell: { timeout: '20s' },
      ...more,
    });
  const meeting = turn(
    ['discovered_tool_meet', { name: 'a' }],
    ['discovered_tool_meet', { name: 'b' }],
    ['discovered_tool_mark', {}],
  );

  test('run side by side where the policy says so, with results in call order', async () => {
    const { code, server, place: where } = await bosunUnder(policy({ parallel: true }), meeting);
    expect(code).toBe(0);
    expect(order(where)).toMatch(/^\+c0 \+c1 \+c2 /);
    expect(answers(server)).toEqual([
      ['c0', { output: 'met\n' }],
      ['c1', { output: 'met\n' }],
      ['c2', { output: expect.stringContaining('mark in') }],
    ]);
  });

  test('by a rule for one of them: the other stays a barrier', async () => {
    const rules = [{ id: 'r', tool: 'discovered_tool_meet', decision: 'allow', parallel: true }];
    const { code, place: where } = await bosunUnder(policy({}, { rules }), meeting);
    expect(code).toBe(0);
    expect(order(where)).toMatch(/^\+c0 \+c1 -c\d -c\d \+c2 -c2$/);
  });

  test('run one after the other where it does not', async () => {
    const two = turn(['discovered_tool_mark', {}], ['discovered_tool_mark', { again: 1 }]);
    const { code, place: where } = await bosunUnder(policy({}), two);
    expect(code).toBe(0);
    expect(order(where)).toBe('+c0 -c0 +c1 -c1');
  });

  test('limits.parallel bounds them', async () => {
    const four = turn(...[0, 1, 2, 3].map((n) => ['discovered_tool_mark', { n }] as const));
    const more = { limits: { parallel: 1 } };
    const { code, place: where } = await bosunUnder(policy({ parallel: true }, more), four);
    expect(code).toBe(0);
    expect(order(where)).toBe('+c0 -c0 +c1 -c1 +c2 -c2 +c3 -c3');
  });
});

describe('the tools of an MCP server', () => {
  const meeting = turn(['s__echo', {}], ['s__other', {}]);
  const patient = { timeout: '20s' };

  test.each([
    ['the policy says so', behaving('meet', { ...patient, parallel: true })],
    ['they only read by their own word, and are trusted', behaving('meet', 'claims', patient)],
  ])('run side by side where %s', async (_, settings) => {
    const { code, server, place: where } = await bosunUnder(policyWith({ s: settings }), meeting);
    expect(code).toBe(0);
    expect(order(where)).toMatch(/^\+c0 \+c1 /);
    expect(answers(server)).toEqual([
      ['c0', { output: 'met' }],
      ['c1', { output: expect.stringContaining('other') }],
    ]);
  });

  test('are not believed where they are not trusted', async () => {
    const settings = behaving('meet', 'claims', { timeout: '20s', trust: false });
    const two = turn(['s__other', { text: 'a' }], ['s__other', { text: 'b' }]);
    const { code, place: where } = await bosunUnder(policyWith({ s: settings }, { mode: 'yolo' }), two);
    expect(code).toBe(0);
    expect(order(where)).toBe('+c0 -c0 +c1 -c1');
  });
});

test('commands run side by side where every one of a line is covered by a rule that says so', async () => {
  const script = `import { existsSync, writeFileSync } from 'node:fs';
    import { setTimeout } from 'node:timers/promises';
    writeFileSync('met-' + process.argv[2], '');
    while (!existsSync('met-a') || !existsSync('met-b')) await setTimeout(10);
    console.log('met');`;
  const rules = [
    { id: 'm', tool: 'run_shell_command', command: 'node meet.mjs', decision: 'allow', parallel: true },
    { id: 'l', tool: 'run_shell_command', command: 'ls', decision: 'allow' },
  ];
  const policy = JSON.stringify({ version: 1, rules, shell: { timeout: '20s' } });
  const lines = ['node meet.mjs a', 'true && node meet.mjs b', 'ls; node meet.mjs c'];
  const run = await bosunUnder(
    policy,
    turn(...lines.map((command) => ['run_shell_command', { command }] as const)),
    [],
    place({ 'meet.mjs': script }),
  );
  expect(run.code).toBe(0);
  expect(order(run.place)).toMatch(/^\+c0 \+c1 -c\d -c\d \+c2 -c2$/);
});
