import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { batchFile, outOf, runBatch } from '../helpers/batch.js';
import { forge, type Line } from '../helpers/forge.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { runAgainst, runCli, type Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const usage = { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 };
const done = { parts: [text('Done.')], usage };
const read = { parts: [call('read_file', { file_path: 'a.txt' }, { id: 'c' })], usage };

const compare = (where: Scratch, ...args: string[]) => runCli(['compare', ...args], { cwd: where.root });

/** A run with a transcript of its own. */
async function run(
  where: Scratch,
  name: string,
  script: readonly object[],
  prompt = 'do it',
): Promise<string> {
  const transcript = join(where.root, name);
  const server = await serve([...script]);
  await runAgainst(server, { ...where, transcript }, ['-m', 'gemini-2.5-flash', '-p', prompt]);
  return transcript;
}

/** A batch of some tasks; those named `bad…` are not completed. */
async function batch(
  where: Scratch,
  ids: readonly string[],
  more = '',
  script?: readonly object[],
): Promise<string> {
  const tasks = ids.map((id) => JSON.stringify({ id, name: id })).join('\n');
  writeFileSync(join(where.root, 'tasks.jsonl'), `${tasks}\n`);
  const file = batchFile(
    where,
    `version: 1\nname: b\nprompt: do {{name}}\ntasks: {file: tasks.jsonl}\n${more}`,
  );
  const server = await serve(
    script
      ? [...script]
      : ({ body }: { body: unknown }) => (JSON.stringify(body).includes('do bad') ? { status: 400 } : done),
  );
  const { code } = await runBatch(server, where, [file]);
  expect(code).toBe(ids.some((id) => id.startsWith('bad')) ? 13 : 0);
  return outOf(where);
}

describe('bosun compare', () => {
  test('compares two runs, whatever they were asked', async () => {
    const where = place({ 'a.txt': 'a\n' });
    const a = await run(where, 'a.jsonl', [done]);
    const b = await run(where, 'b.jsonl', [read, done], 'do it better');
    const { code, stdout } = await compare(where, a, b, '--json');
    expect(code).toBe(0);
    const { tasks, figures, tools, gate } = JSON.parse(stdout);
    const of = (name: string) => figures.find((one: { name: string }) => one.name === name);
    expect([tasks, gate]).toEqual([1, null]);
    expect(of('turns')).toMatchObject({ a: 1, b: 2, change: 1, noise: null });
    expect(of('tokens')).toMatchObject({ a: 110, b: 220 });
    expect(of('cost_usd').change).toBeCloseTo(1);
    expect(tools).toEqual([{ name: 'read_file', a: 0, b: 1 }]);
    const people = await compare(where, 'a.jsonl', 'b.jsonl');
    expect(people.stdout).toMatch(/^A {2}a\.jsonl {2}1 task\nB {2}b\.jsonl {2}1 task\n1 task compared\n/);
    expect(people.stdout).toMatch(/turns per task +1 +2 +\+100\.0 % +too few tasks to tell from noise\n/);
  });

  test('compares batches task by task, and ends 5 if its gate is broken', async () => {
    const [before, after] = [place({ 'a.txt': 'a\n' }), place({ 'a.txt': 'a\n' })];
    const a = await batch(before, ['one', 'bad-two', 'three', 'gone']);
    const b = await batch(after, ['one', 'bad-two', 'three', 'new']);
    const { code, stdout } = await compare(before, a, b, '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      {
        tasks: 3,
        only_a: ['gone'],
        only_b: ['new'],
        pass_rate: { a: { passed: 2, runs: 3 }, difference: 0 },
      },
    ]);
    const gate = join(before.root, 'gate.yaml');
    const reports = ['--markdown', 'c.md', '--html', 'c.html'];
    writeFileSync(gate, 'pass_rate: -0\ncost_usd: +10%\n');
    const missing = await compare(before, a, b, '--gate', gate, ...reports);
    expect(missing.code).toBe(5);
    expect(missing.stdout).toMatch(/BROKEN {2}tasks missing \+0: 0 -> 1, accepted up to 0\n/);
    expect(missing.stdout).toMatch(/holds {3}cost \+10%: /);
    expect(readFileSync(join(before.root, 'c.md'), 'utf8')).toContain('**Broken**: tasks missing +0');
    const page = readFileSync(join(before.root, 'c.html'), 'utf8');
    expect(page).toContain('<h1>The gate is broken</h1>');
    writeFileSync(gate, 'pass_rate: -0\nmissing: 1\n');
    expect(await compare(before, a, b, '--gate', gate)).toMatchObject({ code: 0 });
  });

  test('counts the runs of repeated tasks', async () => {
    const where = place();
    const a = await batch(where, ['one', 'two'], 'repeat: {times: 3, min_passes: 2}\n');
    const { stdout } = await compare(where, a, a, '--json');
    const { pass_rate, figures } = JSON.parse(stdout);
    // Two passes of three are enough: the third is not run.
    expect(pass_rate.a).toMatchObject({ passed: 4, runs: 4 });
    expect(figures.find(({ name }: { name: string }) => name === 'tokens')).toMatchObject({ a: 110, b: 110 });
  });

  test('takes runs of the same prompt below a folder as repeats', async () => {
    const where = place({ 'a.txt': 'a\n' });
    for (const name of ['x', 'y']) mkdirSync(join(where.root, name));
    await run(where, 'x/1.jsonl', [done], 'first');
    await run(where, 'x/2.jsonl', [{ status: 400 }], 'first');
    await run(where, 'x/3.jsonl', [done], 'second');
    await run(where, 'y/1.jsonl', [done], 'first');
    const { code, stdout } = await compare(where, 'x', 'y', '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      {
        tasks: 1,
        only_a: ['second'],
        pass_rate: { a: { passed: 1, runs: 2 }, b: { passed: 1, runs: 1 } },
        gained: [{ task: 'first', flaky: true }],
      },
    ]);
  });

  test('counts calls of any name', async () => {
    const where = place();
    const a = await run(where, 'a.jsonl', [done]);
    const names = ['constructor', '__proto__', 'say\u001b[2J\n::error::no'];
    const parts = names.map((name, i) => call(name, {}, { id: `c${i}` }));
    const b = await run(where, 'b.jsonl', [{ parts, usage }, done]);
    const { stdout } = await compare(where, a, b, '--json');
    expect(JSON.parse(stdout).tools).toEqual(names.map((name) => ({ name, a: 0, b: 1 })));
    const people = await compare(where, a, b);
    expect(people.stdout).toMatch(/^ {2}constructor +0 +1\n/m);
    expect(people.stdout).not.toMatch(/\u001b|^::|NaN/m);
  });

  test.each<[string, (result: Line) => unknown]>([
    ['no figures', (result) => delete result['stats']],
    ['figures that are none', ({ stats }) => Object.assign(stats as object, { cost_usd: -5 })],
    ['tools that are none', ({ stats }) => Object.assign(stats as object, { tools: 'abc' })],
    ['a status of its own', (result) => (result['status'] = '<img src=x>')],
    ['denials that are none', (result) => (result['denials'] = { length: 9 })],
  ])('does not compare a transcript with %s, though its chain is whole', async (_, change) => {
    const where = place();
    const a = await run(where, 'a.jsonl', [done]);
    const b = await run(where, 'b.jsonl', [done]);
    forge({ ...where, transcript: b }, (lines) => void change(lines.at(-1) as Line));
    const { code, stdout, stderr } = await compare(where, a, b);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/b\.jsonl cannot be compared: line \d+ is not valid/);
  });

  test('holds no gate by a transcript that was changed', async () => {
    const where = place();
    const [a, b] = [await run(where, 'a.jsonl', [done]), await run(where, 'b.jsonl', [read, done])];
    writeFileSync(join(where.root, 'gate.yaml'), 'tokens: +0\n');
    expect(await compare(where, a, b, '--gate', 'gate.yaml')).toMatchObject({ code: 5 });
    writeFileSync(
      b,
      readFileSync(b, 'utf8')
        .replaceAll(/"(total_)?tokens":\d+/g, '"$1tokens":1')
        .replace('gemini-2.5-flash', 'gemini-2.5-pro'),
    );
    const { code, stderr } = await compare(where, a, b, '--gate', 'gate.yaml');
    expect([code, stderr]).toEqual([2, expect.stringContaining('its hash chain breaks')]);
  });

  test('does not take the calls of a batch for none where transcripts are gone', async () => {
    const [before, after] = [place({ 'a.txt': 'a\n' }), place({ 'a.txt': 'a\n' })];
    const a = await batch(before, ['one'], '', [read, done]);
    const b = await batch(after, ['one'], '', [read, done]);
    const toolsOf = async () => JSON.parse((await compare(before, a, b, '--json')).stdout).tools;
    expect(await toolsOf()).toEqual([{ name: 'read_file', a: 1, b: 1 }]);
    rmSync(join(b, 'tasks/one/1/transcript.jsonl'));
    expect(await toolsOf()).toEqual([]);
  });

  test.each([
    ['nothing that exists', ['nowhere', 'x.jsonl'], /nowhere does not exist/],
    ['no transcript', ['gate.yaml', 'x.jsonl'], /gate\.yaml:1: not an event of a transcript/],
    ['a folder without runs', ['empty', 'x.jsonl'], /there is no transcript below/],
    ['a gate without limits', ['x.jsonl', 'x.jsonl', '--gate', 'none.yaml'], /none\.yaml has no limits/],
    [
      'a limit it does not know',
      ['x.jsonl', 'x.jsonl', '--gate', 'odd.yaml'],
      /odd\.yaml:2:1: .*Did you mean cost_usd/,
    ],
    ['no gate file', ['x.jsonl', 'x.jsonl', '--gate', 'empty'], /gate file .*empty cannot be read/],
    ['one side only', ['x.jsonl'], /missing required argument 'B'/],
  ])('refuses %s in one line', async (_, args, message) => {
    const where = place();
    await run(where, 'x.jsonl', [done]);
    writeFileSync(join(where.root, 'gate.yaml'), 'pass_rate: -0\n');
    writeFileSync(join(where.root, 'none.yaml'), '{}\n');
    writeFileSync(join(where.root, 'odd.yaml'), 'pass_rate: -0\ncosts_usd: +10%\n');
    mkdirSync(join(where.root, 'empty'));
    const { code, stdout, stderr } = await compare(where, ...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});
