import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { Summary } from '../../src/reporters/summary.js';
import { readTranscript } from '../../src/transcript/reader.js';
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
import { countOf } from '../helpers/counts.js';
import { call, text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { Random } from '../helpers/random.js';
import type { Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';

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

const kills = countOf('BATCH_KILLS');
const tasks = countOf('BATCH_TASKS');

test.each(Array.from({ length: kills }, (_, i) => [i]))(
  `a batch of ${tasks} tasks that is killed now and then comes to the same end (seed %d)`,
  async (seed) => {
    const random = new Random(seed);
    const names = Array.from({ length: tasks }, (_, i) => `src/${i}.ts`);
    const where = place(Object.fromEntries(names.map((name) => [name, `${name}\n`])));
    commitAll(where);
    const server = await serve(edits);
    const file = batchFile(
      where,
      `version: 1
name: killed
prompt: Change FILE={{file}}
tasks: {glob: {include: ["src/*.ts"]}}
policy: codemod
concurrency: 4
success: {require_changes: true}
`,
    );
    for (let kill = 0; kill < 4; kill++) {
      const { child, done } = startBatch(server, where, [file]);
      await Promise.race([done, wait(300 + random.next() * 2500)]);
      child.kill('SIGKILL');
      await done;
    }
    const { code } = await runBatch(server, where, [file]);
    const failed = resultsIn(where).filter(({ status }) => status !== 'completed');
    expect([code, failed]).toEqual([0, []]);

    const completed = journalled(where, 'task_end').filter(({ status }) => status === 'completed');
    expect(completed.map(({ id }) => id).toSorted()).toEqual(names.toSorted());
    expect(resultsIn(where).map(({ id, status }) => [id, status])).toEqual(
      names.toSorted().map((name) => [name, 'completed']),
    );
    expect(resultsIn(where).every(({ patch }) => patch !== null)).toBe(true);
    expect(lastResult(where).cost_usd).toBeCloseTo(spentIn(where), 8);
    expect(readdirSync(outOf(where)).includes('workspaces')).toBe(false);
    expect(readdirSync(join(where.workspace, '.git/refs')).includes('bosun')).toBe(false);
  },
);
