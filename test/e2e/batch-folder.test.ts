import { appendFileSync, cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readJournal } from '../../src/batch/journal/reader.js';
import { outOf, promptOf, resultsIn, runBatch, startBatch } from '../helpers/batch.js';
import { text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { cleanEnv, runCli, type Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { until } from '../helpers/until.js';
import { parseXml } from '../helpers/xml.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const names = Array.from({ length: 8 }, (_, i) => `src/${i}.ts`);
const FILES = Object.fromEntries(names.map((name) => [name, `${name}\n`]));
const ARGS = ['-p', 'Explain {{file}}', '--each', 'src/*.ts', '--name', 'each', '--policy', 'read-only'];

const answers = (request: LoggedRequest) =>
  promptOf(request).includes('3.ts')
    ? { promptFeedback: { blockReason: 'SAFETY' } }
    : { parts: [text(`answer to ${promptOf(request)}`)] };

async function finished(script = answers): Promise<Scratch> {
  const where = place(FILES);
  await runBatch(await serve(script), where, ARGS);
  return where;
}

describe('bosun batch status', () => {
  test('says how a batch stands, for people and as JSON', async () => {
    const where = await finished();
    const said = await runCli(['batch', 'status', outOf(where)]);
    expect(said.code).toBe(0);
    expect(said.stdout).toMatch(
      /^failed {3}src\/3\.ts {2}model_error \(blocked\)\n8 tasks: 7 completed, 1 failed/,
    );
    const json = await runCli(['batch', 'status', outOf(where), '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ...{ name: 'each', status: 'tasks_failed', exit_code: 13 },
      tasks: { total: 8, completed: 7, failed: 1, pending: 0 },
    });
  });

  test('is about all tasks, whichever of them the last start was about', async () => {
    const where = await finished();
    const { code, stdout } = await runBatch(await serve(answers), where, [...ARGS, '--only', '*0.ts']);
    expect([code, stdout]).toEqual([0, expect.stringContaining('7 completed')]);
    const json = await runCli(['batch', 'status', outOf(where), '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ status: 'tasks_failed', exit_code: 13 });
  });

  test('tells one that runs from one that was killed', async () => {
    const where = place(FILES);
    const server = await serve(() => ({ hang: true }));
    const { child, done } = startBatch(server, where, ARGS);
    await until(() => server.requests.length > 0, 'a request');
    const status = async () =>
      JSON.parse((await runCli(['batch', 'status', outOf(where), '--json'])).stdout) as object;
    expect(await status()).toMatchObject({ status: 'running', exit_code: null, tasks: { pending: 8 } });
    child.kill('SIGKILL');
    await done;
    expect(await status()).toMatchObject({ status: 'interrupted', exit_code: null });
  });

  test('of a folder that is none is exit 2', async () => {
    const { code, stderr } = await runCli(['batch', 'status', place().root]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is not the folder of a batch')]);
  });
});

describe('reports', () => {
  test('are written with the batch, and again from its folder', async () => {
    const where = place(FILES);
    const file = (name: string) => join(where.root, name);
    const reporters = ['--reporter', `junit=${file('a.xml')}`, '--reporter', `markdown=${file('a.md')}`];
    await runBatch(await serve(answers), where, [...ARGS, ...reporters]);
    const results = readFileSync(join(outOf(where), 'results.jsonl'), 'utf8');
    rmSync(join(outOf(where), 'results.jsonl'));
    const again = ['--reporter', `junit=${file('b.xml')}`, '--reporter', `markdown=${file('b.md')}`];
    expect((await runCli(['batch', 'report', outOf(where), ...again])).code).toBe(0);
    expect(readFileSync(join(outOf(where), 'results.jsonl'), 'utf8')).toBe(results);
    expect(readFileSync(file('b.xml'), 'utf8')).toBe(readFileSync(file('a.xml'), 'utf8'));
    expect(readFileSync(file('b.md'), 'utf8')).toBe(readFileSync(file('a.md'), 'utf8'));

    const xml = readFileSync(file('a.xml'), 'utf8');
    expect(parseXml(xml)).toBeDefined();
    expect(xml).toContain('tests="8" failures="1" errors="0" skipped="0"');
    expect(xml.match(/<testcase /g)).toHaveLength(8);
    const markdown = readFileSync(file('a.md'), 'utf8');
    expect(markdown).toContain('## Bosun batch `each`: tasks_failed');
    expect(markdown).toContain('<summary>1 × model_error (blocked)</summary>');
    expect(markdown.indexOf('src/3.ts')).toBeLessThan(markdown.indexOf('src/0.ts'));
  });

  test('for GitHub are annotations and a summary', async () => {
    const where = await finished();
    const summary = join(where.root, 'summary.md');
    writeFileSync(summary, '');
    const env = cleanEnv(where.home, { GITHUB_STEP_SUMMARY: summary, GITHUB_ACTIONS: 'true' });
    const { stdout } = await runCli(['batch', 'report', outOf(where), '--reporter', 'github'], { env });
    expect(stdout).toMatch(/^::error title=Bosun batch each%3A tasks_failed::1 of 8 tasks failed/m);
    expect(stdout).toMatch(/^::error title=Bosun%3A src\/3\.ts%3A model_error \(blocked\)::/m);
    expect(readFileSync(summary, 'utf8')).toContain('## Bosun batch `each`: tasks_failed');
  });

  test('that cannot be written are exit 2 before any request', async () => {
    const where = place(FILES);
    const server = await serve(answers);
    for (const reporter of ['junit=/no/such/folder/x', 'junti=x', 'junit']) {
      const { code } = await runBatch(server, where, [...ARGS, '--reporter', reporter]);
      expect(code).toBe(2);
    }
    expect(server.requests).toHaveLength(0);
  });
});

describe('shards', () => {
  const shards = async (indexes: readonly number[], count = 3) => {
    const where = place(FILES);
    const server = await serve(answers);
    for (const index of indexes) {
      const { code } = await runBatch(server, where, [...ARGS, '--shard', `${index}/${count}`]);
      expect([0, 13]).toContain(code);
      cpSync(outOf(where), join(where.root, `shard-${index}`), { recursive: true });
      rmSync(outOf(where), { recursive: true });
    }
    const folders = indexes.map((index) => join(where.root, `shard-${index}`));
    const merged = await runCli(['batch', 'merge', ...folders, '--out', outOf(where), '-o', 'json']);
    return { where, server, merged, folders };
  };

  test('take each task once, and are merged in any order into one', async () => {
    const { where, server, merged } = await shards([3, 1, 2]);
    expect(server.requests).toHaveLength(8);
    expect(merged.code).toBe(13);
    expect(JSON.parse(merged.stdout)).toMatchObject({
      tasks: { total: 8, completed: 7, failed: 1 },
      requests: 8,
    });
    expect(resultsIn(where).map(({ id }) => id)).toEqual(names);
    for (const { transcript } of resultsIn(where))
      expect(existsSync(join(outOf(where), transcript ?? ''))).toBe(true);
    expect((await runCli(['verify', outOf(where)])).code).toBe(0);

    const before = server.requests.length;
    const rerun = await runBatch(server, where, ARGS);
    expect([rerun.code, server.requests.length]).toEqual([13, before]);
  });

  test('that are missing are named, and are exit 13', async () => {
    const { merged } = await shards([1, 3]);
    expect(merged.code).toBe(13);
    expect(JSON.parse(merged.stdout)).toMatchObject({
      reason: 'missing_shards',
      message: '1 shard missing: 2/3',
    });
  });

  test('that are there twice are named, and none of their attempts is lost', async () => {
    const { where, folders } = await shards([1, 2, 3]);
    const [first = ''] = folders;
    const again = join(where.root, 'shard-1-again');
    cpSync(first, again, { recursive: true });
    const out = join(where.root, 'twice');
    const { code, stdout, stderr } = await runCli([
      'batch',
      'merge',
      ...folders,
      again,
      '--out',
      out,
      '-o',
      'json',
    ]);
    expect([code, JSON.parse(stdout)]).toEqual([
      13,
      expect.objectContaining({ tasks: expect.objectContaining({ total: 8 }) }),
    ]);
    expect(stderr).toContain(`shard 1/3 is in ${first} and ${again}`);
    const notices = readJournal(join(out, 'journal.jsonl')).lines.filter(
      ({ type }) => type === 'batch_notice',
    );
    expect(notices).toMatchObject([{ code: 'overlapping_shards' }]);
    expect((await runCli(['verify', out])).code).toBe(0);
    // A copy costs nothing.
    const once = await runCli(['batch', 'merge', ...folders, '--out', `${out}-once`, '-o', 'json']);
    const { cost_usd, requests } = JSON.parse(once.stdout) as Record<string, number>;
    expect(JSON.parse(stdout)).toMatchObject({ cost_usd, requests });
  });

  test('of two numbers of shards are exit 2', async () => {
    const where = place(FILES);
    const server = await serve(answers);
    for (const shard of ['1/3', '1/2']) {
      await runBatch(server, where, [...ARGS, '--shard', shard]);
      cpSync(outOf(where), join(where.root, shard.replace('/', '-')), { recursive: true });
      rmSync(outOf(where), { recursive: true });
    }
    const folders = ['1-3', '1-2'].map((name) => join(where.root, name));
    const { code, stderr } = await runCli(['batch', 'merge', ...folders, '--out', outOf(where)]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/1-3 is shard 1\/3, and \S+1-2 is shard 1\/2/)]);
  });

  test('of different prompts are exit 13 and named: a task may be in none of them', async () => {
    const where = place(FILES);
    const server = await serve(answers);
    const [, , ...rest] = ARGS;
    for (const [index, prompt] of [
      [1, 'Explain {{file}}'],
      [2, 'Describe {{file}}'],
    ] as const) {
      await runBatch(server, where, ['-p', prompt, ...rest, '--shard', `${index}/2`]);
      cpSync(outOf(where), join(where.root, `part-${index}`), { recursive: true });
      rmSync(outOf(where), { recursive: true });
    }
    const folders = [1, 2].map((index) => join(where.root, `part-${index}`));
    const { code, stdout } = await runCli([
      'batch',
      'merge',
      ...folders,
      '--out',
      outOf(where),
      '-o',
      'json',
    ]);
    expect([code, JSON.parse(stdout)]).toEqual([13, expect.objectContaining({ reason: 'different_tasks' })]);
  });

  test('are not merged into one of themselves', async () => {
    const { where, folders } = await shards([1, 2, 3]);
    const merged = outOf(where);
    const before = resultsIn(where);
    const { code, stderr } = await runCli(['batch', 'merge', merged, folders[2] ?? '', '--out', merged]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is one of the folders to merge')]);
    expect(resultsIn(where)).toEqual(before);
    expect((await runCli(['verify', merged])).code).toBe(0);
  });

  test('without a task are exit 0', async () => {
    const where = place({ 'src/a.ts': 'a' });
    const server = await serve(answers);
    const codes = [];
    for (const index of [1, 2, 3]) {
      codes.push((await runBatch(server, where, [...ARGS, '--shard', `${index}/3`])).code);
      rmSync(outOf(where), { recursive: true });
    }
    expect(codes).toEqual([0, 0, 0]);
    expect(server.requests).toHaveLength(1);
  });

  test.each(['0/3', '4/3', '1', 'a/b'])('%s are none', async (shard) => {
    const where = place(FILES);
    expect((await runBatch(await serve(answers), where, [...ARGS, '--shard', shard])).code).toBe(2);
  });
});

describe('bosun verify of a folder', () => {
  test('finds it whole', async () => {
    const where = await finished();
    const { code, stdout } = await runCli(['verify', outOf(where)]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/valid, 18 events, 8 transcripts, tasks_failed \(exit 13\)$/m);
  });

  test.each<[string, (folder: string) => void]>([
    ['journal.jsonl', (folder) => appendFileSync(join(folder, 'journal.jsonl'), '{"type":"x"}\n')],
    ['results.jsonl', (folder) => change(join(folder, 'results.jsonl'), 'completed', 'denied')],
    ['batch.json', (folder) => change(join(folder, 'batch.json'), 'Explain', 'Delete')],
    [
      'transcript.jsonl',
      (folder) => change(join(folder, 'tasks/src%2F0.ts/1/transcript.jsonl'), 'answer', 'ANSWER'),
    ],
  ])('finds that %s was changed', async (name, tamper) => {
    const where = await finished();
    tamper(outOf(where));
    const { code, stderr } = await runCli(['verify', outOf(where)]);
    expect([code, stderr]).toEqual([5, expect.stringContaining(name)]);
  });
});

function change(file: string, from: string, to: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
}

test.each(['../outside', 'a b', 'a..b', 'a.lock'])('a batch is not called %s', async (name) => {
  const where = place(FILES);
  const server = await serve(answers);
  const args = ['-p', 'Explain {{file}}', '--each', 'src/*.ts', '--name', name, '--policy', 'read-only'];
  const { code, stderr } = await runBatch(server, where, args);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`--name ${name}`)]);
  expect(server.requests).toHaveLength(0);
});
