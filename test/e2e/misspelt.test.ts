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
    expect(stderr).toMatch(/--stdin brought nothing.*--allow-empty-stdin/);
    expect(server.requests).toHaveLength(0);
  });

  test('is fine if it is said to be', async () => {
    const args = ['-p', 'Review', '--stdin', 'diff', '--allow-empty-stdin'];
    expect(await bosunRun(done, args, {}, { input: '' })).toMatchObject({ code: 0 });
  });
});
