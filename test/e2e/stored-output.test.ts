import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { sampled } from '../helpers/counts.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { eventsOf, ofType, type Scratch } from '../helpers/run-cli.js';
import { approveIn, resumeIn } from '../helpers/resume.js';
import { bosunUnder, place } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const MIB = 2 ** 20;
const done = { parts: [text('Done.')] };
const shell = (command: string, id: string) => call('run_shell_command', { command }, { id });
/** So many bytes, with a beginning and an end that can be told. */
const printing = (bytes: number) => `echo BEGIN; head -c ${bytes} /dev/zero | tr '\\0' x; echo; echo THE END`;
const policy = (limit: string, more = '') =>
  `version: 1\nmode: yolo\n${more}limits: {stored_output: ${limit}}\n`;

const results = (where: Scratch) => ofType(eventsOf(where), 'tool_result');
const outputs = (where: Scratch) => results(where).map(({ output }) => String(output));
const stored = (where: Scratch) =>
  results(where).flatMap(({ full_output }) => {
    if (full_output === undefined) return [];
    const path = resolve(where.workspace, full_output);
    return { size: statSync(path).size, content: readFileSync(path, 'utf8') };
  });

test('what all outputs take on disk is bounded; the commands go on, and their ends reach the model', async () => {
  const script = [
    { parts: [shell(`${printing(3 * MIB)}; touch went-on`, 'a'), shell(printing(MIB), 'b')] },
    done,
  ];
  const { code, place: where } = await bosunUnder(policy('2MiB'), script);
  expect(code).toBe(0);
  const [first, second] = stored(where);
  expect((first?.size ?? 0) + (second?.size ?? 0)).toBeLessThan(2 * MIB + 1000);
  expect(first?.content).toMatch(
    /^BEGIN\nx{2097146}\n\[only the first 2097152 bytes stored: limits\.stored_output/,
  );
  expect(first?.content).toMatch(/it may take 2 MiB\]\n$/);
  expect(second?.content).toMatch(/^\n\[only the first 0 bytes stored/);
  const [told, toldThen] = outputs(where);
  expect(told).toMatch(
    /BEGIN\nx+\n\[… about \d+ bytes cut; only the first 2097152 bytes stored in \S+a\.txt: limits/,
  );
  expect(toldThen).toMatch(
    /BEGIN\nx+\n\[… about \d+ bytes cut; only the first 0 bytes stored in \S+b\.txt: limits/,
  );
  for (const output of [told, toldThen]) expect(output).toMatch(/x\nTHE END\n$/);
  expect(statSync(resolve(where.workspace, 'went-on')).isFile()).toBe(true);
});

test('of several policies the tightest counts, and the start of the run tells it', async () => {
  const where = place({ '../wide.yaml': policy('1GiB') });
  const run = await bosunUnder(
    policy('512KiB'),
    [done],
    ['--policy', resolve(where.root, 'wide.yaml')],
    where,
  );
  expect(run.code).toBe(0);
  expect(ofType(eventsOf(where), 'init')[0]?.limits.stored_output).toBe(512 * 1024);
});

sampled.each(['256', '256MB', '-1MiB', '"lots"'])('a limit of %s is none', async (limit) => {
  const { code, stderr } = await bosunUnder(policy(limit), [done]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/limits\.stored_output/);
});

test('a run that goes on has the room that is left', async () => {
  const rules = `rules: [{id: r, tool: write_file, decision: ask}]\non_ask: defer\n`;
  const write = call('write_file', { file_path: 'a.txt', content: 'a' }, { id: 'w' });
  const script = [
    { parts: [shell(printing(MIB / 2), 'a'), write] },
    { parts: [shell(printing(MIB), 'b')] },
    done,
  ];
  const { code, server, place: where } = await bosunUnder(policy('1MiB', rules), script);
  expect(code).toBe(4);
  await approveIn(where, ['--option', 'proceed_once']);
  expect((await resumeIn(server, where)).code).toBe(0);
  const sizes = stored(where).map(({ size }) => size);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(MIB + 1000);
  expect(outputs(where).at(-1)).toMatch(
    /only the first \d+ bytes stored in \S+b\.txt: limits\.stored_output/,
  );
});
