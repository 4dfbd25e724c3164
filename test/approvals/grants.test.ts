import { describe, expect, test } from '@jest/globals';
import { Grants } from '../../src/approvals/grants.js';
import { askedRoots, confirmationRequest, grantOf, type AskedCall } from '../../src/protocol/approval.js';
import type { ApprovalOption } from '../../src/protocol/approval-options.js';
import type { Decision } from '../../src/protocol/decision.js';
import type { Kind } from '../../src/protocol/kind.js';
import type { Confirmation, Invocation } from '../../src/protocol/tool.js';
import { engine, shell } from '../helpers/policy.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const ask: Decision = { decision: 'ask', rule: null, reason: 'why' };

function asked(tool: string, kind: Kind, decision = ask): AskedCall {
  const call = { id: '1', wireId: '1', name: tool, args: { a: 1 }, turn: 0 };
  const shown = { displayName: 'List', title: 'List things' };
  return {
    call,
    tool,
    ...shown,
    kind,
    decision,
    invocation: { paths: [] as Invocation['paths'] } as Invocation,
  };
}

const mcp = (server: string, tool: string): Confirmation => ({ type: 'mcp', server, tool });
const info: Confirmation = { type: 'info', description: 'x' };

describe('what an answer about an MCP tool covers', () => {
  const cases: [ApprovalOption, [string, string], boolean][] = [
    ['proceed_always_tool', ['github', 'list'], true],
    ['proceed_always_tool', ['github', 'close'], false],
    ['proceed_always_server', ['github', 'close'], true],
    ['proceed_always_server', ['jira', 'list'], false],
    ['proceed_once', ['github', 'list'], false],
  ];
  test.each(cases)('%s covers %p: %p', (option, [server, tool], covered) => {
    const grants = new Grants();
    const first = asked('mcp:github/list', 'other');
    const grant = grantOf(option, first, mcp('github', 'list'));
    if (grant) grants.add(grant);
    expect(grants.covers(asked(`mcp:${server}/${tool}`, 'other'), mcp(server, tool))).toBe(covered);
  });

  test('an «always» about another tool of kind `other` covers none', () => {
    const grants = new Grants();
    grants.add({ kind: 'other' });
    expect(grants.covers(asked('mcp:github/list', 'other'), mcp('github', 'list'))).toBe(false);
  });
});

test('requests offer what makes sense, and show arguments that the details do not', () => {
  expect(confirmationRequest(asked('mcp:github/list', 'other'), mcp('github', 'list'))).toEqual({
    tool_call_id: '1',
    tool_name: 'mcp:github/list',
    display_name: 'List',
    title: 'List things',
    risk: 'unknown',
    reason: 'why',
    options: [
      { id: 'proceed_once', name: 'Allow once', description: expect.any(String) },
      { id: 'proceed_always_tool', name: 'Always allow this tool', description: expect.any(String) },
      { id: 'proceed_always_server', name: 'Always allow this server', description: expect.any(String) },
      { id: 'cancel', name: 'Deny', description: expect.any(String) },
    ],
    mcp_details: { server_name: 'github', tool_name: 'list' },
    parameters: { a: 1 },
  });
  const { options } = confirmationRequest(asked('discovered_tool_x', 'other'), info);
  expect(options.map(({ id }) => id)).toEqual(['proceed_once', 'proceed_always_tool', 'cancel']);
});

describe('the programs of a line that an «always» is for', () => {
  const cases: [string, readonly string[] | undefined][] = [
    ['git status', ['git']],
    ['git status; npm test | tee', ['git', 'npm', 'tee']],
    ['true && git status', ['true', 'git']],
    ['/bin/rm x', ['/bin/rm']],
    ['sudo rm x', ['sudo rm']],
    ['env A=1 git log', ['env git']],
    ['timeout 5 nice git log', ['timeout nice git']],
    ['bash -c "rm a; ls b"', ['bash rm', 'bash ls']],
    ['find . -exec rm {} +', ['find rm']],
    ['find . -name x', ['find']],
    ['xargs rm', ['xargs rm']],
    ['echo $(curl x)', ['echo', 'curl']],
    ['FOO=1 git log', ['git']],
    // What was seen is not all that would be covered.
    ['PATH=. git log', undefined],
    ['env LD_PRELOAD=./x git log', undefined],
    ['git log > out', undefined],
    ['git log >> out', undefined],
    ['bash -c "git log > out"', undefined],
    ['setsid rm x', undefined],
    ['npx thing', undefined],
    ['ssh host rm', undefined],
    ['f() { git log; }; f', undefined],
  ];
  test.each(cases)('%s: %p', async (line, roots) => {
    const policy = await engine(ws.path(), 'version: 1\nmode: manual\non_ask: defer\n');
    const decision = await shell(policy, line);
    if (decision.decision === 'deny') expect(roots).toBeUndefined();
    else expect(askedRoots(decision)).toEqual(roots);
  });
});
test('the risk is that of the line, of an edit, or of the kind', () => {
  const risk = (kind: Kind, confirmation: Confirmation, paths: Invocation['paths'] = []) =>
    confirmationRequest({ ...asked('x', kind), invocation: { paths } as Invocation }, confirmation).risk;
  const line = { type: 'exec', command: 'x', directory: '.', root_commands: ['x'] } as const;
  expect(risk('execute', { ...line, risk: 'network' })).toBe('network');
  expect(risk('read', mcp('s', 't'))).toBe('reads');
  expect(risk('other', mcp('s', 't'))).toBe('unknown');
  const kinds = {
    ...{ read: 'reads', search: 'reads', think: 'reads', edit: 'writes', delete: 'writes', move: 'writes' },
    ...{ fetch: 'network', execute: 'unknown', other: 'unknown' },
  };
  for (const [kind, expected] of Object.entries(kinds))
    expect([kind, risk(kind as Kind, info)]).toEqual([kind, expected]);
  expect(risk('think', info, [{ path: 'notes.md', access: 'write' }])).toBe('writes');
});

test('modify is offered only where a call can be modified', () => {
  const edit = { type: 'edit', file_path: 'a', old_content: '', new_content: 'x', diff: '' } as const;
  const plain = asked('x', 'edit');
  const modified = () => plain.invocation;
  const able = { ...plain, invocation: { ...plain.invocation, modified } };
  const offered = (call: AskedCall) => confirmationRequest(call, edit).options.map(({ id }) => id);
  expect(offered(plain)).not.toContain('modify');
  expect(offered(able)).toContain('modify');
});
