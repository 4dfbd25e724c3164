import { describe, expect, test } from '@jest/globals';
import { call, text, type Script } from '../helpers/gemini-server.mjs';
import { runUnder } from '../helpers/in-process.js';
import { behaving, policyWith } from '../helpers/mcp.js';
import { eventsOf, ofType, resultOf } from '../helpers/run-cli.js';
import { offeredBy } from '../helpers/served.js';

const calling = (name: string, args: object): Script => [
  { parts: [call(name, args, { id: 'c' })] },
  { parts: [text('Done.')] },
];
const rule = (tool: string | string[], decision: string, more: object = {}) => ({
  id: 'r',
  tool,
  decision,
  ...more,
});
const ruled = (...rules: object[]) => ({ rules });

/** What became of one call: the kind of its error, what was decided, and how the run ended. */
async function fate(policy: string, name: string, args: object = {}) {
  const { code, place, server } = await runUnder(policy, calling(name, args));
  const events = eventsOf(place);
  return {
    error: ofType(events, 'tool_result')[0]?.error?.type,
    decided: ofType(events, 'policy_decision').map(({ decision, rule: by }) => [decision, by?.id]),
    used: ofType(events, 'tool_use')[0]?.tool_name,
    denials: resultOf(place).denials.map(({ tool_name }) => tool_name),
    offered: offeredBy(server)?.includes(name) ?? false,
    code,
  };
}

const denied = (tool: string, by?: string) => ({
  error: 'policy_denied',
  decided: [['deny', by]],
  used: tool,
  denials: [tool],
  offered: false,
  code: 3,
});
const unknown = (used: string) => ({
  error: 'tool_not_registered',
  decided: [],
  used,
  denials: [],
  offered: false,
  code: 0,
});

describe('a tool of a server that is not offered, called all the same, is a denial', () => {
  const own = { own: behaving('well', { trust: false }) };
  const trusted = { own: behaving('well') };
  const cases: [string, string, string, ReturnType<typeof denied>][] = [
    [
      'all of a server are denied',
      policyWith(own, { mode: 'yolo', ...ruled(rule('mcp:own/*', 'deny')) }),
      'own__hello',
      denied('mcp:own/hello', 'r'),
    ],
    [
      'by its policy name',
      policyWith(own, { mode: 'yolo', ...ruled(rule('mcp:own/*', 'deny')) }),
      'mcp:own/hello',
      denied('mcp:own/hello', 'r'),
    ],
    [
      'all servers are denied',
      policyWith(trusted, ruled(rule('mcp:*', 'deny'))),
      'own__echo',
      denied('mcp:own/echo', 'r'),
    ],
    ['the mode allows none', policyWith(own, { mode: 'plan' }), 'own__echo', denied('mcp:own/echo')],
    [
      'tools.exclude',
      policyWith(trusted, { tools: { exclude: ['mcp:own/*'] } }),
      'own__echo',
      denied('mcp:own/echo'),
    ],
    [
      'tools.offer',
      policyWith(trusted, { tools: { offer: ['read_file'] } }),
      'own__echo',
      denied('mcp:own/echo'),
    ],
    [
      'exclude_tools, of a tool that the server does not even have',
      policyWith({ own: behaving('well', { exclude_tools: ['gone'] }) }),
      'own__gone',
      denied('mcp:own/gone'),
    ],
    [
      'include_tools, of a tool that the server does not even have',
      policyWith({ own: behaving('well', { include_tools: ['echo'] }) }),
      'own__gone',
      denied('mcp:own/gone'),
    ],
    [
      'a server whose name is spelt differently for the model',
      policyWith({ 'my.own': behaving('well') }, ruled(rule('mcp:my.own/*', 'deny'))),
      'my_own__hello_0123456789abcdef',
      denied('mcp:my.own/hello', 'r'),
    ],
  ];
  test.each(cases)('%s', async (_what, policy, name, expected) => {
    expect(await fate(policy, name)).toEqual(expected);
  });

  test('but a name that no server has and no rule speaks of is not known', async () => {
    const policy = policyWith(trusted);
    expect(await fate(policy, 'own__gone')).toEqual(unknown('mcp:own/gone'));
    expect(await fate(policy, 'other__hello')).toEqual(unknown('other__hello'));
    expect(await fate(policyWith(trusted, ruled(rule('*', 'deny'))), 'hello')).toEqual(unknown('hello'));
  });
});

test('discovered tools that are all denied are denied one by one', async () => {
  const discovery = { list: ['false'], call: ['false'] };
  const policy = JSON.stringify({ version: 1, discovery, ...ruled(rule('discovered_tool_*', 'deny')) });
  expect(await fate(policy, 'discovered_tool_x')).toEqual(denied('discovered_tool_x', 'r'));
});

describe('a tool of our own that is not offered, called all the same, is a denial', () => {
  const policy = (more: object) => JSON.stringify({ version: 1, ...more });
  const cases: [string, object, string, object, string | undefined][] = [
    ['a rule', ruled(rule('write_file', 'deny')), 'write_file', { file_path: 'a', content: 'a' }, 'r'],
    ['a rule, and arguments that fit nothing', ruled(rule('write_file', 'deny')), 'write_file', {}, 'r'],
    [
      'a rule, and a path that leads outside',
      ruled(rule('write_file', 'deny')),
      'write_file',
      { file_path: '../a', content: 'a' },
      'r',
    ],
    ['the mode', { mode: 'plan' }, 'replace', { file: 'a' }, undefined],
    ['tools.exclude', { tools: { exclude: ['read_file'] } }, 'read_file', { file_path: '../a' }, undefined],
    ['tools.offer', { tools: { offer: ['read_file'] } }, 'glob', {}, undefined],
    ['no memory.file', { mode: 'yolo' }, 'save_memory', {}, undefined],
    ['no host', { mode: 'yolo' }, 'web_fetch', {}, undefined],
    [
      'a rule about all commands',
      { mode: 'yolo', ...ruled(rule('run_shell_command', 'deny')) },
      'run_shell_command',
      {},
      'r',
    ],
    ['everything', ruled(rule('*', 'deny')), 'write_todos', {}, 'r'],
  ];
  test.each(cases)('%s', async (_what, body, name, args, by) => {
    expect(await fate(policy(body), name, args)).toEqual(denied(name, by));
  });

  test('but wrong arguments of a tool that is offered are an error of the call', async () => {
    const { error, code, denials } = await fate(policy({ mode: 'plan' }), 'read_file', {});
    expect({ error, code, denials }).toEqual({ error: 'invalid_tool_params', code: 0, denials: [] });
  });
});
