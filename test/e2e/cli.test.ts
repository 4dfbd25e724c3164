import { describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sampled } from '../helpers/counts.js';
import { BUILTIN_TOOLS } from '../../src/protocol/builtin-tools.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { cleanEnv, eventsOf, fileIn, IMPATIENT, REPOSITORY, resultOf, runCli } from '../helpers/run-cli.js';
import { bosunRun, place } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const bosun = (...args: string[]) => {
  const where = place();
  return runCli(args, { env: cleanEnv(where.home), cwd: where.workspace });
};

describe('bad flags are exit 2 with one line that names them', () => {
  const cases: [string[], RegExp][] = [
    [['run', '--modle', 'x'], /unknown option '--modle'.*--model/],
    [['--frobnicate'], /unknown option '--frobnicate'/],
    [['run', '-p'], /'-p, --prompt <text>' argument missing/],
    [['run', '-p', 'x', '--mode', 'god'], /'god' is invalid.*plan, manual, auto_edit, yolo/],
    [['run', '-p', 'x', '--timeout', '30'], /'30' is invalid.*unit/],
    [['run', '-p', 'x', '--timeout', '9999h'], /at most/],
    [['run', '-p', 'x', '--max-turns', '-1'], /'-1' is invalid/],
    [['run', '-p', 'x', '--max-turns', '1.5'], /whole number/],
    [['run', '-p', 'x', '-o', 'xml'], /'xml' is invalid/],
    [['run', '-p', 'x', '--quiet', '--log-level', 'debug'], /cannot be used with option '--quiet'/],
    [
      ['run', '-p', 'x', '--replay', 'f', '-m', 'gemini-x'],
      /cannot be used with option '-m, --model <name>'/,
    ],
    [['run', '-p', 'x', '-C', '/no/such/dir'], /workspace \/no\/such\/dir cannot be used/],
    [['report'], /missing required argument 'transcript'/],
    [['verify'], /missing required argument 'transcript'/],
    [['tools', '--policy', 'x'], /there is no preset x/],
    [['demo', 'extra'], /too many arguments/],
    [['policy', 'nope'], /unknown command 'nope'/],
    [['policy', 'check'], /there is no call to decide/],
  ];
  sampled.each(cases)('%j', async (args, message) => {
    const { code, stdout, stderr } = await bosun(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('variables', () => {
  test('stand in for flags, and flags win', async () => {
    const env = {
      BOSUN_MAX_TURNS: '7',
      BOSUN_MODE: 'yolo',
      BOSUN_OUTPUT_FORMAT: 'json',
      BOSUN_QUIET: 'false',
    };
    const { place: where, stdout } = await bosunRun([done], ['--mode', 'auto_edit'], {}, { env });
    expect(eventsOf(where)[0]).toMatchObject({ mode: 'auto_edit', limits: { turns: 7 } });
    expect(JSON.parse(stdout)).toMatchObject({ status: 'completed' });
  });

  test('give the prompt, unless one is typed', async () => {
    const env = { BOSUN_PROMPT: 'from the environment' };
    const { server } = await bosunRun([done], ['-p', 'typed'], {}, { env });
    expect(server.requests[0]?.body.contents[0].parts[0].text).toBe('typed');
  });

  test('that are empty count as absent', async () => {
    const { code } = await bosunRun(
      [done],
      [],
      {},
      { env: { BOSUN_MAX_TURNS: '', BOSUN_MODE: '', BOSUN_PROMPT_FILE: '' } },
    );
    expect(code).toBe(0);
  });

  const bad = [
    ['BOSUN_MAX_TURNS', 'many'],
    ['BOSUN_MODE', 'god'],
    ['BOSUN_QUIET', 'perhaps'],
    ['BOSUN_TIMEOUT', '5'],
  ] as const;
  sampled.each(bad)('that are wrong are exit 2 and named: %s=%s', async (name, value) => {
    const { code, stderr } = await bosunRun([done], [], {}, { env: { [name]: value } });
    expect(code).toBe(2);
    expect(stderr).toContain(`${name}=${value}`);
  });
});

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as {
    version: string;
  };
  expect(await bosun('--version')).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
});

sampled.each([
  ['--help'],
  ['run', '--help'],
  ['report', '--help'],
  ['verify', '--help'],
  ['tools', '--help'],
  ['demo', '--help'],
])('help of %s is on stdout and has no stack', async (...args) => {
  const { code, stdout, stderr } = await bosun(...args);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^Usage: bosun/);
});

test('the help of the program lists the exit codes of batches too', async () => {
  expect((await bosun('--help')).stdout).toMatch(/^ {3}13 {2}tasks_failed: /m);
});

test('tools tells what a mode offers', async () => {
  const plan = JSON.parse((await bosun('tools', '--json')).stdout) as { name: string; offered: boolean }[];
  const offered = plan.filter((tool) => tool.offered).map(({ name }) => name);
  const looking = Object.entries(BUILTIN_TOOLS).filter(([, { kind }]) => ['read', 'search'].includes(kind));
  expect(offered).toEqual([...looking.map(([name]) => name), 'write_todos']);
  expect(offered.slice(0, 3)).toEqual(['read_file', 'read_many_files', 'list_directory']);
  const { stdout } = await bosun('tools', '--mode', 'yolo');
  expect(stdout).toMatch(/run_shell_command +execute +allow/);
});

test('stream-json is lines of JSON without what only resume needs, the result last', async () => {
  const script = [
    { parts: [text('Reading.'), call('read_file', { file_path: 'a.txt' }, { id: 'r' })] },
    done,
  ];
  const { stdout } = await bosunRun(script, ['-o', 'stream-json'], { 'a.txt': 'A' });
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(events.map(({ type }) => type)).toEqual([
    ...['init', 'message', 'turn', 'message', 'tool_use', 'policy_decision', 'tool_result'],
    ...['turn', 'message', 'result'],
  ]);
  expect(events.find(({ type }) => type === 'tool_result')).toMatchObject({
    tool_id: 'r',
    status: 'success',
    output: 'A',
  });
  expect(events.filter(({ type }) => type === 'message').map(({ phase }) => phase)).toEqual([
    undefined,
    'interim',
    'final',
  ]);
  expect(events.at(-1)?.['stats']).toMatchObject({
    total_tokens: 220,
    input_tokens: 200,
    output_tokens: 20,
    tool_calls: 1,
  });
  for (const hidden of ['prev', 'system', 'parts'])
    expect(events.some((event) => hidden in event)).toBe(false);
  expect(events.some((event) => event['type'] === 'turn' && 'content' in event)).toBe(false);
});

test('logs are JSON lines if asked for, and --quiet leaves only errors', async () => {
  const json = await bosunRun([done], ['--log-format', 'json']);
  expect(JSON.parse(json.stderr)).toMatchObject({ level: 'info', name: 'bosun' });
  expect((await bosunRun([done], ['--quiet'])).stderr).toBe('');
  expect((await bosunRun([{ status: 500, body: 'x' }], ['--quiet', ...IMPATIENT])).stderr).toMatch(
    /^bosun: error: /,
  );
});

test('at level debug every event is a line on stderr', async () => {
  const { stderr, place: where } = await bosunRun([done], ['--log-level', 'debug']);
  expect(stderr.match(/^bosun: debug: event \d+: /gm)).toHaveLength(eventsOf(where).length);
});

test('a runner is not given commands by the model', async () => {
  const answer = 'Look:\n::set-output name=x::y\n  ::error::z\n##[add-mask]secret\na::b';
  const { stdout } = await bosunRun([{ parts: [text(answer)] }], [], {}, { env: { GITHUB_ACTIONS: 'true' } });
  expect(stdout).not.toMatch(/^\s*::|##\[/m);
  expect(stdout.replaceAll('\u200b', '')).toBe(`${answer}\n`);
  const elsewhere = await bosunRun([{ parts: [text(answer)] }], []);
  expect(elsewhere.stdout).toBe(`${answer}\n`);
});

test('the key is nowhere to be found: not in the transcript, the logs, or the environment of commands', async () => {
  const key = 'test-key-0123456789';
  const script = [{ parts: [call('run_shell_command', { command: 'env' })] }, done];
  const run = await bosunRun(
    script,
    ['--mode', 'yolo'],
    {},
    { env: { GITHUB_TOKEN: 'gh-secret', NODE_OPTIONS: '--no-warnings' } },
  );
  const everything =
    run.stdout +
    run.stderr +
    readFileSync(run.place.transcript, 'utf8') +
    run.server.requests.map(({ raw }) => raw).join('');
  expect(everything).toContain('GIT_TERMINAL_PROMPT=0');
  for (const secret of [key, 'gh-secret', 'NODE_OPTIONS']) expect(everything).not.toContain(secret);
});

test('the run keeps out of files that decide what later steps do, and of its own transcript', async () => {
  const where = place();
  const githubEnv = join(where.workspace, 'github-env');
  const script = [
    {
      parts: [
        'github-env',
        '.git/hooks/pre-commit',
        '.GITHUB/workflows/x.yml',
        '.bosun/runs/x',
        '.env.local',
        'ok.txt',
      ].map((file_path, i) => call('write_file', { file_path, content: 'x' }, { id: `w${i}` })),
    },
    done,
  ];
  const { serve } = await import('../helpers/served.js');
  const server = await serve(script);
  const env = cleanEnv(where.home, {
    GEMINI_API_KEY: 'k',
    GOOGLE_GEMINI_BASE_URL: server.url,
    GITHUB_ENV: githubEnv,
  });
  const { code } = await runCli(['-C', where.workspace, '-m', 'gemini-x', '--mode', 'auto_edit', '-p', 'x'], {
    env,
  });
  expect(code).toBe(3);
  expect(existsSync(githubEnv)).toBe(false);
  expect(fileIn(where, '.env.local')).toBeUndefined();
  expect(fileIn(where, 'ok.txt')).toBe('x');
  const responses = server.requests[1]?.body.contents[2].parts.map(
    (part: { functionResponse: { response: { type?: string } } }) => part.functionResponse.response.type,
  );
  expect(responses).toEqual([...Array<string>(5).fill('policy_denied'), undefined]);
});

test('the demo of a batch runs its tasks and leaves their pages', async () => {
  const { code, stdout, stderr } = await bosun('demo', '--batch');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^completed {2}cart {2}\(2 turns, /m);
  expect(stdout).toContain('4 tasks: 4 completed, 0 failed, 0 pending');
  const page = fileURLToPath(/file:\S+/.exec(stderr)?.[0] as string);
  expect(readFileSync(page, 'utf8')).toContain('href="report-runs/cart.1.html"');
  expect(readFileSync(join(page, '../report-runs/tax.1.html'), 'utf8')).toContain(
    'an unknown rate gives NaN',
  );
  const out = /transcripts: (\S+)/.exec(stderr)?.[1] as string;
  expect((await bosun('verify', out)).code).toBe(0);
});

test('the demo mends its project and says how', async () => {
  const { code, stdout, stderr } = await bosun('demo');
  expect(code).toBe(0);
  expect(stdout).toContain('bulk discount');
  expect(stderr).toContain('+    const discount = quantity >= BULK_QUANTITY');
  expect(stderr).toMatch(/status +completed, exit 0/);
  const transcript = /transcript +(\S+)/.exec(stderr)?.[1] as string;
  expect(resultOf({ transcript } as never).status).toBe('completed');
  const recording = join(REPOSITORY, 'fixtures/demo/recording.jsonl');
  expect((await bosun('verify', recording, transcript)).code).toBe(0);
});
