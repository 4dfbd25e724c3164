import { describe, expect, test } from '@jest/globals';
import { call, text, type Script } from '../helpers/gemini-server.mjs';
import { EVERYTHING, FILESYSTEM, policyWith } from '../helpers/mcp.js';
import { eventsOf, ofType, resultOf } from '../helpers/run-cli.js';
import { bosunUnder, offeredBy } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const everything = { command: [process.execPath, EVERYTHING, 'stdio'], include_tools: ['*_mcp_resource*'] };
const TEXT = 'demo://resource/dynamic/text/1';
const BLOB = 'demo://resource/dynamic/blob/2';
const calling = (...calls: readonly (readonly [string, object])[]): Script => [
  { parts: calls.map(([name, args], i) => call(name, args, { id: `c${i}` })) },
  done,
];
const results = (place: Parameters<typeof eventsOf>[0]) =>
  ofType(eventsOf(place), 'tool_result').toSorted((a, b) => (a.tool_id < b.tool_id ? -1 : 1));

describe('the resources of a real server', () => {
  test('are listed and read, in plan mode too where the server is trusted', async () => {
    const policy = policyWith({ everything: { ...everything, trust: true } }, { mode: 'plan' });
    const script = calling(
      ['list_mcp_resources', {}],
      ['read_mcp_resource', { uri: TEXT }],
      ['read_mcp_resource', { uri: BLOB }],
      ['everything__read_mcp_resource', { uri: 'demo://nowhere' }],
      ['read_mcp_resource', {}],
    );
    const { code, server, place } = await bosunUnder(policy, script);
    expect(code).toBe(0);
    expect(offeredBy(server)).toEqual(expect.arrayContaining(['list_mcp_resources', 'read_mcp_resource']));
    const [list, read, blob, none, wrong] = results(place);
    expect(list?.output).toMatch(/^The MCP server everything has \d+ resources\.\n- demo:\/\//);
    expect(list?.output).toContain(
      'Templates of further addresses:\n- demo://resource/dynamic/text/{resourceId} (',
    );
    expect(read?.output).toMatch(
      /^\[resource demo:\/\/resource\/dynamic\/text\/1\]\n[\s\S]+\n\[end of the resource\]$/,
    );
    expect(blob?.output).toContain(`resource ${BLOB}`);
    expect(none?.error).toMatchObject({ type: 'mcp_tool_error' });
    expect(none?.error?.message).toContain('MCP server everything: ');
    expect(wrong?.error).toMatchObject({ type: 'invalid_tool_params' });
    const uses = ofType(eventsOf(place), 'tool_use');
    expect(uses[0]).toMatchObject({ tool_name: 'mcp:everything/list_mcp_resources', kind: 'read' });
  });

  test('follow what the policy says of the server', async () => {
    const read: Script = calling(['read_mcp_resource', { uri: TEXT }]);
    const rule = { id: 'r', tool: 'mcp:everything/read_mcp_resource', reason: 'x' };
    const denied = await bosunUnder(
      policyWith({ everything: { ...everything, trust: true } }, { rules: [{ ...rule, decision: 'deny' }] }),
      read,
    );
    expect(results(denied.place)[0]?.error).toMatchObject({ type: 'policy_denied' });
    expect(resultOf(denied.place).exit_code).toBe(3);
    expect(offeredBy(denied.server)).not.toContain('read_mcp_resource');

    const untrusted = await bosunUnder(
      policyWith(
        { everything },
        { rules: [{ ...rule, tool: 'mcp:everything/list_mcp_resources', decision: 'allow' }] },
      ),
      read,
    );
    expect(results(untrusted.place)[0]?.error).toMatchObject({ type: 'policy_denied' });
    const declared = await bosunUnder(
      policyWith({ everything: { ...everything, read_only_tools: ['read_mcp_resource'] } }),
      read,
    );
    expect(results(declared.place)[0]).toMatchObject({ status: 'success' });
  });

  test('have qualified names where two servers have some, and none where a server has none', async () => {
    const two = await bosunUnder(
      policyWith({ a: { ...everything, trust: true }, b: { ...everything, trust: true } }),
      calling(['b__read_mcp_resource', { uri: TEXT }], ['read_mcp_resource', { uri: TEXT }]),
    );
    expect(offeredBy(two.server)).toEqual(
      expect.arrayContaining(['a__list_mcp_resources', 'a__read_mcp_resource', 'b__read_mcp_resource']),
    );
    expect(results(two.place).map(({ error }) => error?.type)).toEqual([undefined, 'tool_not_registered']);
    const files = { command: [process.execPath, FILESYSTEM, '.'], trust: true };
    const { server } = await bosunUnder(policyWith({ files }), [done]);
    expect(offeredBy(server).filter((name) => name.includes('resource'))).toEqual([]);
  });
});
