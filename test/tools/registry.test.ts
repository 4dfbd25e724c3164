import { expect, test } from '@jest/globals';
import { Redactor } from '../../src/lib/redact/redactor.js';
import { createOffer } from '../../src/tools/offer.js';
import type { Policy } from '../../src/protocol/decision.js';
import type { Tool } from '../../src/protocol/tool.js';
import { createRegistry } from '../../src/tools/registry.js';
import { serverTools } from '../../src/tools/mcp/tool.js';
import { within } from '../helpers/bounds.js';

function tool(name: string, aliases: readonly string[] = []): Tool {
  const build = async () => ({ ok: false, error: { type: 'unknown', message: '' } }) as const;
  const parameters = { type: 'object' };
  return {
    name,
    displayName: name,
    kind: 'other',
    description: name,
    aliases,
    parameters,
    prepare: () => {},
    build,
  };
}

function filled(...names: readonly string[]) {
  const registry = createRegistry([tool('read_file', ['cat'])]);
  registry.replace(
    'all',
    names.map((name) => tool(name)),
  );
  return registry;
}

test('tools are found by their own name, by the name on the wire, and by their bare name if that is clear', () => {
  const registry = filled('mcp:a/echo', 'mcp:a/both', 'mcp:b/both', 'mcp:a/read_file', 'discovered_tool_x');
  const found = (name: string) => registry.find(name)?.name;
  expect(found('mcp:a/echo')).toBe('mcp:a/echo');
  expect(found('a__echo')).toBe('mcp:a/echo');
  expect(found('echo')).toBe('mcp:a/echo');
  expect(found('both')).toBeUndefined();
  expect(found('b__both')).toBe('mcp:b/both');
  expect(found('read_file')).toBe('read_file');
  expect(found('a__read_file')).toBe('mcp:a/read_file');
  expect(found('cat')).toBe('read_file');
  expect(found('discovered_tool_x')).toBe('discovered_tool_x');
});

test('tools are ordered by where they come from: ours, discovered ones, servers by their names', () => {
  const registry = createRegistry([tool('read_file')]);
  registry.replace('mcp:zebra', [tool('mcp:zebra/b'), tool('mcp:zebra/a')]);
  registry.replace('mcp:ape', [tool('mcp:ape/x')]);
  registry.replace('discovery', [tool('discovered_tool_y')]);
  registry.replace('mcp:ape', [tool('mcp:ape/z')]);
  expect(registry.tools.map(({ name }) => name)).toEqual([
    ...['read_file', 'discovered_tool_y', 'mcp:ape/z', 'mcp:zebra/b', 'mcp:zebra/a'],
  ]);
});

test('whatever tools are called, each has a name on the wire that no other has', () => {
  const long = 'x'.repeat(80);
  const names = [
    ...[
      'mcp:a/b c',
      'mcp:a/b/c',
      'mcp:a/b_c',
      'mcp:a/ä',
      'mcp:a/',
      `mcp:a/${long}`,
      `mcp:a/${long}y`,
      'mcp:1/x',
    ],
    // The same once they are put together.
    ...['mcp:discovered_tool_a/b', 'discovered_tool_a__b', 'discovered_tool_a b'],
  ];
  const registry = filled(...names);
  const wire = registry.tools.map((one) => registry.wireName(one));
  expect(new Set(wire).size).toBe(names.length + 1);
  for (const [i, name] of wire.entries()) {
    expect(name).toMatch(/^[A-Za-z_][\w-]{0,63}$/);
    expect(registry.find(name)).toBe(registry.tools[i]);
  }
});

test('a source that has other tools now has only those', () => {
  const registry = filled('mcp:a/old');
  registry.replace('all', [tool('mcp:a/new')]);
  expect(registry.find('mcp:a/old')).toBeUndefined();
  expect(registry.tools.map(({ name }) => name)).toEqual(['read_file', 'mcp:a/new']);
});

test('two tools of ours by one name are a bug', () => {
  expect(() => createRegistry([tool('x'), tool('y', ['x'])])).toThrow('two tools are called x');
});

test('400 tools cost little processor time before the first request', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 10 }, (_, k) => [
      `p${k}`,
      { type: ['string', 'null'], description: `Parameter ${k}` },
    ]),
  );
  const inputSchema = { type: 'object', properties, required: ['p0'] };
  const declared = Array.from({ length: 400 }, (_, i) => ({ name: `tool_${i}`, inputSchema }));
  const call = async () => ({ ok: true, result: {} }) as const;
  const server = { call, ask: call, hasResources: () => false };
  const policy = { mayOffer: () => true, describe: () => undefined } as unknown as Policy;
  const source = { name: 's', server, isReadOnly: () => false };
  const { value: redact } = new Redactor({ secrets: () => [] });
  const settings = { isPossible: () => true, redact, onWarning: () => {} };
  const offer = () => {
    const registry = createRegistry([]);
    registry.replace('s', serverTools(source, declared).tools);
    return JSON.stringify(createOffer(registry, policy, settings).declarations());
  };
  expect(offer().match(/"s__tool_/g)).toHaveLength(400);
  // Warm by now.
  expect(within(150, offer)).toContain('"s__tool_0"');
});
