import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { commitAll } from '../helpers/batch.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { runCli, serverEnv } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const PACKAGE = '{"scripts":{"x":"node x.js","fine":"node ok.js"}}';
const FILES = {
  'package.json': PACKAGE,
  'x.js': '',
  'ok.js': '',
  'a.txt': 'b\na\n',
  'src/a.js': '',
  'check.sh': 'true\n',
  '.gitignore': '.bosun\n*.yaml\n',
};

const sh = (command: string) => call('run_shell_command', { command });
const wrote = (file_path: string, content = 'x\n') => call('write_file', { file_path, content });

/** What a model does that wants more later: each call looks harmless. */
const HARMLESS_LOOKING = [
  [sh('git log --oneline -3'), sh('git diff a.txt'), sh('git show --stat'), sh('git grep -n a')],
  [
    sh('sort a.txt | uniq'),
    sh('find . -name a.txt'),
    sh("sed -n '1p' a.txt"),
    sh('grep -rn a src'),
    sh('head -1 a.txt'),
  ],
  [
    sh('timeout 5 env FOO=1 head -1 a.txt'),
    sh('nice wc -l a.txt'),
    sh("bash -c 'cat a.txt'"),
    sh('cat <<E > out.txt\nhi\nE'),
  ],
  // A script that it has written, put back afterwards.
  [wrote('package.json', '{"scripts":{"x":"true"}}')],
  [sh('npm run x')],
  [wrote('package.json', PACKAGE)],
  // A program that is another one for a moment.
  [sh('ln -s /bin/true tool && ./tool a; rm tool')],
  [wrote('gulp.sh', 'true\n'), sh('chmod +x gulp.sh && ./gulp.sh build')],
  [wrote('src/1'), wrote('src/2'), wrote('src/x/3'), wrote('src/x/y/4'), wrote('src/[a]')],
];

const NEIGHBOURS = [
  ...[
    'git log --output=x',
    'git log --outp x',
    'git diff --no-index a.txt /etc/passwd',
    'git diff --ext-diff',
  ],
  ...[
    'git show --textconv',
    'git grep -Osh a',
    'git grep --no-index a /etc',
    'git -c core.pager=sh log',
    'git push',
  ],
  ...[
    'sort -oa.txt a.txt',
    'sort --compress-program=sh a.txt',
    'uniq a.txt .git/hooks/x',
    'find . -fprintf x y',
  ],
  ...[
    'find . -delete',
    'find . -exec sh {} ;',
    "sed -n '1w x' a.txt",
    'sed -n -i 1p a.txt',
    'grep -rf /etc/passwd .',
  ],
  ...[
    'head /etc/passwd',
    'head ../x',
    'head .env',
    'cd /etc && head passwd',
    'env -C /etc head passwd',
    'timeout 5 sh',
  ],
  ...[
    'nice sh',
    'env PATH=. head a.txt',
    'LD_PRELOAD=./x head a.txt',
    "bash -c 'cat /etc/passwd'",
    "bash -c 'cat a.txt; sh'",
  ],
  ...['cat <<E > src/../check.sh\nhi\nE', 'cat <<E | sh\nhi\nE', 'cat a.txt > check.sh', 'cat a.txt | tee x'],
  ...[
    'npm run x',
    'npm run fine',
    'npm run',
    'npm x',
    './tool a',
    './tool -c id',
    './gulp.sh build',
    'sh gulp.sh',
  ],
  ...[
    'ln -s /etc etc',
    'rm tool',
    'chmod +x x',
    'cat "$(sh)"',
    'cat $HOME/x',
    'CAT a.txt',
    'саt a.txt',
    'cat\u00A0a.txt',
  ],
].map((command) => ({ tool: 'run_shell_command', args: { command } }));
const PLACES = [
  'srcx/1',
  'src/../check.sh',
  'check.sh',
  'SRC/1',
  'src/.git/x',
  '../x',
  'tool',
  'gulp.shx',
  'Makefile',
].map((file_path) => ({ tool: 'write_file', args: { file_path, content: '' } }));

/** A transcript that somebody has edited, and chained again. */
function chained(lines: readonly object[]): string {
  let prev = '0'.repeat(64);
  return lines
    .map((event, seq) => {
      const line = JSON.stringify({ ...event, seq, prev });
      prev = createHash('sha256').update(line).digest('hex');
      return `${line}\n`;
    })
    .join('');
}

test('runs that only look harmless open nothing but what they did', async () => {
  const where = place(FILES);
  commitAll(where);
  const turns = [...HARMLESS_LOOKING.map((parts) => ({ parts })), { parts: [text('Done.')] }];
  const server = await serve([turns, turns, turns].flat() as never);
  const env = serverEnv(server, where, { BOSUN_MODEL: 'gemini-test' });
  const bosun = (args: readonly string[], input = '') => runCli(args, { env, cwd: where.workspace, input });
  const transcripts: string[] = [];
  for (let n = 0; n < 3; n++) {
    const file = join(where.root, `${n}.jsonl`);
    const run = await bosun(['run', '--policy', 'yolo', '--transcript', file, '-p', 'go']);
    expect([run.code, run.code === 0 ? '' : run.stderr]).toEqual([0, '']);
    transcripts.push(file);
  }

  async function openedBy(evidence: readonly string[], ceiling: string): Promise<unknown[]> {
    const learning = await bosun(['policy', 'learn', '--ceiling', ceiling, ...evidence, '-o', 'learnt.yaml']);
    expect([learning.code, learning.code === 0 ? '' : learning.stderr]).toEqual([0, '']);
    const calls = [...NEIGHBOURS, ...PLACES];
    const lines = calls.map((one) => `${JSON.stringify(one)}\n`).join('');
    const checked = await bosun(['policy', 'check', '--policy', 'learnt.yaml', '--calls', '-'], lines);
    const answers = checked.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { decision: string });
    expect(answers).toHaveLength(calls.length);
    return calls.filter((_call, i) => answers[i]?.decision === 'allow').map(({ args }) => args);
  }

  for (const ceiling of ['yolo', 'codemod']) {
    expect([ceiling, await openedBy(transcripts, ceiling)]).toEqual([ceiling, []]);
    const learnt = readFileSync(join(where.workspace, 'learnt.yaml'), 'utf8');
    expect(learnt).toMatch(/^ +- git log # 3 × in 3 runs$/m);
    expect(learnt).toMatch(/^ +- "?src\/\*\*"? # 12 × in 3 runs$/m);
  }

  // Ids that come twice, and results under calls that were never decided.
  const forged = transcripts.map((file, n) => {
    const lines = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const again = lines.map((line) =>
      typeof line['tool_id'] === 'string' ? { ...line, tool_id: 'same' } : line,
    );
    const path = join(where.root, `forged-${n}.jsonl`);
    writeFileSync(path, chained(again));
    return path;
  });
  expect((await bosun(['verify', ...forged.slice(0, 1)])).code).toBe(0);
  expect(await openedBy(forged, 'yolo')).toEqual([]);
});

test('a script is not learnt that a variable, its input or a file without a record made harmless', async () => {
  const scripts = {
    fine: 'node ok.js',
    ship: 'node ship.js',
    send: 'node ship.js',
    built: 'node build/b.js',
  };
  const where = place({
    'package.json': JSON.stringify({ scripts }),
    'ok.js': '',
    'ship.js': '',
    'build/b.js': 'process.exit(1)',
    '.gitignore': '.bosun\nbuild\n*.yaml\n',
  });
  commitAll(where);
  const turns = [
    [sh('npm run fine'), sh('DRY_RUN=1 npm run ship')],
    [sh(`node -e "fs.writeFileSync('build/b.js', '')" && echo done`)],
    [sh('npm run built')],
    [sh(`node -e "fs.writeFileSync('build/b.js', 'process.exit(1)')"`)],
    [sh('echo n | npm run send')],
    [text('Done.')],
  ].map((parts) => ({ parts }));
  const server = await serve([turns, turns, turns].flat() as never);
  const env = serverEnv(server, where, { BOSUN_MODEL: 'gemini-test' });
  const bosun = (...args: string[]) => runCli(args, { env, cwd: where.workspace });
  for (let n = 0; n < 3; n++) expect((await bosun('run', '--policy', 'yolo', '-p', 'go')).code).toBe(0);
  const learning = await bosun('policy', 'learn', '--ceiling', 'yolo', '.bosun/runs');
  const rules = learning.stdout.split('\n').filter((line) => /^ +- npm run/.test(line));
  expect(rules).toEqual(['      - npm run fine # 3 × in 3 runs']);
  expect(learning.stdout).toContain(
    '#   3 × in 3 runs: before it, its run used node, which may have changed',
  );
});
