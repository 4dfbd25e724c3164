import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { call, text } from '../helpers/gemini-server.mjs';
import { commandsIn } from '../helpers/log-commands.js';
import { EVERYTHING } from '../helpers/mcp.js';
import { cleanEnv, eventsOf, ofType, runCli, serverEnv } from '../helpers/run-cli.js';
import { bosunRun, bosunUnder, place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('The answer.')] };
const shell = (command: string) => call('run_shell_command', { command });
const edit = (file_path: string, old_string: string, new_string: string) =>
  call('replace', { file_path, old_string, new_string });

const POLICY = `version: 1
mode: auto_edit
rules:
  - {id: tests, tool: run_shell_command, command: ["false", "true"], decision: allow}
  - {id: no-net, tool: run_shell_command, command: curl, decision: deny, reason: No network here.}
success: {verify: ["true"]}
`;
const WORK = [
  { parts: [text('I look first.'), call('read_file', { file_path: 'a.txt', limit: 5 })] },
  { parts: [edit('a.txt', 'old', 'new'), shell('false'), shell('curl x.org'), call('read_file', {})] },
  done,
];

const stepsOf = (stderr: string) => stderr.split('\n').filter((line) => /[✓✗]|model:|^bosun: {5}/.test(line));

describe('off a terminal', () => {
  test('the log has a line for each call, with its outcome, the rule and the short diff', async () => {
    const { code, stdout, stderr } = await bosunUnder(POLICY, WORK, [], place({ 'a.txt': 'old\n' }));
    expect([code, stdout]).toEqual([3, 'The answer.\n']);
    expect(stderr.split('\n')[0]).toMatch(/^bosun: gemini-test, mode auto_edit, policy policy\.yaml, in \//);
    // Of calls that run side by side either may be first.
    expect(stepsOf(stderr).sort()).toEqual(
      [
        'bosun: model: I look first.',
        'bosun: ✓ Read a.txt (lines 1 to 5)',
        'bosun: ✓ Edit a.txt +1 -1',
        'bosun:     @@ -1 +1 @@',
        'bosun:     -old',
        'bosun:     +new',
        'bosun: ✗ Run false (exit 1)',
        'bosun: warn: ✗ Run curl x.org: denied by rule no-net (policy.yaml:5): No network here',
        'bosun: ✗ Read file: Invalid parameters for read_file: `file_path` is missing.',
        'bosun: ✓ verify true',
      ].sort(),
    );
    expect(stderr).not.toContain('The answer');
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(/^bosun: error: denied/);
  });

  test.each([
    [['--progress', 'steps'], {}, true],
    [['--progress', 'heartbeat'], {}, false],
    [['--progress', 'none'], {}, false],
    [[], { BOSUN_PROGRESS: 'none' }, false],
    [['--progress', 'auto'], { BOSUN_PROGRESS: 'none' }, true],
    [['--quiet', '--progress', 'steps'], {}, false],
    [['--log-level', 'warn', '--progress', 'steps'], {}, false],
    [['--log-level', 'debug'], {}, true],
  ])('%j and %j: steps are shown: %s', async (args, env, expected) => {
    const { code, stderr } = await bosunRun([WORK[0] as typeof done, done], args, { 'a.txt': 'x' }, { env });
    expect([code, stepsOf(stderr).length > 0]).toEqual([0, expected]);
  });

  test('another word is exit 2', async () => {
    const { code, stderr } = await runCli(['run', '-p', 'x', '--progress', 'loud']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('auto, steps, heartbeat, none')]);
  });

  test('with --log-format json each step is a record', async () => {
    const where = place({ 'a.txt': 'old\n' });
    const { stderr } = await bosunUnder(POLICY, WORK, ['--log-format', 'json'], where);
    const records = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(records).toContainEqual(
      expect.objectContaining({
        ...{ level: 'info', event: 'tool_result', tool_name: 'replace', status: 'success' },
        msg: '✓ Edit a.txt +1 -1',
        diff: '@@ -1 +1 @@\n-old\n+new',
      }),
    );
    expect(records).toContainEqual(expect.objectContaining({ level: 'warn', rule: 'no-net' }));
  });

  test('nothing in a step is a command to a runner, a secret, or longer than 200 characters', async () => {
    const secret = 'token-0123456789-abcdefghij';
    // One that begins just where titles and lines are cut would be cut in the middle.
    const early = `echo ${'y'.repeat(160 - 'Run echo '.length - 10)}${secret}`;
    const script = [
      {
        parts: [
          text(`::error::x\n##[group]y\u001b[31m ${'z'.repeat(165)}${secret}`),
          shell(`echo '\n::add-mask::x\n##[error]y'`),
          shell(early),
          call('write_file', {
            file_path: 'b\n::error::x.txt',
            content: `::error::x ##[y]\n${'q'.repeat(500)}`,
          }),
        ],
      },
      done,
    ];
    const env = { GITHUB_ACTIONS: 'true', MY_TOKEN: secret };
    const { code, stderr, place: where } = await bosunRun(script, ['--mode', 'yolo'], {}, { env });
    expect(code).toBe(0);
    expect(commandsIn(stderr)).toEqual([]);
    expect(stderr).not.toMatch(/token-|\u001b|##\[/);
    for (const line of stderr.split('\n').slice(0, -2)) expect(line.length).toBeLessThanOrEqual(200);
    const titles = ofType(eventsOf(where), 'tool_use').map(({ title = '' }) => title);
    expect(titles.join()).not.toMatch(/token-|\n/);
    for (const title of titles) expect(title.length).toBeLessThanOrEqual(160);
  });
});

test('a run that goes on shows its own steps, and takes the same flag', async () => {
  const where = place({ 'a.txt': 'old\n' });
  const policy = 'version: 1\nmode: manual\non_ask: defer\n';
  const first = await bosunUnder(policy, [{ parts: [edit('a.txt', 'old', 'new')] }], [], where);
  expect([first.code, first.stderr]).toEqual([
    4,
    expect.stringContaining('? Edit a.txt waits for bosun approve: mode manual asks before edit tools'),
  ]);
  const env = serverEnv(await serve([done]), where);
  await runCli(['approve', where.transcript, '--all', '--option', 'proceed_once'], { env });
  const before = readFileSync(where.transcript);
  const { code, stderr } = await runCli(['resume', where.transcript], { env });
  expect(code).toBe(0);
  expect(stderr).toContain('bosun: continues with gemini-test, mode manual');
  expect(stepsOf(stderr)).toContain('bosun: ✓ Edit a.txt +1 -1');
  writeFileSync(where.transcript, before);
  writeFileSync(join(where.workspace, 'a.txt'), 'old\n');
  const again = serverEnv(await serve([done]), where);
  const silent = await runCli(['resume', where.transcript, '--progress', 'none'], { env: again });
  expect([silent.code, stepsOf(silent.stderr)]).toEqual([0, []]);
});

test('the demo shows steps and the result as a table, or what it is told to', async () => {
  const { home } = place();
  const { stderr } = await runCli(['demo'], { env: cleanEnv(home) });
  expect(stderr).toMatch(/^bosun: ✗ Run node --test \(exit 1/m);
  expect(stderr).toMatch(/\n {2}status +completed, exit 0\n/);
  const silent = await runCli(['demo', '--progress', 'none'], { env: cleanEnv(home) });
  expect(silent.stderr).toMatch(/^bosun: completed: .*\n$/);
});

test('calls have titles, and reports show them; those of older transcripts are shown as before', async () => {
  const server = `{command: [node, ${JSON.stringify(EVERYTHING)}, stdio]}`;
  const policy = `version: 1\nmode: plan\nmcp: {servers: {one: ${server}}}\nrules: [{id: e, tool: "mcp:one/echo", decision: allow}]\n`;
  const reports = ['--reporter', 'markdown=r.md', '--reporter', 'html=r.html', '--reporter', 'junit=r.xml'];
  const where = place({ 'a.txt': 'x' });
  const calls = [
    call('one__echo', { message: 'hi' }),
    call('read_file', { file_path: join(where.workspace, 'a.txt') }),
    shell('rm -r x'),
    call('no_such_tool', {}),
  ];
  const at = reports.map((word) => word.replace('=', `=${where.root}/`));
  const { stderr } = await bosunUnder(policy, [{ parts: calls }, done], at, where);
  const titles = ['one: echo', 'Read a.txt', 'Run rm -r x', undefined];
  expect(ofType(eventsOf(where), 'tool_use').map(({ title }) => title)).toEqual(titles);
  expect(stderr).toContain('✓ one: echo {"message":"hi"}');
  const read = (name: string) => readFileSync(join(where.root, name), 'utf8');
  expect(read('r.md')).toContain('`Run rm -r x` (`run_shell_command`)');
  expect(read('r.md')).toMatch(/✓ 1: `one: echo/);
  expect(read('r.html')).toMatch(/<b>Read a\.txt<\/b>\s*<span class="text">read_file/);
  expect(read('r.xml')).toContain('name="Run rm -r x (run_shell_command)"');
  const { stdout } = await runCli(['report', where.transcript], { env: cleanEnv(where.home) });
  expect(stdout).toContain('Run rm -r x (run_shell_command): ');

  const old = join(where.root, 'old.jsonl');
  for (const line of readFileSync(where.transcript, 'utf8').trim().split('\n')) {
    const { title: _title, ...event } = JSON.parse(line) as Record<string, unknown>;
    appendFileSync(old, `${JSON.stringify(event)}\n`);
  }
  const args = ['report', old, '--reporter', `markdown=${where.root}/old.md`];
  await runCli(args, { env: cleanEnv(where.home) });
  expect(read('old.md')).toContain('`run_shell_command rm -r x`: ');
});
