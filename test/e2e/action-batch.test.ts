import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { sampled } from '../helpers/counts.js';
import { promptOf } from '../helpers/batch.js';
import { useAction, type ActionUse } from '../helpers/composite-action.js';
import { text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const BATCH = `version: 1
prompt: Explain {{file}}
tasks: { glob: { include: ['src/*.ts'] } }
policy: [read-only]
`;
const FILES = { 'src/a.ts': 'a', 'src/b.ts': 'b', 'nightly.yaml': BATCH };

/** The task about b.ts fails. */
const answers = (request: LoggedRequest) =>
  promptOf(request).includes('b.ts') ? { parts: [], finishReason: 'SAFETY' } : { parts: [text('Done.')] };

async function use(inputs: Record<string, string>, more: Partial<ActionUse> = {}) {
  const server = await serve(answers);
  const where = more.where ?? place(FILES);
  const env = { GOOGLE_GEMINI_BASE_URL: server.url, ...more.env };
  const given = { model: 'gemini-2.5-flash', 'api-key': 'action-key', ...inputs };
  return { ...(await useAction({ ...more, where, inputs: given, env })), server, where };
}

test('the action runs a batch and says what became of its tasks', async () => {
  const { code, outputs, summary, where } = await use({ batch: 'nightly.yaml' });
  expect(code).toBe(13);
  expect(outputs).toMatchObject({
    ...{ status: 'tasks_failed', 'exit-code': '13', completed: '1', failed: '1', pending: '0' },
    results: join(where.workspace, '.bosun/batches/nightly/results.jsonl'),
  });
  expect(Number(outputs['cost-usd'])).toBeGreaterThan(0);
  expect(
    readFileSync(outputs['results'] as string, 'utf8')
      .trim()
      .split('\n'),
  ).toHaveLength(2);
  expect(summary).toContain('tasks_failed');
});

test('args may name another folder', async () => {
  const { outputs, where } = await use({ batch: 'nightly.yaml', args: '--out other' });
  expect(outputs['results']).toBe(join(where.workspace, 'other/results.jsonl'));
});

test('fail-on knows how batches end', async () => {
  expect((await use({ batch: 'nightly.yaml', 'fail-on': 'limit' })).code).toBe(0);
  expect((await use({ batch: 'nightly.yaml', 'fail-on': 'tasks_failed' })).code).toBe(13);
});

sampled.each([
  [{ prompt: 'x' }, 'inputs batch and prompt do not go together'],
  [{ 'patch-out': 'x.patch' }, 'inputs batch and patch-out do not go together'],
  [{ args: '-o text' }, '--output-format cannot be changed here'],
])('batch beside %j is exit 2', async (inputs, message) => {
  const { code, annotations, outputs, server } = await use(
    { batch: 'nightly.yaml', ...inputs },
    { isRefused: true },
  );
  expect([code, outputs['status'], outputs['completed']]).toEqual([2, 'config_error', '']);
  expect(JSON.stringify(annotations)).toContain(message);
  expect(server.requests).toEqual([]);
});

test('in a pull request neither the batch file nor its policies may come from its tree', async () => {
  const where = place({ ...FILES, 'own.yaml': 'version: 1\n' });
  const outside = join(where.root, 'nightly.yaml');
  writeFileSync(outside, BATCH.replace('[read-only]', `['${join(where.workspace, 'own.yaml')}']`));
  const env = { GITHUB_EVENT_NAME: 'pull_request' };
  for (const batch of ['nightly.yaml', outside]) {
    const { code, annotations, server } = await use({ batch }, { where, env, isRefused: true });
    expect(code).toBe(2);
    expect(JSON.stringify(annotations)).toContain('is from the checkout of the pull request');
    expect(server.requests).toEqual([]);
  }
  const allowed = { batch: 'nightly.yaml', 'policy-from-workspace': 'true' };
  expect((await use(allowed, { where, env })).outputs['completed']).toBe('1');
});
