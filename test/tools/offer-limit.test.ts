import { expect, test } from '@jest/globals';
import { withinLimit } from '../../src/tools/offer-limit.js';
import type { Tool } from '../../src/protocol/tool.js';

const tools = (prefix: string, n: number) =>
  Array.from({ length: n }, (_, i) => ({ name: `${prefix}${i}` }) as Tool);
const names = (list: Iterable<Tool>) => [...list].map(({ name }) => name);

test('what fits is offered', () => {
  const all = [...tools('own', 3), ...tools('mcp:a/', 7)];
  expect(withinLimit(all, 10)).toEqual({ offered: all, leftOut: new Map(), warnings: [] });
});

test('ours stay, small sources keep all, and large ones have the same share, of their first ones', () => {
  const small = tools('mcp:b/', 2);
  const [first, second] = [tools('mcp:a/', 50), tools('discovered_tool_', 40)];
  const own = tools('own', 4);
  const { offered, leftOut, warnings } = withinLimit([...own, ...second, ...first, ...small], 16);
  expect(names(offered)).toEqual(names([...own, ...second.slice(0, 5), ...first.slice(0, 5), ...small]));
  expect(names(leftOut.keys())).toEqual(names([...second.slice(5), ...first.slice(5)]));
  expect(warnings).toEqual([
    expect.stringMatching(/^discovery has 40 tools, .* 16 .*: only the first 5 .*, and 35 are left out/),
    expect.stringMatching(/^MCP server a has 50 tools, .* 16 .*: only the first 5 .*, and 45 are left out/),
  ]);
});
