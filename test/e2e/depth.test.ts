import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { sampled } from '../helpers/counts.js';
import { forge } from '../helpers/forge.js';
import { call, text, type Reply } from '../helpers/gemini-server.mjs';
import { runUnder } from '../helpers/in-process.js';
import { behaving, policyWith } from '../helpers/mcp.js';
import { eventsOf, IMPATIENT, ofType, resultOf, runCli, type Scratch } from '../helpers/run-cli.js';
import { bosunRun, place } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const LEVELS = 20_000;
const DEEP = `${'['.repeat(LEVELS)}${']'.repeat(LEVELS)}`;
const done = { parts: [text('Done.')] };
const raw = (fields: string): Reply => ({ raw: `data: {${fields}}\n\n` });
const saying = (part: string): Reply =>
  raw(`"candidates":[{"content":{"role":"model","parts":[${part}]},"finishReason":"STOP"}]`);
const JSON_TYPE = { 'content-type': 'application/json' };
const overflow = /call stack/i;

describe('JSON of the model that is nested without end', () => {
  test('as the arguments of a call: it is told, and tries again', async () => {
    const deep = saying(`{"functionCall":{"name":"read_file","args":{"file_path":${DEEP}}}}`);
    const { code, server, place: where } = await bosunRun([deep, done], []);
    expect(code).toBe(0);
    expect(ofType(eventsOf(where), 'retry')[0]).toMatchObject({
      class: 'malformed_function_call',
      message: expect.stringContaining('the arguments of read_file are nested deeper than 200 levels'),
    });
    expect(JSON.stringify(server.requests[1]?.body.systemInstruction)).toContain('200 levels');
  });

  test('as the arguments of a call, again and again: an error of the model', async () => {
    const deep = saying(`{"functionCall":{"name":"read_file","args":{"file_path":${DEEP}}}}`);
    const { code, place: where } = await bosunRun([deep, deep, deep], []);
    expect([code, resultOf(where).reason]).toEqual([7, 'malformed_function_call']);
  });

  const answers: [string, Reply, number][] = [
    ['a part that nobody knows', saying(`{"tomorrow":${DEEP}}`), 11],
    ['why it was blocked', raw(`"promptFeedback":{"blockReason":${DEEP}}`), 11],
    ['how it ended', raw(`"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":${DEEP}}]`), 11],
    ['an error', { status: 500, body: `{"error":{"code":500,"details":${DEEP}}}`, headers: JSON_TYPE }, 11],
    ['an error in the stream', raw(`"error":{"code":500,"message":"x","details":${DEEP}}`), 11],
  ];
  sampled.each(answers)('as %s: no answer of the protocol', async (_what, reply, expected) => {
    const { code, stderr, place: where } = await bosunRun([reply], IMPATIENT);
    expect(code).toBe(expected);
    expect(JSON.stringify(resultOf(where)) + stderr).not.toMatch(overflow);
  });

  test('as the answer that has to fit a schema: it is asked for again, and then given up', async () => {
    const where = place();
    const file = join(where.root, 'schema.json');
    writeFileSync(file, '{"$ref":"#/$defs/a","$defs":{"a":{"type":"array","items":{"$ref":"#/$defs/a"}}}}');
    const deep = { parts: [text(DEEP)] };
    const { code, place: ran } = await bosunRun([deep, deep, deep], ['--output-schema', file]);
    expect([code, resultOf(ran).reason]).toEqual([5, 'output_schema']);
    expect(resultOf(ran).error?.message).toContain('it is nested deeper than 200 levels');
  });
});

describe('what tools say', () => {
  test('an MCP server with a structured result that is nested without end', async () => {
    const servers = { s: behaving('nested', String(LEVELS)) };
    const script = [{ parts: [call('s__echo', {}), call('s__other', {})] }, done];
    const { code, place: where } = await runUnder(policyWith(servers), script);
    const [deep, next] = ofType(eventsOf(where), 'tool_result');
    expect(deep?.error).toEqual({
      type: 'mcp_tool_error',
      message: 'MCP server s: its answer is nested deeper than 200 levels.',
    });
    expect([code, next?.status]).toEqual([0, 'success']);
  });

  test('an MCP server with a structured result that is just not too deep', async () => {
    const servers = { s: behaving('nested', '190') };
    const { place: where } = await runUnder(policyWith(servers), [{ parts: [call('s__echo', {})] }, done]);
    const [result] = ofType(eventsOf(where), 'tool_result');
    expect(result?.status).toBe('success');
    expect(result?.full_output).toBeDefined();
  });

  const lists: [string, string][] = [
    ['all of it', DEEP],
    ['a tool without a name', `[{"x":${DEEP}}]`],
    ['a default', `[{"name":"x","parameters":{"type":"object","properties":{"a":{"default":${DEEP}}}}}]`],
  ];
  sampled.each(lists)('a list of discovered tools: %s', async (_what, list) => {
    const where = place({ 'list.json': list });
    const policy = { version: 1, mode: 'yolo', discovery: { list: ['cat', 'list.json'], call: ['true'] } };
    const { code } = await runUnder(JSON.stringify(policy), [done], {}, where);
    expect(code).toBe(12);
    expect(resultOf(where).error?.message).toMatch(/nested deeper than 200 levels/);
  });
});

describe('what users give', () => {
  async function refused(where: Scratch, args: readonly string[], code = 2, input?: string) {
    const ended = await runCli([...args], { cwd: where.workspace, ...(input !== undefined && { input }) });
    expect(ended.code).toBe(code);
    expect(ended.stderr + ended.stdout).toMatch(/nested/);
    expect(ended.stderr + ended.stdout).not.toMatch(overflow);
    return ended;
  }

  test('a policy', async () => {
    const where = place({ 'deep.yaml': `version: 1\nrules: ${DEEP}\n` });
    await refused(where, ['policy', 'lint', '--policy', './deep.yaml']);
  });

  test('a schema of answers', async () => {
    const deep = '{"items":'.repeat(LEVELS) + '{}'.padEnd(LEVELS + 2, '}');
    const where = place({ 'schema.json': deep });
    const { code, stderr } = await bosunRun([], ['--output-schema', join(where.workspace, 'schema.json')]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/nested deeper than 200 levels/)]);
  });

  test('calls to be decided about', async () => {
    const where = place();
    const calls = `{"id":${DEEP},"tool":"read_file","args":{"file_path":"a"}}\n{"tool":"glob","args":{"pattern":"a"}}\n`;
    const { stdout } = await refused(where, ['policy', 'check', '--calls', '-'], 0, calls);
    expect(stdout.trim().split('\n')).toHaveLength(2);
    const args = ['policy', 'check', '--tool', 'read_file', '--args', `{"file_path":${DEEP}}`];
    await refused(where, args);
  });

  test('answers to calls that wait, and a transcript', async () => {
    const policy = 'version: 1\nmode: manual\non_ask: defer\n';
    const script = [{ parts: [call('write_file', { file_path: 'a', content: 'b' }, { id: '1' })] }];
    const { place: where } = await runUnder(policy, script);
    writeFileSync(join(where.workspace, 'answers.json'), `[{"tool_call_id":${DEEP}}]`);
    await refused(where, ['approve', where.transcript, '--answers', 'answers.json']);
    forge(
      where,
      (lines) => {
        for (const line of lines) if (line['type'] === 'tool_use') line['parameters'] = '@deep@';
      },
      (line) => line.replace('"@deep@"', DEEP),
    );
    await refused(where, ['verify', where.transcript], 5);
    for (const command of ['resume', 'approve']) await refused(where, [command, where.transcript]);
    await refused(where, ['report', where.transcript, '--reporter', 'html=report.html']);
    await refused(where, ['run', '-p', 'x', '--replay', where.transcript]);
  });
});
