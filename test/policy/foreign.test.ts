import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allOf } from '../../src/policy/all-of.js';
import { mayNeedDiscovery, mayNeedServer } from '../../src/policy/foreign.js';
import { checkMentions } from '../../src/policy/mentions.js';
import { lint } from '../../src/policy/lint.js';
import type { Decision } from '../../src/protocol/decision.js';
import { engine, load } from '../helpers/policy.js';
import { REPOSITORY } from '../helpers/run-cli.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const policyOf = (body: object) =>
  JSON.stringify({ version: 1, mcp: { servers: { s: { command: ['x'] }, t: { command: ['x'] } } }, ...body });
const rule = (tool: string | string[], decision: string, more: object = {}) => ({
  id: 'r',
  tool,
  decision,
  ...more,
});

async function verdict(body: object, tool: string): Promise<string> {
  const policy = await engine(ws.path(), policyOf(body));
  const answer = (await policy.decide({ tool, kind: 'other', paths: [], params: {} })) as Decision;
  return answer.decision;
}

describe('a rule about tools from elsewhere', () => {
  const cases: [string, object, string, string][] = [
    ['all of a server', rule('mcp:s/*', 'allow'), 'mcp:s/x', 'allow'],
    ['not those of another', rule('mcp:s/*', 'allow'), 'mcp:t/x', 'deny'],
    ['one tool', rule('mcp:s/x', 'allow'), 'mcp:s/xy', 'deny'],
    ['any server', rule('mcp:*/x', 'allow'), 'mcp:t/x', 'allow'],
    ['a star for a server does not reach into names', rule('mcp:*/x', 'allow'), 'mcp:t/y/x', 'deny'],
    ['a name with line breaks is caught', rule('mcp:s/*', 'ask'), 'mcp:s/a\nb', 'ask'],
    ['an allow means just this case', rule('mcp:s/x', 'allow'), 'mcp:s/X', 'deny'],
    ['an ask means any case', rule('mcp:s/x', 'ask'), 'mcp:s/X', 'ask'],
    ['everything', rule('*', 'allow'), 'mcp:s/x', 'allow'],
    ['everything', rule('*', 'allow'), 'discovered_tool_x', 'allow'],
    ['discovered tools', rule('discovered_tool_*', 'allow'), 'discovered_tool_x', 'allow'],
    ['discovered tools', rule('discovered_tool_*', 'allow'), 'mcp:s/discovered_tool_x', 'deny'],
    ['our own of the same name', rule('read_file', 'allow'), 'mcp:s/read_file', 'deny'],
    ['the name that the model reads', rule('s__x', 'allow'), 'mcp:s/x', 'allow'],
    ['one with a path is not about them', rule('*_file', 'allow', { path: ['a'] }), 'mcp:s/my_file', 'deny'],
    ['only with input from strangers', rule('mcp:s/x', 'allow', { when: 'untrusted' }), 'mcp:s/x', 'deny'],
  ];
  test.each(cases)('%s: %o, %s: %s', async (_what, one, tool, expected) => {
    expect(await verdict({ rules: [one] }, tool)).toBe(expected);
  });

  test('that a deny of more makes useless is an error', async () => {
    const rules = [rule('mcp:s/*', 'deny'), { ...rule('mcp:s/x', 'allow'), id: 'q' }];
    await expect(load(ws.path(), policyOf({ rules }))).rejects.toThrow(/rule `q` can never decide/);
  });
});

describe('several policies', () => {
  test('each decides about a server on its own, also about what only reads', async () => {
    const declared = await engine(
      ws.path(),
      policyOf({ mcp: { servers: { s: { command: ['x'], read_only_tools: ['*'] } } } }),
    );
    const other = await engine(ws.path(), 'version: 1\n');
    const request = { tool: 'mcp:s/x', kind: 'read', paths: [], params: {} } as const;
    expect(await declared.decide(request)).toMatchObject({ decision: 'allow' });
    expect(await allOf([declared, other]).decide(request)).toMatchObject({ decision: 'deny' });
  });

  test('what extends another has its servers, its own instead of one by the same name, and its denies', async () => {
    ws.write(
      'base.yaml',
      policyOf({ rules: [rule('mcp:t/*', 'deny')], discovery: { list: ['l'], call: ['c'] } }),
    );
    const over = {
      extends: ['./base.yaml'],
      mcp: { servers: { s: { url: 'http://x' }, u: { command: ['y'] } } },
    };
    const document = await load(ws.path(), policyOf(over));
    expect(document.servers.map(({ name, connection }) => [name, connection.type])).toEqual([
      ['t', 'stdio'],
      ['s', 'http'],
      ['u', 'stdio'],
    ]);
    expect(document.discovery?.list).toEqual(['l']);
    expect(document.rules).toHaveLength(1);
  });
});

describe('a source that is not needed is not asked', () => {
  const cases: [string, object, boolean][] = [
    ['mode plan and not a word', {}, false],
    ['a mode that asks', { mode: 'manual' }, true],
    ['an allow rule', { rules: [rule('mcp:s/x', 'allow')] }, true],
    ['an ask rule by a star', { rules: [rule('m*', 'ask')] }, true],
    ['a rule about another', { rules: [rule('mcp:t/x', 'allow')] }, false],
    ['all denied', { mode: 'yolo', rules: [rule('mcp:s/*', 'deny')] }, false],
    [
      'all denied with strangers only',
      { mode: 'yolo', rules: [rule('mcp:s/*', 'deny', { when: 'untrusted' })] },
      true,
    ],
    ['some denied', { mode: 'yolo', rules: [rule('mcp:s/x*', 'deny')] }, true],
    ['excluded', { mode: 'yolo', tools: { exclude: ['mcp:*'] } }, false],
    ['not offered', { mode: 'yolo', tools: { offer: ['read_file', 'mcp:t/*'] } }, false],
    ['one offered', { mode: 'yolo', tools: { offer: ['mcp:s/x'] } }, true],
    ['trusted', { mcp: { servers: { s: { command: ['x'], trust: true } } } }, true],
    [
      'something that only reads',
      { mcp: { servers: { s: { command: ['x'], read_only_tools: ['x'] } } } },
      true,
    ],
  ];
  test.each(cases)('%s: %o', async (_what, body, expected) => {
    expect(mayNeedServer(await load(ws.path(), policyOf(body)), 's')).toBe(expected);
  });

  test('discovery, too', async () => {
    const discovery = { list: ['l'], call: ['c'] };
    expect(mayNeedDiscovery(await load(ws.path(), policyOf({ discovery })))).toBe(false);
    expect(mayNeedDiscovery(await load(ws.path(), policyOf({ discovery, mode: 'yolo' })))).toBe(true);
    const rules = [rule('discovered_tool_a', 'allow')];
    expect(mayNeedDiscovery(await load(ws.path(), policyOf({ discovery, rules })))).toBe(true);
  });
});

test('lint warns of what a server may bring along later', async () => {
  const servers = {
    s: { command: ['x'], trust: true },
    t: { command: ['x'], trust: true, include_tools: ['a'] },
  };
  const rules = [rule('mcp:t/*', 'allow'), { ...rule('mcp:t/get_a', 'allow'), id: 'q' }];
  const document = await load(ws.path(), policyOf({ mcp: { servers }, rules }));
  expect(lint(document).map(({ message }) => message)).toEqual([
    expect.stringMatching(/rule r: `mcp:t\/\*` allows whatever tools/),
    expect.stringMatching(/server s: `trust` without `include_tools`/),
  ]);
});

test('the policies of docs/mcp.md are sound', async () => {
  const page = readFileSync(join(REPOSITORY, 'docs/mcp.md'), 'utf8');
  const policies = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text as string);
  expect(policies).toHaveLength(3);
  for (const text of policies) {
    const document = await load(ws.path(), text);
    expect(() => checkMentions([document])).not.toThrow();
    expect(document.servers.length + Number(document.discovery !== undefined)).toBe(1);
  }
});
