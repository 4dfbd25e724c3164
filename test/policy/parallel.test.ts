import { describe, expect, test } from '@jest/globals';
import { createEngine } from '../../src/policy/engine.js';
import { combineDecisions } from '../../src/policy/combine-decisions.js';
import type { Decision } from '../../src/protocol/decision.js';
import { engine, load, shell, write } from '../helpers/policy.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const rule = (id: string, more: object) => ({ id, decision: 'allow', ...more });
const commands = (id: string, command: string[], more: object = {}) =>
  rule(id, { tool: 'run_shell_command', command, ...more });
const policyOf = (rules: object[], more: object = {}) =>
  engine(ws.path(), JSON.stringify({ version: 1, mode: 'manual', rules, ...more }));

describe('a command line may run beside others', () => {
  const rules = [
    commands('tests', ['npm test'], { parallel: true }),
    commands('look', ['git log']),
    commands('kept', ['npm test -- --once'], { parallel: false }),
    rule('results', { tool: 'write_file', path: ['out/**'], parallel: true }),
    rule('notes', { tool: 'write_file', path: ['notes/**'] }),
  ];
  test.each([
    ['npm test', true],
    ['npm t -- a', true],
    ['npm test && npm test -- a', true],
    ['timeout 60 npm test', true],
    ["bash -c 'npm test && npm test'", true],
    ['set -e; npm test || true', true],
    ['npm test 2>&1 > out/log', true],
    ['npm test < package.json', true],
    // Something in it is not covered by a rule that says so.
    ['npm test && git log', false],
    ['git log', false],
    ["bash -c 'npm test; git log'", false],
    ['npm test > notes/log', false],
    ['true', false],
    // One rule that says no is enough.
    ['npm test -- --once', false],
  ])('%s: %p', async (line, expected) => {
    const { decision, parallel } = await shell(await policyOf(rules), line);
    expect({ decision, parallel: parallel ?? false }).toEqual({ decision: 'allow', parallel: expected });
  });

  test('by a rule for all commands, and by one that asks', async () => {
    const all = await policyOf([rule('all', { tool: 'run_shell_command', parallel: true })]);
    expect(await shell(all, 'npm test | tee log')).toMatchObject({ decision: 'allow', parallel: true });
    const asks = await policyOf([commands('a', ['npm test'], { decision: 'ask', parallel: true })]);
    expect(await shell(asks, 'npm test')).toMatchObject({ decision: 'ask', parallel: true });
    expect(await shell(asks, 'npm run x')).not.toHaveProperty('parallel');
  });
});

describe('a tool from elsewhere may run beside others', () => {
  const decide = async (policy: object, tool: string, claimsToRead?: true) => {
    const document = await load(ws.path(), JSON.stringify({ version: 1, mode: 'yolo', ...policy }));
    const settings = { workspace: ws.path(), writeProtected: [], home: undefined, untrusted: false };
    const request = {
      tool,
      kind: 'other',
      paths: [],
      params: {},
      ...(claimsToRead && { claimsToRead }),
    } as const;
    return ((await createEngine(document, settings).decide(request)) as Decision).parallel ?? false;
  };
  const server = (more: object) => ({ mcp: { servers: { s: { command: ['x'], ...more } } } });
  const discovery = (more: object) => ({ discovery: { list: ['x'], call: ['y'], ...more } });

  test.each<[string, object, string, true | undefined, boolean]>([
    ['nothing is said', server({}), 'mcp:s/t', undefined, false],
    ['by its server', server({ parallel: true }), 'mcp:s/t', undefined, true],
    ['by its claim, if trusted', server({ trust: true }), 'mcp:s/t', true, true],
    ['not by its claim alone', server({}), 'mcp:s/t', true, false],
    ['not by trust alone', server({ trust: true }), 'mcp:s/t', undefined, false],
    [
      'not by a claim that the policy overrules',
      server({ trust: true, parallel: false }),
      'mcp:s/t',
      true,
      false,
    ],
    [
      'by a rule',
      { ...server({}), rules: [rule('r', { tool: 'mcp:s/t', parallel: true })] },
      'mcp:s/t',
      undefined,
      true,
    ],
    [
      'not by a rule for another',
      { ...server({}), rules: [rule('r', { tool: 'mcp:s/u', parallel: true })] },
      'mcp:s/t',
      undefined,
      false,
    ],
    [
      'not where a rule says no',
      { ...server({ parallel: true }), rules: [rule('r', { tool: 'mcp:s/t', parallel: false })] },
      'mcp:s/t',
      undefined,
      false,
    ],
    ['by discovery', discovery({ parallel: true }), 'discovered_tool_t', undefined, true],
    ['not without it', discovery({}), 'discovered_tool_t', undefined, false],
  ])('%s', async (_, policy, tool, claims, expected) => {
    expect(await decide(policy, tool, claims)).toBe(expected);
  });
});

test('edits by a rule of theirs', async () => {
  const policy = await policyOf([rule('r', { tool: 'write_file', path: ['src/**'], parallel: true })]);
  expect(await write(policy, 'src/a')).toMatchObject({ decision: 'allow', parallel: true });
  expect(await write(policy, 'lib/a')).not.toHaveProperty('parallel');
});

test('of several policies all must say so', () => {
  const yes: Decision = { decision: 'allow', rule: null, reason: 'r', parallel: true };
  const { parallel: _, ...silent } = yes;
  expect(combineDecisions([yes, yes])).toHaveProperty('parallel', true);
  expect(combineDecisions([yes, silent])).not.toHaveProperty('parallel');
  expect(combineDecisions([silent, yes])).not.toHaveProperty('parallel');
});

test('a rule that denies has nothing to say about it', async () => {
  const denying = policyOf([commands('no', ['rm'], { decision: 'deny', parallel: true })]);
  await expect(denying).rejects.toThrow(/policy\.yaml:1:\d+: `parallel` makes no sense for denied calls/);
});
