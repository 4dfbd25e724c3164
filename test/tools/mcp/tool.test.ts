import { describe, expect, test } from '@jest/globals';
import { serverTools } from '../../../src/tools/mcp/tool.js';
import { callTool, errorOf, invocationOf } from '../../helpers/call-tool.js';

const server = {
  hasResources: () => false,
  ask: async () => ({ ok: true, result: {} }) as const,
  call: async (tool: string, args: object) =>
    ({ ok: true, result: { content: [{ type: 'text', text: tool }], args } }) as const,
};
const source = { name: 's', server, isReadOnly: (tool: string) => tool === 'look' };
const listed = (...declared: readonly unknown[]) => serverTools(source, declared);

test.each([
  ['nothing', null],
  ['a word', 'tool'],
  ['a list', []],
  ['no name', { description: 'x' }],
  ['an empty name', { name: '' }],
  ['a number for a name', { name: 7 }],
  ['a name without an end', { name: 'x'.repeat(10_000) }],
  ['a schema that is a word', { name: 'x', inputSchema: 'object' }],
  ['a schema of a list', { name: 'x', inputSchema: { type: 'array' } }],
  [
    'a schema without an end',
    { name: 'x', inputSchema: { type: 'object', examples: Array(20_000).fill(0) } },
  ],
])('a tool that is %s is left out with a word', (_what, declared) => {
  const { tools, warnings } = listed(declared, { name: 'good' });
  expect(tools.map(({ name }) => name)).toEqual(['mcp:s/good']);
  expect(warnings).toEqual([expect.stringMatching(/^MCP server s: .{5,200}$/)]);
});

test.each([
  ['no schema', { inputSchema: undefined }],
  ['null for a schema', { inputSchema: null }],
  ['nonsense about itself', { annotations: 'x', title: {}, description: 7, icons: 3 }],
  ['null about itself', { annotations: null, title: null, description: null }],
])('a tool with %s is taken', (_what, more) => {
  const { tools, warnings } = listed({ name: 'x', ...more });
  expect(warnings).toEqual([]);
  expect(tools[0]).toMatchObject({ name: 'mcp:s/x', displayName: 'x', parameters: { type: 'object' } });
});

test('what a tool says of itself is told as a claim, its text is cleaned and bounded, and its kind is the policy’s', () => {
  const annotations = { readOnlyHint: true, destructiveHint: true, openWorldHint: false };
  const description = `\u001b[31mred\u0000 ${'x'.repeat(20_000)}`;
  const { tools } = listed({ name: 'change', annotations, description }, { name: 'look' });
  expect(tools.map(({ kind }) => kind)).toEqual(['other', 'read']);
  expect(tools[0]?.description).toMatch(
    /^red x+\n\nFrom the MCP server s\. By its own account: it only reads; it may destroy something\.$/,
  );
  expect(tools[0]?.description.length).toBeLessThan(9000);
});

test('arguments are checked by the schema that the model was told, and a call asks for confirmation by server and tool', async () => {
  const inputSchema = { type: 'object', properties: { n: { type: ['integer', 'null'] } }, required: ['n'] };
  const [tool] = listed({ name: 'x', inputSchema }).tools;
  if (!tool) throw new Error('no tool');
  expect(errorOf(await callTool(tool, {}))).toMatchObject({
    type: 'invalid_tool_params',
    message: expect.stringContaining('`n` is missing'),
  });
  expect(errorOf(await callTool(tool, [])).message).toContain('must be an object');
  expect(await callTool(tool, { n: null })).toEqual({ ok: true, content: 'x' });
  const invocation = await invocationOf(tool, { n: 1 });
  expect(await invocation.confirmation()).toEqual({ type: 'mcp', server: 's', tool: 'x' });
  expect(invocation.describe()).toBe('s: x');
});

describe('a server with very many tools', () => {
  const many = Array.from({ length: 6000 }, (_, i) => ({ name: `t${i}` }));

  test('has the first of them looked at; of the others the names are known', async () => {
    const { tools, warnings } = listed(...many, null, { name: 7 }, { name: 't1' });
    expect(tools).toHaveLength(6000);
    expect(tools.filter(({ unavailable }) => unavailable).map(({ name }) => name)).toEqual(
      many.slice(5000).map(({ name }) => `mcp:s/${name}`),
    );
    expect(warnings).toEqual(['MCP server s: it has 6003 tools, of which only the first 5000 are used']);
    expect(await tools[5999]?.build({})).toEqual({
      ok: false,
      error: {
        type: 'tool_not_registered',
        message: expect.stringMatching(/^mcp:s\/t5999 cannot be called: MCP server s has 6003 tools/),
      },
    });
  });

  test('says of the same fault a few times only that it is there', () => {
    const { warnings } = listed(...many.slice(0, 200).map(() => ({ name: '' })));
    expect(warnings).toHaveLength(51);
    expect(warnings.at(-1)).toBe('150 more warnings are not shown');
  });
});
