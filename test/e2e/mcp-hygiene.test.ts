import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sampled } from '../helpers/counts.js';
import { call, text, type Script } from '../helpers/gemini-server.mjs';
import { runUnder } from '../helpers/in-process.js';
import { behaving, EVERYTHING, policyWith } from '../helpers/mcp.js';
import {
  eventsOf,
  ofType,
  resultOf,
  runArgs,
  serverEnv,
  startCli,
  type Scratch,
} from '../helpers/run-cli.js';
import { bosunUnder, offeredBy, place, serve } from '../helpers/served.js';
import { until } from '../helpers/until.js';

const done = { parts: [text('Done.')] };
const calling = (...names: readonly string[]): Script => [
  ...names.map((name, i) => ({ parts: [call(name, { text: 'x' }, { id: `c${i}` })] })),
  done,
];
const results = (where: Scratch) => ofType(eventsOf(where), 'tool_result');

describe('a server that misbehaves', () => {
  test('prints what is no message: it is passed over, logged, and kept off stdout', async () => {
    const run = await bosunUnder(policyWith({ s: behaving('noise') }), calling('s__echo'));
    expect({ code: run.code, stdout: run.stdout }).toEqual({ code: 0, stdout: 'Done.\n' });
    for (const line of ['Hello, I am a server!', '{"not": "a message"}', 'a word to people'])
      expect(run.stderr).toContain(`mcp s: ${line}`);
    expect(results(run.place)[0]?.output).toContain('echo:');
  });

  test('dies during a call: an error with its last words, and one new start', async () => {
    const script = calling('s__echo', 's__other', 's__echo', 's__other');
    const { code, place: where } = await runUnder(policyWith({ s: behaving('crash') }), script);
    const [first, second, third, fourth] = results(where);
    expect(first?.error).toMatchObject({
      type: 'mcp_tool_error',
      message: expect.stringMatching(/ended during the call \(exit code 3\).*about to die.*started again/s),
    });
    expect(second).toMatchObject({ status: 'success' });
    expect(third?.error?.message).toMatch(/ended during the call/);
    expect(third?.error?.message).not.toMatch(/started again/);
    expect(fourth?.error?.message).toMatch(/it has ended \(exit code 3\)/);
    expect(code).toBe(0);
  });

  test('never answers a call: a timeout, and the next call works', async () => {
    const servers = { s: behaving('hang_call', { timeout: '400ms' }) };
    const { place: where } = await runUnder(policyWith(servers), calling('s__echo', 's__other'));
    const [hung, next] = results(where);
    expect(hung?.error).toMatchObject({ type: 'timeout', message: expect.stringContaining('400 ms') });
    expect(next?.status).toBe('success');
  });

  const drips: [string, string[], Record<string, string>, RegExp | 'success'][] = [
    ['progress keeps the idle limit away', ['ends'], { idle_timeout: '400ms' }, 'success'],
    ['but not the limit of the whole call', [], { idle_timeout: '5s', timeout: '700ms' }, /within 700 ms;/],
  ];
  sampled.each(drips)('drips: %s', async (_what, options, limits, expected) => {
    const servers = { s: behaving('drip', ...options, limits) };
    const { place: where } = await runUnder(policyWith(servers), calling('s__echo'));
    const [result] = results(where);
    if (expected === 'success') expect(result?.output).toBe('dripped to the end');
    else expect(result?.error).toMatchObject({ type: 'timeout', message: expect.stringMatching(expected) });
  });

  test('answers far too much: the call fails, or its output is cut', async () => {
    const huge = await runUnder(policyWith({ s: behaving('giant') }), calling('s__echo', 's__other'));
    expect(results(huge.place)[0]?.error?.message).toMatch(/more than 33554432 bytes/);
    expect(results(huge.place)[1]?.status).toBe('success');
    const large = await runUnder(policyWith({ s: behaving('giant', '1000000') }), calling('s__echo'));
    const [result] = results(large.place);
    expect(String(result?.output).length).toBeLessThan(50_000);
    expect(result?.full_output).toBeDefined();
  });

  test.each([
    ['error', 'that did not work'],
    ['rpc_error', 'no such thing'],
  ])('says %s: the model reads it', async (behaviour, message) => {
    const { server, code } = await runUnder(policyWith({ s: behaving(behaviour) }), calling('s__echo'));
    const [part] = server.requests[1]?.body.contents.at(-1).parts ?? [];
    expect(part.functionResponse.response).toEqual({
      type: 'mcp_tool_error',
      error: expect.stringContaining(message),
    });
    expect(code).toBe(0);
  });

  test('declares schemas that no API takes: they are mended, or the one tool is left out and that is said', async () => {
    const { server, place: where } = await runUnder(policyWith({ s: behaving('cyclic') }), [done]);
    expect(offeredBy(server)?.filter((name) => name.startsWith('s__'))).toEqual(['s__tree', 's__twice']);
    const declared = JSON.stringify(server.requests[0]?.body.tools);
    expect(declared).not.toContain('$ref');
    const warnings = ofType(eventsOf(where), 'error').map(({ message }) => message);
    expect(warnings).toEqual([
      expect.stringMatching(/no_object was left out: its schema does not describe an object/),
      expect.stringMatching(/without a name/),
      expect.stringMatching(/twice is declared twice/),
    ]);
    expect(resultOf(where).warnings).toHaveLength(3);
  });

  test('has odd and long names: each is offered under one of its own, and found by it', async () => {
    const model = await runUnder(policyWith({ s: behaving('names') }), (request, index) => {
      if (index > 0) return done;
      const names: string[] = request.body.tools[0].functionDeclarations.map(
        ({ name }: { name: string }) => name,
      );
      return {
        parts: names
          .filter((name) => name.startsWith('s__'))
          .map((name, i) => call(name, {}, { id: `c${i}` })),
      };
    });
    const used = ofType(eventsOf(model.place), 'tool_use').map(({ tool_name }) => tool_name);
    const long = 'x'.repeat(100);
    const names = ['a b', 'a/b', 'a.b', 'ä', long, `${long}y`, 'read_file', '*'];
    expect(used).toEqual(names.map((name) => `mcp:s/${name}`));
    expect(results(model.place).map(({ output }) => String(output).split(': {')[0])).toEqual(names);
  });

  test('changes its tools: the next turn offers them', async () => {
    const script = calling('s__echo', 's__newcomer');
    const { server, place: where } = await runUnder(policyWith({ s: behaving('changes') }), script);
    const offered = server.requests.map(({ raw }) => raw.includes('"s__newcomer","description"'));
    expect(offered).toEqual([false, true, true]);
    expect(results(where).map(({ status }) => status)).toEqual(['success', 'success']);
    expect(resultOf(where).warnings).toEqual([expect.stringContaining('has changed its tools')]);
  });

  test('lists its tools in pages', async () => {
    const { server } = await runUnder(policyWith({ s: behaving('pages') }), [done]);
    expect(offeredBy(server)).toEqual(expect.arrayContaining(['s__page_0', 's__page_1', 's__page_2']));
  });

  test('sees of our environment what it is given, and no key of ours', async () => {
    const servers = {
      s: behaving('well', { env: { set: { MCP_SECRET: 'from ${ONE_NAME}' } } }),
      e: { command: [process.execPath, EVERYTHING, 'stdio'], trust: true, env: { pass: ['OTHER_NAME'] } },
    };
    const where = place();
    writeFileSync(join(where.root, 'policy.yaml'), policyWith(servers));
    const model = await serve([{ parts: [call('s__echo', {}), call('e__get-env', {})] }, done]);
    const { done: ended } = startCli(
      runArgs(where, ['--policy', join(where.root, 'policy.yaml'), '-p', 'do it']),
      { env: serverEnv(model, where, { ONE_NAME: 'one', OTHER_NAME: 'other', THIRD_NAME: 'third' }) },
    );
    expect((await ended).code).toBe(0);
    const [ours, theirs] = results(where).map(({ output }) => String(output));
    expect(ours).toContain('from one');
    expect(JSON.parse(theirs as string)).toMatchObject({ OTHER_NAME: 'other', HOME: where.home });
    expect(theirs).not.toMatch(/test-key|GEMINI_API_KEY|ONE_NAME|THIRD_NAME/);
  });
});

describe('no server outlives its run', () => {
  const MARK = 'BOSUN_TEST_MARK';

  /** Everyone who has the mark of one test in the environment. */
  function marked(mark: string): string[] {
    return readdirSync('/proc').filter((pid) => {
      try {
        return (
          /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`${MARK}=${mark}`)
        );
      } catch {
        return false;
      }
    });
  }

  const servers = (mark: string) => {
    const env = { env: { set: { [MARK]: mark } } };
    return {
      stubborn: behaving('stubborn', env),
      everything: { command: [process.execPath, EVERYTHING, 'stdio'], trust: true, ...env },
      wrapped: {
        command: ['sh', '-c', `"$0" "${EVERYTHING}" stdio; true`, process.execPath],
        trust: true,
        ...env,
      },
    };
  };

  const ends: [string, (child: ReturnType<typeof startCli>['child']) => void, number | null][] = [
    ['an ordinary end', () => {}, 0],
    ['SIGTERM', (child) => child.kill('SIGTERM'), 143],
    ['SIGKILL', (child) => child.kill('SIGKILL'), null],
  ];
  sampled.each(ends)('%s', async (what, end, code) => {
    const mark = `${process.pid}-${what}`;
    const where = place();
    writeFileSync(join(where.root, 'policy.yaml'), policyWith(servers(mark)));
    const model = await serve([code === 0 ? done : { hang: true }]);
    const { child, done: ended } = startCli(
      runArgs(where, ['--policy', join(where.root, 'policy.yaml'), '-p', 'do it']),
      { env: serverEnv(model, where) },
    );
    await until(() => model.requests.length === 1, 'the first request');
    expect(marked(mark).length).toBeGreaterThanOrEqual(code === 0 ? 0 : 5);
    end(child);
    expect((await ended).code).toBe(code);
    await until(() => marked(mark).length === 0, 'all servers are gone', 3000);
  });

  test('SIGTERM while connecting', async () => {
    const mark = `${process.pid}-connecting`;
    const hang = behaving('hang', { env: { set: { [MARK]: mark } } });
    const where = place();
    writeFileSync(join(where.root, 'policy.yaml'), policyWith({ hang }));
    const model = await serve([done]);
    const { child, done: ended } = startCli(
      runArgs(where, ['--policy', join(where.root, 'policy.yaml'), '-p', 'do it']),
      { env: serverEnv(model, where) },
    );
    await until(() => marked(mark).length > 0, 'the server runs');
    child.kill('SIGTERM');
    expect((await ended).code).toBe(143);
    await until(() => marked(mark).length === 0, 'it is gone', 3000);
    expect(model.requests).toHaveLength(0);
  });
});
