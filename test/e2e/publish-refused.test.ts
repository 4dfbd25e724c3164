import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { commitAll, resultsIn } from '../helpers/batch.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { branchesOf, changesIn, command, git, recordedBatch, write } from '../helpers/publish.js';
import { runAgainst, runCli } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

/** The policy does not allow these by name; a program does them all the same. */
const node = (script: string) =>
  command(`node -e ${JSON.stringify(`fs=require("fs");${script}`.replaceAll('"', "'"))}`);
const LATE = 'correct-horse-battery-staple-42';
const stage = recordedBatch({
  fine: [write('docs/fine.md', 'fine\n')],
  workflow: [
    node(
      'fs.mkdirSync(".github/workflows",{recursive:true});fs.writeFileSync(".github/workflows/x.yml","x")',
    ),
  ],
  link: [node('fs.symlinkSync("../../etc/passwd","docs/link")')],
  policy: [node('fs.appendFileSync("ci/policy.yaml","# more\\n")')],
  denied: [node('fs.mkdirSync("docs/locked");fs.writeFileSync("docs/locked/x","x")')],
  inner: [node('fs.symlinkSync("one.md","docs/inner")')],
  absolute: [node('fs.symlinkSync("/etc/passwd","passwd")')],
  module: [write('.gitmodules', '[submodule "x"]\n\tpath = x\n\turl = https://evil.example/x\n')],
  large: [write('docs/large.txt', 'large\n'.repeat(300))],
  saved: [write('docs/token.txt', `token: ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}\n`)],
  late: [write('docs/late.txt', `first\npassword: ${LATE}\nlast\n`)],
  named: [write(`docs/${LATE}.txt`, 'x\n')],
  binary: [
    node(
      `fs.writeFileSync("docs/b.bin",Buffer.concat([Buffer.alloc(9),Buffer.from("${LATE}"),Buffer.alloc(9)]))`,
    ),
  ],
  many: [node('for(let i=0;i<301;i++)fs.writeFileSync("docs/"+i,"")')],
  failed: [write('docs/failed.md', 'failed\n')],
});

test('what may not be published is refused with its reason, and everything else is published', async () => {
  const { github, result, out } = await stage();
  const env = { APP_PASSWORD: LATE };
  const { exit_code, of, stderr } = await result(['--max-patch', '1KiB'], { env });
  const reasons = Object.fromEntries(
    Object.entries(of).map(([id, { status, reason }]) => [
      id,
      reason === null ? status : `${status}: ${reason}`,
    ]),
  );
  expect(reasons).toEqual({
    fine: 'published',
    inner: 'published',
    failed: 'published',
    workflow: expect.stringMatching(
      /^refused: \.github\/workflows\/x\.yml is protected and never written: a CI service/,
    ),
    denied: 'refused: docs/locked/x is protected and never written',
    // Although the checkout is not where it was.
    policy: 'refused: ci/policy.yaml is a policy that the run was under',
    link: 'refused: docs/link is a link that leads out of the repository',
    absolute: 'refused: passwd is a link that leads out of the repository',
    module: 'refused: .gitmodules says where submodules come from',
    large: expect.stringMatching(/^refused: its patch has .* KiB, more than --max-patch 1KiB$/),
    saved: 'refused: a secret was removed from it when it was saved, so it is not whole',
    late: 'refused: docs/late.txt: what is added holds a secret',
    named: 'refused: the name docs/[redacted:APP_PASSWORD].txt holds a secret',
    binary: 'refused: docs/b.bin: what is added holds a secret',
    many: expect.stringMatching(/^refused: its patch has|^refused: it changes 301 files, more than 300$/),
  });
  expect([exit_code, branchesOf(github).length]).toEqual([13, 3]);
  expect(stderr).toContain('tasks_failed: 15 tasks: ');
  const all = `${JSON.stringify(of)}${stderr}${readFileSync(join(out, 'published.jsonl'), 'utf8')}`;
  expect(all + JSON.stringify(github.pulls)).not.toContain(LATE);
}, 30_000);

test('more than 300 files are refused, however small', async () => {
  const { result } = await stage();
  const { of } = await result(['--dry-run']);
  expect(of['many']?.reason).toBe('it changes 301 files, more than 300');
  // Nobody has said what is secret.
  expect(of['late']?.status).toBe('would_publish');
}, 30_000);

test.each([
  [
    'a patch',
    (out: string, patch: string) =>
      writeFileSync(join(out, patch), readFileSync(join(out, patch), 'utf8').replace('+fine', '+evil')),
    5,
  ],
  [
    'a result',
    (out: string) =>
      writeFileSync(
        join(out, 'results.jsonl'),
        readFileSync(join(out, 'results.jsonl'), 'utf8').replace('completed', 'denied'),
      ),
    5,
  ],
  [
    'the journal',
    (out: string) =>
      writeFileSync(
        join(out, 'journal.jsonl'),
        readFileSync(join(out, 'journal.jsonl'), 'utf8').replace('"completed"', '"denied"'),
      ),
    5,
  ],
  ['batch.json, which is gone', (out: string) => rmSync(join(out, 'batch.json')), 5],
  ['the whole folder, which is gone', (out: string) => rmSync(out, { recursive: true }), 2],
])(
  'after a change of %s nothing is published',
  async (_, spoil, code) => {
    const made = await stage();
    const { patch } = resultsIn(made).find(({ id }) => id === 'fine') ?? {};
    spoil(made.out, patch ?? '');
    const end = await made.publish();
    expect([end.code, end.stdout, made.github.requests]).toEqual([code, '', []]);
  },
  30_000,
);

test('bosun publish: the patch of one run, from its transcript', async () => {
  const { github, workspace, out, home } = await stage();
  const transcript = join(out, 'tasks/fine/1/transcript.jsonl');
  const args = ['publish', transcript, '-C', workspace, '--repo', 'octo/web', '-o', 'json'];
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, ...github.env };
  for (const status of ['published', 'open']) {
    const { code, stdout } = await runCli(args, { env });
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { published: [{ status, number: 1 }] }]);
  }
  expect(github.pulls[0]).toMatchObject({
    title: 'Bosun: Do fine',
    head: expect.stringMatching(/^bosun\/run\/[0-9a-f]{12}$/),
  });
  expect(git(github.bare, 'show', `${github.pulls[0]?.head}:docs/fine.md`)).toBe('fine\n');

  const without = await runCli(
    ['publish', join(out, 'tasks/failed/1/transcript.jsonl'), '--repo', 'octo/web', '-C', workspace],
    {
      env: { ...env, GITHUB_TOKEN: '' },
    },
  );
  expect([without.code, without.stderr]).toEqual([9, expect.stringContaining('GITHUB_TOKEN is not set')]);

  expect(changesIn(github)).toEqual(['push', 'open']);
}, 30_000);

test('bosun publish: a patch that is not there, not the one, or of a run that failed', async () => {
  const { github, home } = await stage();
  const edit = { parts: [call('write_file', { file_path: 'new.txt', content: 'new\n' })] };
  // Two runs change something, and the last one does not.
  const server = await serve((_, index) => (index === 0 || index === 2 ? edit : { parts: [text('done')] }));
  const where = place({ 'a.txt': 'a\n' });
  commitAll(where);
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, ...github.env };
  const publish = () =>
    runCli(['publish', where.transcript, '-C', where.workspace, '--repo', 'octo/web'], { env });
  const again = async (...args: string[]) => {
    rmSync(where.transcript, { force: true });
    rmSync(join(where.workspace, 'new.txt'), { force: true });
    await runAgainst(server, where, ['-p', 'go', '--mode', 'auto_edit', ...args]);
    return publish();
  };
  const without = await again();
  expect([without.code, without.stderr]).toEqual([
    2,
    expect.stringMatching(/transcript\.jsonl has no patch\. Let the run write one: bosun run --patch-out/),
  ]);
  const patch = join(where.root, 'new.patch');
  // It belongs to another repository, and applies there all the same.
  expect((await again('--patch-out', patch)).code).toBe(0);
  // A later run may have written the same file.
  writeFileSync(patch, readFileSync(patch, 'utf8').replace('+new', '+old'));
  expect(await publish()).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('is not the patch that'),
  });
  rmSync(patch);
  expect(await publish()).toMatchObject({ code: 2, stderr: expect.stringContaining('is gone') });
  const failed = await again('--require-changes', '--patch-out', patch);
  expect([failed.code, failed.stdout]).toEqual([
    0,
    expect.stringMatching(/^skipped .*it ended as unverified$/m),
  ]);
}, 30_000);
