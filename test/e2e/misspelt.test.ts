import { describe, expect, test } from '@jest/globals';
import { sampled } from '../helpers/counts.js';
import { text } from '../helpers/gemini-server.mjs';
import { cleanEnv, runCli, serverEnv } from '../helpers/run-cli.js';
import { bosunRun, place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = [{ parts: [text('Done.')] }];

/** With a key and a server, so that a prompt would be sent. */
async function typed(args: readonly string[], more: Record<string, string> = {}) {
  const server = await serve(done);
  const where = place();
  const { code, stdout, stderr } = await runCli(args, {
    cwd: where.workspace,
    env: { ...serverEnv(server, where), ...more },
  });
  return { code, stdout, stderr, requests: server.requests.length };
}

describe('a first word that is no command', () => {
  sampled.each([
    [['verfiy', 'run.jsonl'], /no command "verfiy".*`bosun verify`.*bosun run -p 'verfiy run.jsonl'/],
    [['lint', '--policy', 'read-only'], /no command "lint".*`bosun policy lint`/],
    [['Explain', 'this'], /no command "Explain"/],
    [["don't"], /bosun run -p 'don'\\''t'/],
    [['xyzzy'], /no command "xyzzy"\. See bosun --help/],
    [['--mode', 'plan', 'verfiy'], /no command "verfiy"/],
  ])('%j is exit 2, and nothing is sent', async (args, message) => {
    const { code, stderr, requests } = await typed(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(requests).toBe(0);
  });

  sampled.each([[['Explain this']], [['run', 'verfiy']], [['run', 'Explain', 'this']], [['-p', 'verfiy']]])(
    '%j is a prompt',
    async (args) => {
      expect(await typed(args)).toMatchObject({ code: 0, requests: 1 });
    },
  );
});

describe('help for a command that does not exist', () => {
  test.each([
    [['reprot', '--help'], /no command "reprot"\. Did you mean `bosun report`\?/],
    [['policy', 'chekc', '--help'], /no command "policy chekc"\. Did you mean `bosun policy check`\?/],
    [['batch', 'submit', '-h'], /no command "batch submit"\. See bosun batch --help/],
  ])('%j is exit 2 instead of the help of another command', async (args, message) => {
    const { code, stdout, stderr } = await typed(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
  });
});

test('a missing subcommand is one line that lists them', async () => {
  const { code, stdout, stderr } = await typed(['batch']);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(
    /^bosun: error: bosun batch needs a subcommand: run, status, .*See bosun batch --help\.\n$/,
  );
});

test.each([
  [['run', '-p', '--mode', 'plan'], /-p has no value: --mode is the next flag.*--prompt=--mode/],
  [['-p', 'x', '--transcript', '--quiet'], /--transcript has no value: --quiet is the next flag/],
])('%j: a flag is not taken for the value of another', async (args, message) => {
  const { code, stderr, requests } = await typed(args);
  expect([code, requests]).toEqual([2, 0]);
  expect(stderr).toMatch(message);
});

test.each([
  [['-p', 'x', '--file', 'nowhere.txt']],
  [['--prompt-file', 'nowhere.txt']],
  [['report', 'nowhere.txt']],
])('%j says what is missing without the code of the system', async (args) => {
  const { code, stderr } = await typed(args);
  expect(code).toBe(2);
  expect(stderr).toMatch(/nowhere\.txt cannot be read: no such file or directory\./);
  expect(stderr).not.toMatch(/ENOENT/);
});

test('a misspelt tool or preset is answered with the nearest name', async () => {
  const check = await typed([
    'policy',
    'check',
    '--policy',
    'read-only',
    '--tool',
    'raed_file',
    '--args',
    '{}',
  ]);
  expect(check).toMatchObject({ code: 3, stdout: expect.stringContaining('did you mean read_file?') });
  const presets = await typed(['policy', 'presets', 'codmod']);
  expect(presets).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean codemod?') });
});

test('what is no URL of a queue is named as that', async () => {
  const { code, stderr } = await typed(['worker', '--queue', 'nowhere']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--queue is not the URL of a queue server.')]);
});

test.each([['-V'], ['--version'], ['version']])('bosun %s prints the version', async (word) => {
  expect(await runCli([word], { env: cleanEnv(place().home) })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
  });
});

describe('a variable that no option has', () => {
  test('is exit 2 with the nearest name', async () => {
    const { code, stderr, requests } = await typed(['-p', 'hi'], { BOSUN_MAX_TRUNS: '3' });
    expect(code).toBe(2);
    expect(stderr).toMatch(/no option for the variable BOSUN_MAX_TRUNS\. Did you mean BOSUN_MAX_TURNS\?/);
    expect(requests).toBe(0);
  });

  test('counts as absent if it is empty, and does not keep anybody from help', async () => {
    expect(await typed(['-p', 'hi'], { BOSUN_MAX_TRUNS: '' })).toMatchObject({ code: 0 });
    expect(await typed(['run', '--help'], { BOSUN_MAX_TRUNS: '3' })).toMatchObject({ code: 0 });
  });

  test('may be one of another command', async () => {
    expect(await typed(['-p', 'hi'], { BOSUN_EXPIRES: '1h' })).toMatchObject({ code: 0 });
  });
});

describe('--stdin with nothing in it', () => {
  test('is exit 2, and nothing is sent', async () => {
    const { code, stderr, server } = await bosunRun(
      done,
      ['-p', 'Review', '--stdin', 'diff'],
      {},
      { input: '' },
    );
    expect(code).toBe(2);
    expect(stderr).toMatch(/stdin was empty.*--allow-empty-stdin/);
    expect(server.requests).toHaveLength(0);
  });

  test('is fine if it is said to be', async () => {
    const args = ['-p', 'Review', '--stdin', 'diff', '--allow-empty-stdin'];
    expect(await bosunRun(done, args, {}, { input: '' })).toMatchObject({ code: 0 });
  });
});
