import { describe, expect, test } from '@jest/globals';
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sampled } from '../helpers/counts.js';
import { call, text, type Script } from '../helpers/gemini-server.mjs';
import { runUnder } from '../helpers/in-process.js';
import { behaving, EVERYTHING, FILESYSTEM, policyWith } from '../helpers/mcp.js';
import { eventsOf, ofType, resultOf, runCli, serverEnv, type Scratch } from '../helpers/run-cli.js';
import { bosunUnder, offeredBy, place, type Server } from '../helpers/served.js';
import type { ListedTool } from '../../src/tools/listing.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const calling = (...calls: readonly (readonly [string, object])[]): Script => [
  { parts: calls.map(([name, args], i) => call(name, args, { id: `c${i}` })) },
  done,
];
const everything = { command: [process.execPath, EVERYTHING, 'stdio'] };

/** The parts that answered the first turn's calls. */
function responses(server: Server) {
  return server.requests[1]?.body.contents.at(-1).parts;
}

function serversOf(where: Scratch) {
  return ofType(eventsOf(where), 'init')[0]?.mcp_servers;
}

describe('a real server over stdio', () => {
  test('is offered under qualified names, called, and told in the transcript by its policy name', async () => {
    const script = calling(
      ['everything__echo', { message: 'ahoy' }],
      ['everything__get-tiny-image', {}],
      ['everything__get-structured-content', { location: 'Chicago' }],
      ['everything__get-sum', { a: 2, b: 'three' }],
      ['everything__get-roots-list', {}],
    );
    const policy = policyWith({ everything: { ...everything, trust: true } });
    const { code, server, place: where, stdout } = await bosunUnder(policy, script);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Done.\n' });
    expect(offeredBy(server)).toEqual(expect.arrayContaining(['read_file', 'everything__echo']));

    const [echo, image, structured, sum, roots, ...media] = responses(server);
    expect(echo.functionResponse).toEqual({
      id: 'c0',
      name: 'everything__echo',
      response: { output: 'Echo: ahoy' },
    });
    expect(image.functionResponse.response.output).toContain('[image: image/png, attached]');
    expect(media[0]).toEqual({ text: '[1] call 2, everything__get-tiny-image' });
    expect(media[1].inlineData.mimeType).toBe('image/png');
    expect(JSON.parse(structured.functionResponse.response.output)).toHaveProperty('temperature');
    expect(sum.functionResponse.response).toMatchObject({
      type: 'invalid_tool_params',
      error: expect.stringContaining('`b` must be a number'),
    });
    expect(roots.functionResponse.response.output).toContain(`file://${realpathSync(where.workspace)}`);

    const events = eventsOf(where);
    expect(serversOf(where)).toEqual([
      {
        name: 'everything',
        status: 'connected',
        tools: expect.any(Number),
        latency_ms: expect.any(Number),
      },
    ]);
    expect(ofType(events, 'init')[0]?.tools).toContain('mcp:everything/echo');
    expect(ofType(events, 'tool_use').map((use) => [use.tool_name, use.kind])[0]).toEqual([
      'mcp:everything/echo',
      'other',
    ]);
    expect(ofType(events, 'policy_decision')[0]).toMatchObject({
      decision: 'allow',
      rule: null,
      reason: 'the policy trusts server everything',
    });
    expect(resultOf(where).stats.tools).toHaveProperty(['mcp:everything/echo']);
  });

  test('shares names with our own tools, and neither is lost', async () => {
    const where = place({ 'a.txt': 'alpha\n' });
    const root = realpathSync(where.workspace);
    const filesystem = { command: [process.execPath, FILESYSTEM, root], read_only_tools: ['read_*'] };
    const rules = [{ id: 'write', tool: 'mcp:filesystem/write_file', decision: 'allow' }];
    const script = calling(
      ['filesystem__read_file', { path: join(root, 'a.txt') }],
      ['read_file', { file_path: 'a.txt' }],
      ['filesystem__write_file', { path: join(root, 'b.txt'), content: 'beta\n' }],
      ['filesystem__move_file', { source: join(root, 'a.txt'), destination: join(root, 'c.txt') }],
      ['filesystem__read_text_file', { path: '/etc/passwd' }],
    );
    const { code, server } = await runUnder(policyWith({ filesystem }, { rules }), script, {}, where);
    // In mode plan what is not read-only, trusted or allowed by a rule is not even offered.
    expect(offeredBy(server)).toEqual(
      expect.arrayContaining(['read_file', 'filesystem__read_file', 'filesystem__write_file']),
    );
    expect(offeredBy(server)).not.toContain('filesystem__move_file');
    const [theirs, ours, written, moved, outside] = responses(server).map(
      (part: { functionResponse: { response: object } }) => part.functionResponse.response,
    );
    expect(theirs.output).toBe('alpha\n');
    expect(ours.output).toContain('alpha');
    expect(written.output).toContain('Successfully');
    expect(existsSync(join(root, 'b.txt'))).toBe(true);
    expect(moved.type).toBe('policy_denied');
    expect(existsSync(join(root, 'a.txt'))).toBe(true);
    expect(outside).toMatchObject({ type: 'mcp_tool_error', error: expect.stringContaining('denied') });
    expect(code).toBe(3);
  });

  test('progress keeps a long call alive, and is shown live', async () => {
    const args = { duration: 1, steps: 4 };
    const servers = { everything: { ...everything, trust: true, idle_timeout: '900ms', timeout: '20s' } };
    const script = calling(['everything__trigger-long-running-operation', args]);
    const { place: where } = await bosunUnder(policyWith(servers), script, ['--include-tool-output']);
    expect(ofType(eventsOf(where), 'tool_result')[0]).toMatchObject({ status: 'success' });
    expect(
      ofType(eventsOf(where), 'tool_output')
        .map(({ content }) => content)
        .join(''),
    ).toMatch(/\d\/4/);
  });
});

describe('a policy decides about servers and their tools', () => {
  const decisions: [string, object, object, string, string][] = [
    ['nothing said in mode manual', { mode: 'manual' }, { trust: false }, 'ask', 'approval_denied'],
    ['yolo', { mode: 'yolo' }, { trust: false }, 'allow', ''],
    ['an allow rule in mode plan', { rules: [rule('mcp:s/*', 'allow')] }, { trust: false }, 'allow', ''],
    ['the qualified name in a rule', { rules: [rule('s__echo', 'allow')] }, { trust: false }, 'allow', ''],
    ['trust', {}, {}, 'allow', ''],
    ['a deny over trust', { rules: [rule('mcp:s/echo', 'deny')] }, {}, 'deny', 'policy_denied'],
    ['an ask over trust', { rules: [rule('mcp:*', 'ask')] }, {}, 'ask', 'approval_denied'],
    ['a deny by another case', { rules: [rule('mcp:s/ECHO', 'deny')] }, {}, 'deny', 'policy_denied'],
    ['exclude_tools', {}, { exclude_tools: ['e*'] }, 'deny', 'policy_denied'],
    ['include_tools', {}, { include_tools: ['other'] }, 'deny', 'policy_denied'],
    ['tools.exclude', { tools: { exclude: ['mcp:s/echo'] } }, {}, 'deny', 'policy_denied'],
    ['tools.offer', { tools: { offer: ['read_file', 'mcp:s/oth*'] } }, {}, 'deny', 'policy_denied'],
    ['a star in tools.offer', { tools: { offer: ['*'] } }, {}, 'allow', ''],
  ];
  sampled.each(decisions)('%s', async (_what, policy, server, decision, error) => {
    const servers = { s: behaving('well', { ...server }) };
    const run = await runUnder(policyWith(servers, { ...policy }), calling(['s__echo', { text: 'x' }]));
    const events = eventsOf(run.place);
    expect(ofType(events, 'policy_decision')[0]?.decision).toBe(decision);
    const { type, output } = responses(run.server)[0].functionResponse.response;
    if (error) expect(type).toBe(error);
    else expect(output).toContain('echo: {"text":"x"}');
    expect(run.code).toBe(error ? 3 : 0);
    expect(offeredBy(run.server)?.includes('s__echo')).toBe(decision !== 'deny');
  });

  function rule(tool: string, decision: string) {
    return { id: 'r', tool, decision };
  }

  test('what a tool says of itself decides nothing', async () => {
    const servers = { s: behaving('claims', { trust: false, read_only_tools: ['look'] }) };
    const script = calling(['s__look', {}], ['s__LOOK', {}], ['s__change', {}]);
    const { server, place: where } = await runUnder(policyWith(servers), script);
    expect(offeredBy(server)?.filter((name) => name.startsWith('s__'))).toEqual(['s__look']);
    const declared = server.requests[0]?.body.tools[0].functionDeclarations.at(-1);
    expect(declared.description).toContain('By its own account: it only reads.');
    expect(ofType(eventsOf(where), 'tool_result').map(({ status }) => status)).toEqual([
      'success',
      'error',
      'error',
    ]);
    expect(ofType(eventsOf(where), 'tool_use').map(({ kind }) => kind)).toEqual(['read', 'other', 'other']);
  });

  test('a server of which nothing could ever be called is not started', async () => {
    const servers = { s: { command: ['no-such-program'] }, t: behaving('well') };
    const { code, place: where } = await runUnder(policyWith(servers), [done]);
    expect(code).toBe(0);
    expect(serversOf(where)).toMatchObject([
      { name: 's', status: 'skipped', tools: 0, latency_ms: 0 },
      { name: 't', status: 'connected', tools: 2 },
    ]);
  });
});

describe('a server that is not there', () => {
  const absent: [string, object, RegExp][] = [
    ['no such program', { command: ['no-such-program'], trust: true }, /no-such-program/],
    ['dies at once', behaving('dies'), /exit code 7.*cannot find my key/s],
    ['never answers', behaving('hang', { connect_timeout: '1500ms' }), /no answer within 1\.5 s/],
    ['nobody listens', { url: 'http://127.0.0.1:9/mcp', trust: true }, /ECONNREFUSED|bad port/],
  ];
  sampled.each(absent)('%s: the run ends before the first request', async (_what, server, message) => {
    const { code, server: model, place: where } = await runUnder(policyWith({ s: server }), [done]);
    expect(code).toBe(12);
    expect(model.requests).toHaveLength(0);
    expect(resultOf(where)).toMatchObject({
      status: 'tool_infra_error',
      error: { code: 'mcp_server', message: expect.stringMatching(message) },
    });
    expect(serversOf(where)).toMatchObject([{ name: 's', status: 'failed', tools: 0 }]);
  });

  sampled.each(absent)('%s, but not needed: the run goes on and says so', async (_what, server, message) => {
    const servers = { s: { ...server, required: false }, t: behaving('well') };
    const run = await runUnder(policyWith(servers), calling(['t__echo', {}]));
    expect(run.code).toBe(0);
    expect(serversOf(run.place)).toMatchObject([
      { name: 's', status: 'failed', error: expect.stringMatching(message) },
      { name: 't', status: 'connected' },
    ]);
    expect(resultOf(run.place).warnings[0]).toMatch(message);
  });
});

describe('a policy that cannot be right is exit 2', () => {
  const server = { command: ['x'] };
  const cases: [string, string, RegExp][] = [
    [
      'an unknown server in a rule',
      'rules:\n  - {id: a, tool: "mcp:githb/*", decision: ask}\nmcp: {servers: {github: {command: [x]}}}',
      /policy\.yaml:3:\d+: .*no MCP server `githb` \(did you mean `github`\?\)/,
    ],
    [
      'an unknown server in tools.exclude',
      'tools: {exclude: ["githb__x"]}\nmcp: {servers: {github: {command: [x]}}}',
      /policy\.yaml:2:\d+: .*did you mean `github`/,
    ],
    [
      'a server as a whole',
      'rules: [{id: a, tool: "mcp:s", decision: ask}]\nmcp: {servers: {s: {command: [x]}}}',
      /write `mcp:s\/\*`/,
    ],
    ['a tool of no discovery', 'rules: [{id: a, tool: discovered_tool_x, decision: ask}]', /no `discovery`/],
    [
      'an odd name',
      'mcp: {servers: {a__b: {command: [x]}}}',
      /policy\.yaml:2:\d+: `a__b` is not a valid server name/,
    ],
    ['neither a command nor a url', 'mcp: {servers: {s: {required: true}}}', /needs a `command` or a `url`/],
    ['both', 'mcp: {servers: {s: {command: [x], url: "http://x"}}}', /both/],
    ['an unknown key', 'mcp: {servers: {s: {comand: [x]}}}', /did you mean `command`/],
    ['a bare number of seconds', 'mcp: {servers: {s: {command: [x], timeout: 60}}}', /timeout/],
    ['half a discovery', 'discovery: {list: [x]}', /`discovery\.call` is missing/],
    [
      'a variable that is not set',
      'mode: yolo\nmcp: {servers: {s: {url: "http://127.0.0.1:9", headers: {Authorization: "Bearer ${NO_SUCH_TOKEN}"}}}}',
      /policy\.yaml:3:\d+: .*NO_SUCH_TOKEN/,
    ],
  ];
  sampled.each(cases)('%s', async (_what, body, message) => {
    const { code, stderr, server: model } = await bosunUnder(`version: 1\n${body}\n`, [done]);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
    expect(model.requests).toHaveLength(0);
  });

  test('two policies that mean different servers by one name', async () => {
    const where = place();
    writeFileSync(join(where.root, 'other.yaml'), policyWith({ s: { command: ['y'] } }));
    const args = ['--policy', join(where.root, 'other.yaml')];
    const { code, stderr } = await bosunUnder(policyWith({ s: server }), [done], args, where);
    expect(stderr).toMatch(/server `s` is declared differently in/);
    expect(code).toBe(2);
  });
});

describe('without asking a server', () => {
  const policy = policyWith(
    { s: { command: ['no-such-program'], exclude_tools: ['drop'], read_only_tools: ['get_*'] } },
    { rules: [{ id: 'issues', tool: 'mcp:s/issue_*', decision: 'ask' }] },
  );
  const cases: [string, number, object][] = [
    ['mcp:s/issue_open', 4, { decision: 'ask', rule: { id: 'issues' } }],
    ['s__issue_open', 4, { decision: 'ask', rule: { id: 'issues' } }],
    ['mcp:s/get_it', 0, { decision: 'allow', default: 'plan' }],
    ['mcp:s/drop', 3, { decision: 'deny', reason: 'exclude_tools of server s names it' }],
    ['mcp:s/else', 3, { decision: 'deny', default: 'plan' }],
    ['mcp:t/x', 3, { decision: 'deny', error: 'tool_not_registered' }],
    ['discovered_tool_x', 3, { decision: 'deny', error: 'tool_not_registered' }],
  ];
  sampled.each(cases)('policy check decides about %s', async (tool, exit, expected) => {
    const where = place();
    const file = join(where.root, 'policy.yaml');
    writeFileSync(file, policy);
    const { code, stdout } = await runCli([
      'policy',
      'check',
      '--policy',
      file,
      '--tool',
      tool,
      '--args',
      '{}',
    ]);
    expect(JSON.parse(stdout)).toMatchObject(expected);
    expect(code).toBe(exit);
  });
});

test('bosun tools shows where tools come from, what becomes of them, and how they are sent', async () => {
  const where = place();
  const file = join(where.root, 'policy.yaml');
  writeFileSync(file, policyWith({ s: behaving('names') }));
  const env = serverEnv({ url: '' }, where);
  const { code, stdout } = await runCli(['tools', '--policy', file, '-C', where.workspace, '--json'], {
    env,
  });
  expect(code).toBe(0);
  const tools = JSON.parse(stdout) as ListedTool[];
  expect(tools.find(({ name }) => name === 'mcp:s/read_file')).toMatchObject({
    source: 'mcp',
    server: 's',
    kind: 'other',
    decision: 'allow',
    offered: true,
    wire_name: 's__read_file',
    parameters: { type: 'object', properties: { text: { type: 'string' } } },
  });
  const wire = tools.map((tool) => tool.wire_name);
  expect(new Set(wire).size).toBe(wire.length);
  for (const name of wire) expect(name).toMatch(/^[A-Za-z_][\w-]{0,63}$/);
  expect(tools.filter(({ source }) => source === 'builtin').length).toBeGreaterThan(8);
});
