import { describe, expect, test } from '@jest/globals';
import { TOOL_NAMES } from '../../src/policy/tool-names.js';
import type { Decision } from '../../src/protocol/decision.js';
import { builtinTools } from '../../src/tools/builtin.js';
import { engine, load } from '../helpers/policy.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const policyOf = (body: object) => JSON.stringify({ version: 1, ...body });
const rule = (tool: string, decision: string, more: object = {}) => ({ id: 'r', tool, decision, ...more });

test('policies know every tool that comes with Bosun, and every other name of it', () => {
  const tools = builtinTools({
    workspace: ws.path(),
    environment: {},
    runCommand: () => Promise.reject(new Error('not here')),
    rootCommands: async () => [],
    shellText: async () => undefined,
    timeoutMs: 1,
    idleTimeoutMs: 1,
    admits: () => true,
    outputCap: 1,
  });
  const names = tools.flatMap(({ name, aliases }) => [name, ...aliases]);
  expect([...TOOL_NAMES].sort()).toEqual(names.sort());
});

describe('a tool that the table of names does not know', () => {
  // A tool that reads is allowed in every mode unless something says otherwise.
  const tool = { tool: 'read_stars', kind: 'read', paths: [], params: {} } as const;
  const cases: [string, object, 'allow' | 'ask' | 'deny', boolean][] = [
    ['nothing said', {}, 'allow', true],
    ['a deny of everything', { rules: [rule('*', 'deny')] }, 'deny', false],
    ['a deny by a pattern that fits', { rules: [rule('read_*', 'deny')] }, 'deny', false],
    ['in any case', { rules: [rule('READ_*', 'deny')] }, 'deny', false],
    ['a deny by a pattern that does not fit', { rules: [rule('write_*', 'deny')] }, 'allow', true],
    ['an ask by a pattern', { rules: [rule('re*', 'ask')] }, 'ask', true],
    ['tools.exclude', { tools: { exclude: ['read_*'] } }, 'deny', false],
    ['everything excluded', { mode: 'yolo', tools: { exclude: ['*'] } }, 'deny', false],
    ['tools.offer by a pattern', { mode: 'yolo', tools: { offer: ['read_*'] } }, 'deny', false],
    ['everything offered', { mode: 'yolo', tools: { offer: ['*'] } }, 'deny', false],
  ];
  test.each(cases)('%s', async (_what, body, decision, offered) => {
    const policy = await engine(ws.path(), policyOf(body));
    expect(((await policy.decide(tool)) as Decision).decision).toBe(decision);
    expect(policy.mayOffer({ name: tool.tool, kind: tool.kind })).toBe(offered);
  });

  test('is not allowed by a pattern', async () => {
    const policy = await engine(ws.path(), policyOf({ rules: [rule('*', 'allow')] }));
    expect(await policy.decide({ ...tool, tool: 'run_stars', kind: 'execute' })).toMatchObject({
      decision: 'deny',
      rule: null,
    });
    expect(policy.mayOffer({ name: 'run_stars', kind: 'execute' })).toBe(false);
  });

  test('is denied by path where a pattern fits its name', async () => {
    const denies = rule('read_*', 'deny', { path: ['secret/**'] });
    const policy = await engine(ws.path(), policyOf({ rules: [denies] }));
    const reading = (path: string) => policy.decide({ ...tool, paths: [{ path, access: 'read' }] });
    expect(await reading('secret/a')).toMatchObject({ decision: 'deny' });
    expect(await reading('open/a')).toMatchObject({ decision: 'allow' });
  });
});

test('a pattern that allows still needs a tool that nothing denies', async () => {
  const rules = [rule('read_file', 'deny'), { ...rule('read_f*', 'allow'), id: 'q' }];
  await expect(load(ws.path(), policyOf({ rules }))).rejects.toThrow(/rule `q` can never decide/);
});
