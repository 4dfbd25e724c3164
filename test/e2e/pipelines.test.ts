import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { sampled } from '../helpers/counts.js';
import { text } from '../helpers/gemini-server.mjs';
import { installed } from '../helpers/installed.js';
import { REPOSITORY, serverEnv, type Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { binFolder, runScript } from '../helpers/shell.js';

const FILES = {
  'prompt.txt': 'What does this project do?\n',
  'names.txt': 'cart\norder\nshop\n',
  'src/a.js': 'export const a = 1;\n',
  'src/b c.js': 'export const b = 2;\n',
  'src/d.js': 'export const d = 3;\n',
};
const ANSWER = 'It is all fine.';

/** A repository with a change in it, a model that always says the same, and bosun on the PATH. */
async function desk(answers = Array.from({ length: 10 }, () => ({ parts: [text(ANSWER)] }))) {
  const where = place(FILES);
  git(where, 'init', '-q', '.');
  git(where, 'add', '.');
  git(where, '-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '-qm', 'First');
  execFileSync('sh', ['-c', 'echo "export const more = 1;" >> src/a.js'], { cwd: where.workspace });
  const server = await serve(answers);
  const PATH = [binFolder(where), process.env['PATH']].join(delimiter);
  const env = serverEnv(server, where, { PATH, BOSUN_MODEL: 'gemini-test' });
  const run = (script: string) => runScript(script, { cwd: where.workspace, env });
  return { where, server, run };
}

function git({ workspace }: Scratch, ...args: string[]): void {
  execFileSync('git', args, { cwd: workspace });
}

function promptsOf({ requests }: Awaited<ReturnType<typeof serve>>): string[] {
  return requests.map(({ body }) => JSON.stringify(body.contents[0].parts)).sort();
}

describe('the examples of the README', () => {
  const section = /^## In a pipeline\n([\s\S]*?)^## /m.exec(
    readFileSync(join(REPOSITORY, 'README.md'), 'utf8'),
  )?.[1];
  const examples = [...(section ?? '').matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(
    ([, script]) => script as string,
  );
  const hasJq = installed('jq') !== undefined;

  test('are there', () => {
    expect(examples.length).toBeGreaterThanOrEqual(6);
  });

  const possible = examples.filter((script) => hasJq || !script.includes('jq '));
  sampled.each(possible)('%s', async (script) => {
    const { where, server, run } = await desk();
    const { code, stdout, stderr } = await run(script);
    expect([
      code,
      stderr.replaceAll(/^bosun: (completed: |error: cancelled \(stdout_closed\)).*\n/gm, ''),
    ]).toEqual([0, '']);
    const isLoop = script.includes('while read');
    const said = isLoop ? readFileSync(join(where.workspace, 'cart.txt'), 'utf8') : stdout;
    expect(said).toContain(script.includes('stream-json') ? '"type":"init"' : ANSWER);
    const runs = isLoop || script.includes('xargs') ? 3 : 1;
    if (!script.includes('head -1')) expect(server.requests).toHaveLength(runs);
    expect(
      readdirSync(join(where.workspace, '.bosun/runs')).filter((name) => !name.startsWith('.')),
    ).toHaveLength(runs);
  });
});

test('what goes through a pipe reaches the model whole, under its label', async () => {
  const { server, run } = await desk();
  await run("git diff | bosun run --quiet -p 'Review this' --stdin diff");
  expect(promptsOf(server)[0]).toMatch(/Review this.*diff.*\+export const more = 1;/);
});

test('a loop loses none of its lines, and each of several at a time gets its own file', async () => {
  const { server, run } = await desk();
  await run('while read -r name; do bosun run --quiet -p "What is $name for?" > /dev/null; done < names.txt');
  expect(promptsOf(server).map((prompt) => /What is (\w+) for/.exec(prompt)?.[1])).toEqual([
    'cart',
    'order',
    'shop',
  ]);
  await run("printf '%s\\0' src/*.js | xargs -0 -P4 -I{} bosun run --quiet -p Explain --file {} > /dev/null");
  const files = promptsOf(server).filter((prompt) => prompt.includes('Explain'));
  for (const content of Object.values(FILES).slice(2))
    expect(files.filter((prompt) => prompt.includes(content.trim()))).toHaveLength(1);
});

sampled.each([
  ['a reader that leaves', 'bosun run -p x -o stream-json | head -1 > /dev/null; exit ${PIPESTATUS[0]}', 141],
  ['a full disk behind stdout', 'bosun run -p x > /dev/full', 141],
  ['the same for help', 'bosun --help > /dev/full', 141],
  ['no stdin at all', 'bosun run -p x <&-', 0],
  ['no stdin and no prompt', 'bosun run <&-', 2],
  ['no stderr', 'bosun run -p x 2>&-', 0],
  // Node puts /dev/null in the place of streams that are closed from the start.
  ['no streams at all', 'bosun run -p x <&- >&- 2>&-', 0],
  ['a full disk behind stderr', 'bosun run -p x 2> /dev/full', 0],
  ['a failure in a pipeline with pipefail', 'set -o pipefail; bosun run -m nonsense/x -p x | cat', 2],
  ['a failure in one of several', "printf 'a\\nb\\n' | xargs -I{} bosun run --mode nonsense -p {}", 123],
])('%s', async (_, script, expected) => {
  const { run, where } = await desk();
  const { code } = await run(script);
  expect(code).toBe(expected);
  // Nothing but events ever gets into a transcript, whatever streams are closed.
  const check =
    'for t in .bosun/runs/*/transcript.jsonl; do [ ! -e "$t" ] || bosun verify "$t" || exit 9; done';
  expect(
    (
      await runScript(check, {
        cwd: where.workspace,
        env: { PATH: `${join(where.root, 'bin')}:/usr/bin:/bin` },
      })
    ).code,
  ).toBe(0);
});

test('an answer that could not be delivered is not called complete', async () => {
  const { run } = await desk();
  const { code, stderr } = await run('bosun run -p x > /dev/full');
  expect(code).toBe(141);
  expect(stderr).toContain('stdout could not be written (ENOSPC): the output is incomplete');
});
