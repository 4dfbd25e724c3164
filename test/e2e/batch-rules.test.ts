import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  batchFile,
  commitAll,
  journalled,
  lastResult,
  outOf,
  promptOf,
  resultsIn,
  runBatch,
  startBatch,
  turnOf,
} from '../helpers/batch.js';
import { call, text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { runCli, type Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { until } from '../helpers/until.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const files = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`src/${String(i).padStart(2, '0')}.ts`, `${i}\n`]),
  );
const batch = (more: string, policy = 'read-only') => `version: 1
name: rules
prompt: Look at {{file}}
tasks: {glob: {include: ["src/*.ts"]}}
policy: ${policy}
${more}
`;
const answers = (request: LoggedRequest) => ({ parts: [text(`seen ${promptOf(request)}`)] });
/** Three turns a task, each of which costs the same. */
const threeTurns = (request: LoggedRequest) =>
  turnOf(request) < 3 ? { parts: [call('list_directory', { path: 'src' })] } : answers(request);

describe('the budget', () => {
  // A request of the scripted server is 100 tokens in and 10 out: $0.000055 with gemini-2.5-flash.
  const REQUEST_USD = 0.000055;

  test('holds with 64 tasks at once: what is spent beyond it was on its way', async () => {
    const where = place(files(64));
    const server = await serve((request) => ({ ...threeTurns(request), delayMs: 50 }));
    const limit = 60 * REQUEST_USD;
    const file = batchFile(where, batch(`concurrency: 64\nlimits: {cost_usd: ${limit}}`));
    const { code } = await runBatch(server, where, [file]);
    expect(code).toBe(6);
    const result = lastResult(where);
    expect(result).toMatchObject({ status: 'limit', reason: 'cost' });
    expect(result.requests).toBe(server.requests.length);
    expect(result.cost_usd).toBeCloseTo(server.requests.length * REQUEST_USD, 9);
    expect(server.requests.length).toBeGreaterThanOrEqual(60);
    expect(server.requests.length).toBeLessThan(60 + 64);
    expect(result.tasks.failed).toBe(0);

    const more = batchFile(where, batch('concurrency: 64\nlimits: {cost_usd: 1}'));
    expect((await runBatch(server, where, [more])).code).toBe(0);
    expect(lastResult(where).tasks).toMatchObject({ completed: 64, pending: 0 });
    expect(resultsIn(where).every(({ attempts }) => attempts === 1)).toBe(true);
    // Nothing was asked for twice.
    expect(server.requests).toHaveLength(64 * 3);
    expect(lastResult(where).cost_usd).toBeCloseTo(64 * 3 * REQUEST_USD, 9);
  });

  test('lets a task begin only if what it may need is left, and one in any case', async () => {
    const where = place(files(6));
    const server = await serve((request) => ({ ...threeTurns(request), delayMs: 30 }));
    const limits = `limits: {cost_usd: ${10 * REQUEST_USD}}\ntask_limits: {cost_usd: ${8 * REQUEST_USD}}`;
    const { code } = await runBatch(server, where, [batchFile(where, batch(limits))]);
    expect(code).toBe(6);
    // One after the other: two at once may need 16.
    const order = journalled(where, 'task_start').map(({ seq }) => seq);
    const ends = journalled(where, 'task_end').map(({ seq }) => seq);
    expect(order[1]).toBeGreaterThan(ends[0] as number);
  });

  test('of tokens works the same', async () => {
    const where = place(files(4));
    const server = await serve(answers);
    const { code } = await runBatch(server, where, [
      batchFile(where, batch('concurrency: 1')),
      '--max-tokens',
      '200',
    ]);
    expect([code, server.requests.length]).toEqual([6, 2]);
    expect(lastResult(where)).toMatchObject({ reason: 'tokens', tasks: { completed: 2, pending: 2 } });
  });

  test.each([
    ['tokens', 'limits: {tokens: 20000}', 'tokens'],
    ['money', 'limits: {cost_usd: 0.006}', 'cost'],
  ])(
    'of %s holds though the provider does not tell what it used, and what is a guess is called one',
    async (...[, limits, reason]) => {
      const where = place(files(40));
      const server = await serve((request) => ({ ...threeTurns(request), usage: null, delayMs: 5 }));
      const file = batchFile(where, batch(`concurrency: 2\n${limits}`));
      const { code, stderr } = await runBatch(server, where, [file]);
      expect([code, lastResult(where).reason]).toEqual([6, reason]);
      expect(stderr).toMatch(/used up: .* \(.* of it estimated\)/);
      expect(journalled(where, 'batch_notice').map(({ code: kind }) => kind)).toEqual(['usage']);
      expect(lastResult(where)).toMatchObject({ cost_usd: null, tokens: null });
      const { cost_usd = 0, tokens = 0 } = lastResult(where).estimated ?? {};
      const spent = reason === 'cost' ? cost_usd / 0.006 : tokens / 20_000;
      // No more than what two requests on their way have added.
      expect([spent >= 1, spent < 1.3]).toEqual([true, true]);
      const sent = server.requests.length;
      expect(sent).toBeGreaterThan(5);

      // What was guessed counts over all starts.
      expect((await runBatch(server, where, [file])).code).toBe(6);
      expect(server.requests).toHaveLength(sent);
      expect(lastResult(where).estimated).toEqual({ cost_usd, tokens });
      expect(await runCli(['verify', outOf(where)])).toMatchObject({ code: 0 });
    },
  );

  test('needs a price', async () => {
    const where = place(files(1));
    const server = await serve(answers);
    const { code, stderr } = await runBatch(server, where, [
      batchFile(where, batch('')),
      ...['--max-cost', '1', '-m', 'gemini-unheard-of'],
    ]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('no price for gemini-unheard-of')]);
  });
});

describe('time', () => {
  test('that is up cuts what runs, and the same command goes on with it', async () => {
    const where = place(files(2));
    let hangs = true;
    const server = await serve((request) => (hangs ? { hang: true } : answers(request)));
    const file = batchFile(where, batch(''));
    const first = await runBatch(server, where, [file, '--timeout', '2s']);
    expect(first.code).toBe(6);
    expect(lastResult(where)).toMatchObject({ reason: 'time', tasks: { pending: 2 } });
    hangs = false;
    expect((await runBatch(server, where, [file])).code).toBe(0);
    expect(resultsIn(where).map(({ attempts }) => attempts)).toEqual([1, 1]);
  });
});

describe('ends of tasks', () => {
  test('that retry_on names are tried again, in attempts of their own', async () => {
    const where = place(files(2));
    let failures = 2;
    const server = await serve((request) =>
      promptOf(request).includes('00') && failures-- > 0 ? { status: 503, body: 'busy' } : answers(request),
    );
    const policy = join(where.root, 'policy.yaml');
    writeFileSync(policy, 'version: 1\nmode: plan\nlimits: {retry_time: 0s}\n');
    const { code } = await runBatch(server, where, [batchFile(where, batch('', './policy.yaml'))]);
    expect(code).toBe(0);
    expect(resultsIn(where).map(({ attempts }) => attempts)).toEqual([3, 1]);
    expect(journalled(where, 'task_start').map(({ why }) => why)).toContain(
      'it ended with provider_unavailable',
    );
  });

  test('of which too many are failures end it with 6', async () => {
    const where = place(files(10));
    const server = await serve(() => ({ promptFeedback: { blockReason: 'SAFETY' } }));
    const { code } = await runBatch(server, where, [
      batchFile(where, batch('concurrency: 1\nlimits: {failed: 20%}')),
    ]);
    expect(code).toBe(6);
    expect(server.requests).toHaveLength(3);
    expect(lastResult(where)).toMatchObject({ reason: 'failed', tasks: { failed: 3, pending: 7 } });
  });

  test('by a signal stay pending, and go on', async () => {
    const where = place(files(3));
    let hangs = true;
    const server = await serve((request) =>
      hangs && turnOf(request) === 2 ? { hang: true } : threeTurns(request),
    );
    const file = batchFile(where, batch(''));
    const { child, done } = startBatch(server, where, [file]);
    await until(() => server.requests.length === 6, 'all wait');
    child.kill('SIGTERM');
    expect((await done).code).toBe(143);
    expect(resultsIn(where).map(({ status }) => status)).toEqual(['pending', 'pending', 'pending']);
    hangs = false;
    expect((await runBatch(server, where, [file])).code).toBe(0);
    expect(
      journalled(where, 'task_start')
        .slice(3)
        .every(({ resumed }) => resumed),
    ).toBe(true);
    // The first turns were not asked for again.
    expect(server.requests).toHaveLength(3 + 3 + 3 * 2);
  });

  test('that wait for an approval go on once it is there', async () => {
    const where = place({ 'src/00.ts': 'a\n', 'src/01.ts': 'b\n' });
    commitAll(where);
    const server = await serve((request) => {
      const [file = ''] = /src\/\d+\.ts/.exec(promptOf(request)) ?? [];
      if (turnOf(request) > 1 || file.includes('01')) return answers(request);
      return { parts: [call('write_file', { file_path: file, content: 'new\n' })] };
    });
    writeFileSync(join(where.root, 'policy.yaml'), 'version: 1\nmode: manual\non_ask: defer\n');
    const file = batchFile(where, batch('', './policy.yaml'));
    const first = await runBatch(server, where, [file]);
    expect(first.code).toBe(4);
    expect(first.stderr).toMatch(
      /1 task waits for an approval: answer with bosun approve \S+transcript\.jsonl/,
    );
    expect(resultsIn(where).map(({ status }) => status)).toEqual(['approval_required', 'completed']);
    const asked = server.requests.length;
    expect((await runBatch(server, where, [file])).code).toBe(4);
    expect(server.requests).toHaveLength(asked);

    const transcript = join(outOf(where), resultsIn(where)[0]?.transcript ?? '');
    expect((await runCli(['approve', transcript, '--option', 'proceed_once'])).code).toBe(0);
    const { code } = await runBatch(server, where, [file]);
    expect(code).toBe(0);
    expect(resultsIn(where)[0]).toMatchObject({ status: 'completed', attempts: 1 });
    expect(resultsIn(where)[0]?.patch).not.toBeNull();
  });
});

test('an impatient person gets a whole folder, too', async () => {
  const where = place(files(2));
  commitAll(where);
  const command = "trap '' TERM INT; echo on; sleep 30";
  const server = await serve(() => ({ parts: [call('run_shell_command', { command })] }));
  writeFileSync(join(where.root, 'policy.yaml'), 'version: 1\nmode: yolo\n');
  const { child, done } = startBatch(server, where, [batchFile(where, batch('', './policy.yaml'))]);
  await until(() => server.requests.length === 2, 'both run');
  child.kill('SIGINT');
  child.kill('SIGINT');
  expect((await done).code).toBe(130);
  expect(lastResult(where)).toMatchObject({ status: 'cancelled', exit_code: 130, tasks: { pending: 2 } });
  expect(resultsIn(where).map(({ status }) => status)).toEqual(['pending', 'pending']);
});

test('a batch that is told to stop leaves no ref behind', async () => {
  const where = place(files(2));
  commitAll(where);
  const server = await serve(() => ({ hang: true }));
  const { child, done } = startBatch(server, where, [batchFile(where, batch('', 'codemod'))]);
  await until(() => server.requests.length === 2, 'both run');
  expect(existsSync(join(where.workspace, '.git/refs/bosun/base/rules'))).toBe(true);
  child.kill('SIGTERM');
  expect((await done).code).toBe(143);
  expect(existsSync(join(where.workspace, '.git/refs/bosun'))).toBe(false);
});

describe('--estimate', () => {
  const estimate = async (server: { url: string }, where: Scratch, ...more: string[]) => {
    const { code, stdout } = await runBatch(server, where, [
      batchFile(where, batch('')),
      ...['--estimate', '-o', 'json', ...more],
    ]);
    expect(code).toBe(0);
    return JSON.parse(stdout) as object;
  };

  test('sends and writes nothing, and says so where there is no data', async () => {
    const where = place(files(4));
    const server = await serve(answers);
    expect(await estimate(server, where)).toMatchObject({
      tasks: { total: 4, to_run: 4, skipped: 0 },
      sample: { tasks: 0 },
      total: { cost_usd: null, tokens: null, duration_ms: null },
    });
    expect(server.requests).toHaveLength(0);
    expect(existsSync(outOf(where))).toBe(false);
    const said = await runBatch(server, where, [batchFile(where, batch('')), '--estimate']);
    expect(said.stdout).toBe('4 tasks: 4 to run, 0 done already\nno data: no task has finished yet\n');
  });

  test('goes by what tasks took before', async () => {
    const where = place(files(8));
    const server = await serve(threeTurns);
    await runBatch(server, where, [batchFile(where, batch('')), '--only', 'src/0[0-5].ts']);
    expect(await estimate(server, where)).toMatchObject({
      tasks: { total: 8, to_run: 2, skipped: 6 },
      sample: { tasks: 6, from: 'this batch' },
      per_task: { tokens: { median: 330, p90: 330 } },
      total: { tokens: { median: 660, p90: 660 }, cost_usd: { median: 0.00033 } },
    });
  });
});
