import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Summary } from '../../src/reporters/summary.js';
import { readTranscript } from '../../src/transcript/reader.js';
import { killAtRandom } from '../helpers/batch-kills.js';
import {
  batchFile,
  commitAll,
  journalled,
  lastResult,
  outOf,
  promptOf,
  resultsIn,
  runBatch,
  turnOf,
} from '../helpers/batch.js';
import { countOf } from '../helpers/counts.js';
import { call, text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { Random } from '../helpers/random.js';
import { runCli, type Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const edits = (request: LoggedRequest) => {
  const [, file = ''] = /FILE=(\S+)/.exec(promptOf(request)) ?? [];
  const delayMs = 20;
  // A write that a kill has cut short is never repeated by Bosun: that is the model's to do.
  const isUnknown = JSON.stringify(request.body?.contents?.at(-1) ?? '').includes('outcome unknown');
  if (turnOf(request) > 2 && !isUnknown) return { parts: [text('done')], delayMs };
  if (turnOf(request) === 1) return { parts: [call('read_file', { file_path: file })], delayMs };
  return { parts: [call('write_file', { file_path: file, content: `changed ${file}\n` })], delayMs };
};

/** What all transcripts say that was spent. */
function spentIn(where: Scratch): number {
  const paths = readdirSync(join(outOf(where), 'tasks'), { recursive: true, encoding: 'utf8' });
  const costs = paths
    .filter((path) => path.endsWith('transcript.jsonl'))
    // One that was killed before it said anything.
    .filter((path) => statSync(join(outOf(where), 'tasks', path)).size > 0)
    .map((path) => {
      const summary = new Summary();
      for (const line of readTranscript(join(outOf(where), 'tasks', path)).lines) summary.add(line);
      return summary.stats(0).cost_usd ?? 0;
    });
  return costs.reduce((a, b) => a + b, 0);
}

const rounds = countOf('BATCH_KILLS');
const tasks = countOf('BATCH_TASKS');
/** Others than in every run: `BATCH_SEED=1000 npm test -- test/e2e/batch-crash`. */
const first = Number(process.env['BATCH_SEED'] ?? 0);

test.each(Array.from({ length: rounds }, (_, i) => [first + i]))(
  `a batch of ${tasks} tasks that is killed now and then comes to the same end (seed %d)`,
  async (seed) => {
    const random = new Random(seed);
    const names = Array.from({ length: tasks }, (_, i) => `src/${i}.ts`);
    const where = place(Object.fromEntries(names.map((name) => [name, `${name}\n`])));
    commitAll(where);
    const server = await serve(edits);
    const isApplied = seed % 2 === 0;
    const file = batchFile(
      where,
      `version: 1
name: killed
prompt: Change FILE={{file}}
tasks: {glob: {include: ["src/*.ts"]}}
policy: codemod
concurrency: ${random.pick([1, 4, 16])}
success: {require_changes: true}
integrate: ${isApplied ? 'apply' : 'none'}
`,
    );
    const kills: string[] = [];
    for (let kill = 0; kill < 6; kill++) {
      const { moment, isKilled } = await killAtRandom(random, server, where, [file]);
      if (isKilled) kills.push(moment);
    }
    const { code, stderr } = await runBatch(server, where, [file]);
    const failed = resultsIn(where).filter(({ status }) => status !== 'completed');
    expect({ code, failed, stderr: code === 0 ? '' : stderr, kills }).toEqual({
      code: 0,
      failed: [],
      stderr: '',
      kills,
    });

    const completed = journalled(where, 'task_end').filter(({ status }) => status === 'completed');
    expect(completed.map(({ id }) => id).toSorted()).toEqual(names.toSorted());
    expect(resultsIn(where).map(({ id, status }) => [id, status])).toEqual(
      names.toSorted().map((name) => [name, 'completed']),
    );
    expect(resultsIn(where).every(({ patch }) => patch !== null)).toBe(true);
    expect(lastResult(where).cost_usd).toBeCloseTo(spentIn(where), 8);
    const left = ['workspaces', '.tmp'].filter((name) => readdirSync(outOf(where)).join().includes(name));
    expect(left).toEqual([]);
    expect(readdirSync(join(where.workspace, '.git/refs')).includes('bosun')).toBe(false);
    expect(await runCli(['verify', outOf(where)])).toMatchObject({ code: 0 });

    const status = execFileSync('git', ['status', '--porcelain'], { cwd: where.workspace, encoding: 'utf8' });
    const changed = isApplied ? names.toSorted().map((name) => ` M ${name}\n`) : [];
    expect(status).toBe(changed.join(''));
    for (const name of names)
      expect(readFileSync(join(where.workspace, name), 'utf8')).toBe(
        `${isApplied ? 'changed ' : ''}${name}\n`,
      );
  },
);
