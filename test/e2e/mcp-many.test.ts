import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { call, text } from '../helpers/gemini-server.mjs';
import { behaving, policyWith } from '../helpers/mcp.js';
import { cleanEnv, eventsOf, ofType, resultOf, runCli } from '../helpers/run-cli.js';
import { bosunUnder, offeredBy, place } from '../helpers/served.js';
import type { ListedTool } from '../../src/tools/listing.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const policy = policyWith({ large: behaving('many', '700'), small: behaving('well') });

test('a run offers at most 512 tools, says what is left out, and answers a call of it', async () => {
  const script = [
    { parts: [call('large__tool_699', { p0: 'x' }), call('large__tool_0', { p0: 'x' })] },
    done,
  ];
  const { code, server, place: where, stderr } = await bosunUnder(policy, script);
  expect(code).toBe(0);
  const offered = offeredBy(server);
  expect(offered).toHaveLength(512);
  expect(offered).toEqual(expect.arrayContaining(['read_file', 'small__echo', 'small__other']));
  const large = offered.filter((name) => name.startsWith('large__'));
  expect(large).toEqual(Array.from({ length: large.length }, (_, i) => `large__tool_${i}`));
  const [left, taken] = ofType(eventsOf(where), 'tool_result');
  expect(left?.error).toEqual({
    type: 'tool_not_registered',
    message: `mcp:large/tool_699 cannot be called: MCP server large has 700 tools, more than the 512 that a run can offer: only the first ${large.length} of them are offered.`,
  });
  expect(taken?.status).toBe('success');
  const warning = `and ${700 - large.length} are left out; choose with include_tools`;
  expect(resultOf(where).warnings).toEqual([expect.stringContaining(warning)]);
  expect(stderr).toContain(warning);
  expect(ofType(eventsOf(where), 'init')[0]).toMatchObject({
    mcp_servers: [
      { name: 'large', tools: 700 },
      { name: 'small', tools: 2 },
    ],
  });
});

test('include_tools chooses which', async () => {
  const chosen = policyWith({ large: behaving('many', '700', { include_tools: ['tool_69*'] }) });
  const script = [{ parts: [call('large__tool_699', { p0: 'x' })] }, done];
  const { server, place: where } = await bosunUnder(chosen, script);
  expect(offeredBy(server).filter((name) => name.startsWith('large__'))).toHaveLength(11);
  expect(ofType(eventsOf(where), 'tool_result')[0]?.status).toBe('success');
  expect(resultOf(where).warnings).toEqual([]);
});

test('bosun tools shows the same', async () => {
  const where = place();
  const file = join(where.root, 'policy.yaml');
  writeFileSync(file, policy);
  const listed = await runCli(['tools', '--policy', file, '--json'], {
    cwd: where.workspace,
    env: cleanEnv(where.home),
  });
  const tools = JSON.parse(listed.stdout) as ListedTool[];
  expect(tools.filter(({ offered }) => offered)).toHaveLength(512);
  expect(tools.filter(({ server }) => server === 'large')).toHaveLength(700);
  expect(listed.stderr).toContain('are left out');
});
