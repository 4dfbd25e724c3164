import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { batchFile, commitAll, journalled, outOf, resultsIn, runBatch, turnOf } from '../helpers/batch.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { runCli } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';

/** The file system refuses root nothing. */
const NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
const isRoot = process.getuid?.() === 0;
const COMMANDS = ['mkdir -p cache/module', 'touch cache/module/file', 'chmod -R 555 cache'];

const server = () =>
  serve((request) => {
    const command = COMMANDS[turnOf(request) - 1];
    return { parts: [command === undefined ? text('done') : call('run_shell_command', { command })] };
  });

/** A batch that an ordinary user runs. */
function batchOfNobody() {
  const where = place({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' });
  commitAll(where);
  writeFileSync(join(where.root, 'policy.yaml'), 'version: 1\nmode: yolo\n');
  const file = batchFile(
    where,
    `version: 1
name: readonly
prompt: Build {{file}}
tasks: {glob: {include: ["*.txt"]}}
policy: policy.yaml
concurrency: 1
`,
  );
  if (isRoot) execFileSync('chown', ['-hR', '65534:65534', where.root]);
  chmodSync(where.root, 0o755);
  return { where, file, options: { launcher: isRoot ? NOBODY : [] } };
}

test('read-only folders that tasks leave behind are in the way of nobody', async () => {
  const { where, file, options } = batchOfNobody();
  const model = await server();
  expect(await runBatch(model, where, [file], options)).toMatchObject({ code: 0, stderr: '' });
  expect(resultsIn(where).map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
  expect(existsSync(join(outOf(where), 'workspaces'))).toBe(false);
  expect(await runBatch(model, where, [file, '--redo', 'a.txt'], options)).toMatchObject({ code: 0 });
});

(isRoot ? test : test.skip)(
  'what cannot be removed is a warning, and its number is not used again',
  async () => {
    const { where, file, options } = batchOfNobody();
    const model = await server();
    const args = [file, '--only', 'a.txt'];
    expect(await runBatch(model, where, args, options)).toMatchObject({ code: 0 });
    const workspaces = join(outOf(where), 'workspaces');
    mkdirSync(join(workspaces, '7/of-root'), { recursive: true });
    execFileSync('chown', ['65534:65534', workspaces]);
    expect(await runBatch(model, where, [...args, '--redo', 'a.txt'], options)).toMatchObject({ code: 0 });
    expect(journalled(where, 'task_start').at(-1)).toMatchObject({ workspace: 'workspaces/8' });
    expect(journalled(where, 'batch_notice')).toContainEqual(
      expect.objectContaining({ code: 'workspace_left', level: 'warning' }),
    );
    expect(await runCli(['verify', outOf(where)])).toMatchObject({ code: 0 });
  },
);
