import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  batchFile,
  commitAll,
  journalled,
  outOf,
  promptOf,
  resultsIn,
  runBatch,
  startBatch,
  turnOf,
} from '../helpers/batch.js';
import { call, text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { runCli, type Scratch } from '../helpers/run-cli.js';
import { place, serve, type Server } from '../helpers/served.js';
import { until } from '../helpers/until.js';

/** Starts a batch, and kills it once the server was asked so often. */
async function killAfter(requests: number, server: Server, where: Scratch, args: readonly string[]) {
  const { child, done } = startBatch(server, where, args);
  await until(() => server.requests.length >= requests, `${requests} requests`, 30_000);
  child.kill('SIGKILL');
  await done;
}

const idOf = (request: LoggedRequest) => /task (\w+)/.exec(promptOf(request))?.[1] ?? '';

describe('a batch that was killed', () => {
  test('never gives two tasks one workspace, whichever prompt it goes on with', async () => {
    const where = place({ 'a.txt': 'a\n' });
    commitAll(where);
    let isStuck = true;
    const server = await serve((request) => {
      const id = idOf(request);
      if (turnOf(request) === 1)
        return { parts: [call('write_file', { file_path: `only-${id}.txt`, content: `${id}\n` })] };
      return isStuck ? { hang: true } : { parts: [text('done')], delayMs: 300 };
    });
    const file = (version: string, concurrency: number) =>
      batchFile(
        where,
        `version: 1
name: two
prompt: "${version}: task {{id}}"
tasks: {list: [{id: a}, {id: b}]}
policy: codemod
concurrency: ${concurrency}
`,
      );
    await killAfter(2, server, where, [file('v1', 1)]);
    await killAfter(4, server, where, [file('v2', 1)]);
    isStuck = false;
    const { code, stderr } = await runBatch(server, where, [file('v1', 2)]);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    for (const { id, patch } of resultsIn(where))
      expect(readFileSync(join(outOf(where), patch ?? ''), 'utf8')).toMatch(
        new RegExp(`^diff --git a/only-${id}.txt b/only-${id}.txt\nnew file[^]*\\+${id}\n$`),
      );
    const used = journalled(where, 'task_start').slice(-2);
    expect(new Set(used.map(({ workspace }) => workspace)).size).toBe(2);
    expect(await runCli(['verify', outOf(where)])).toMatchObject({ code: 0 });
  });

  test('takes the answer to one prompt for that to no other', async () => {
    const where = place({ 'a.txt': 'a\n' });
    let isStuck = false;
    const server = await serve((request) =>
      isStuck ? { hang: true } : { parts: [text(`answer to ${promptOf(request)}`)] },
    );
    const tasks = join(where.root, 'tasks.jsonl');
    writeFileSync(tasks, '{"id":"a"}\n');
    const args = (word: string) => [
      ...['-p', `${word} {{id}}`, '--tasks', tasks, '--policy', 'read-only', '--name', 'one'],
    ];
    await runBatch(server, where, args('ONE'));
    // As if it had been killed in the middle of its run.
    cutTo(join(outOf(where), 'journal.jsonl'), 2);
    cutTo(join(outOf(where), 'tasks/a/1/transcript.jsonl'), 1);
    isStuck = true;
    await killAfter(2, server, where, args('TWO'));
    isStuck = false;
    for (const word of ['ONE', 'TWO', 'ONE', 'TWO']) {
      expect(await runBatch(server, where, args(word))).toMatchObject({ code: 0 });
      expect(resultsIn(where)).toMatchObject([{ status: 'completed', response: `answer to ${word} a` }]);
      expect(await runCli(['verify', outOf(where)])).toMatchObject({ code: 0 });
    }
    const keys = new Map<number, Set<string>>();
    for (const { attempt, key } of journalled(where, 'task_start'))
      keys.set(attempt, (keys.get(attempt) ?? new Set()).add(key));
    expect([...keys.values()].map(({ size }) => size)).toEqual(Array.from(keys, () => 1));
  });
});

/** Leaves the first lines of a file. */
function cutTo(path: string, count: number): void {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, count);
  writeFileSync(path, `${lines.join('\n')}\n`);
}
