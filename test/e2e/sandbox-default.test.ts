import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { hidden } from '../helpers/attack/payloads.js';
import { describeSandboxed, outputsOf, runWithoutBubblewrap } from '../helpers/sandboxed.js';
import { call, text } from '../helpers/gemini-server.mjs';
import {
  BIN,
  cleanEnv,
  eventsOf,
  fileIn,
  ofType,
  resultOf,
  runArgs,
  runCli,
  serverEnv,
  startProgram,
} from '../helpers/run-cli.js';
import { bosunRun, bosunUnder, place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const shell = (command: string) => ({ parts: [call('run_shell_command', { command })] });
const yolo = ['--mode', 'yolo'];
const TOKENS = { GITHUB_TOKEN: 'ghp_0123456789abcdefghijABCDEFGHIJ012345', NPM_TOKEN: 'npm_x7Kq2x7Kq2x7Kq2' };
/** What is told of a run before its first turn. */
const warnings = (where: Parameters<typeof eventsOf>[0]) =>
  ofType(eventsOf(where), 'error').map(({ severity, class: kind, message }) => [severity, kind, message]);

describeSandboxed('programs run in a sandbox', () => {
  test('without a policy, and in a policy that does not speak of it', async () => {
    const script = [shell('ls -A ~'), done];
    for (const { code, place: where } of [
      await bosunRun(script, yolo),
      await bosunUnder('version: 1\nmode: yolo\n', script),
      await bosunUnder('version: 1\nmode: yolo\nsandbox: {limits: {processes: 100}}\n', script),
    ]) {
      expect(code).toBe(0);
      expect(resultOf(where).sandbox).toEqual({
        mode: 'auto',
        active: true,
        backend: 'bubblewrap',
        reason: 'bubblewrap works here',
      });
      expect(outputsOf(where)).toEqual(['.gitconfig\n']);
      expect(resultOf(where).warnings).toEqual([]);
    }
  });

  test('unless a flag or the policy switches it off', async () => {
    const script = [shell('ls -A ~'), done];
    for (const [reason, { code, place: where }] of [
      ['--sandbox', await bosunRun(script, [...yolo, '--sandbox', 'off'])],
      ['--sandbox', await bosunUnder('version: 1\nmode: yolo\n', script, ['--sandbox', 'off'])],
      [
        'the policy (sandbox.mode)',
        await bosunUnder('version: 1\nmode: yolo\nsandbox: {mode: off}\n', script),
      ],
    ] as const) {
      expect(code).toBe(0);
      expect(resultOf(where).sandbox).toMatchObject({ mode: 'off', active: false, backend: null });
      expect(resultOf(where).sandbox?.reason).toMatch(`it is turned off by ${reason}`);
      expect(outputsOf(where)).toEqual(['(empty)']);
    }
  });

  test('and a flag that is wider than what a policy says is exit 2', async () => {
    for (const policy of ['codemod', 'yolo']) {
      const { code, stderr } = await bosunRun([done], ['--policy', policy, '--sandbox', 'off']);
      expect(code).toBe(2);
      expect(stderr).toContain('--sandbox off is wider than sandbox.mode auto of the policy');
    }
  });

  test('and commands under codemod have no network', async () => {
    const server = await serve([]);
    const reach = `require("http").get("${server.url}").on("error", e => console.log(e.code))`;
    const where = place({ 'package.json': JSON.stringify({ scripts: { test: `node -e '${reach}'` } }) });
    const policy = 'version: 1\nextends: [codemod]\n';
    const { code } = await bosunUnder(policy, [shell('npm test'), done], [], where);
    expect([code, server.requests.length]).toEqual([0, 0]);
    expect(outputsOf(where)[0]).toContain('ECONNREFUSED');
  });
});

describe('a run that starts no programs', () => {
  test.each(['plan', 'read-only files'])('looks for no sandbox, and says so (%s)', async (mode) => {
    const policy = 'version: 1\nmode: yolo\ntools: {exclude: [run_shell_command]}\n';
    const ran = mode === 'plan' ? await bosunRun([done], []) : await bosunUnder(policy, [done]);
    expect(ran.code).toBe(0);
    expect(resultOf(ran.place).sandbox).toEqual({
      mode: 'auto',
      active: false,
      backend: null,
      reason: 'this run starts no programs',
    });
    expect(resultOf(ran.place).warnings).toEqual([]);
  });

  test('starts none, whatever it is asked for', async () => {
    const { place: where } = await bosunRun([shell('true'), done], []);
    expect(ofType(eventsOf(where), 'tool_result')[0]?.status).toBe('error');
  });
});

describe('a run without a sandbox', () => {
  const keep = hidden('cat /proc/$PPID/environ > seen');

  test('names the variables that programs may get at, and never what they hold', async () => {
    const env = { ...TOKENS, HARMLESS: 'x' };
    const ran = await bosunRun([shell('true'), done], [...yolo, '--sandbox', 'off'], {}, { env });
    const { sandbox, warnings: told } = resultOf(ran.place);
    const names = 'GEMINI_API_KEY, GITHUB_TOKEN, NPM_TOKEN';
    expect(sandbox?.reason).toBe(`it is turned off by --sandbox; programs may read ${names}`);
    expect(told).toEqual([
      expect.stringMatching(
        /^programs run without a sandbox: it is turned off by --sandbox\. As the same user they may read /,
      ),
    ]);
    for (const name of names.split(', ')) expect(told[0]).toContain(name);
    expect(told[0]).not.toContain('HARMLESS');
    expect(warnings(ran.place)).toEqual([['warning', 'sandbox', told[0]]]);
    for (const value of Object.values(TOKENS))
      expect(readFileSync(ran.place.transcript, 'utf8')).not.toContain(value);
  });

  test('says nothing of what the policy passes on, and nothing where there is nothing to get', async () => {
    const { place: recorded } = await bosunRun([shell('true'), done], yolo);
    const where = place();
    const file = join(where.root, 'policy.yaml');
    writeFileSync(file, 'version: 1\nmode: yolo\nsandbox: {mode: off}\nshell: {env: {pass: [NPM_TOKEN]}}\n');
    const own = ['-C', where.workspace, '--transcript', where.transcript];
    const args = ['run', ...own, '--policy', file, '--replay', recorded.transcript];
    const { NPM_TOKEN } = TOKENS;
    const { code } = await runCli(args, { env: cleanEnv(where.home, { NPM_TOKEN }) });
    expect([code, resultOf(where).warnings]).toEqual([0, []]);
  });

  test('is told where bubblewrap is not there, too', async () => {
    const server = await serve([shell('true'), done]);
    const where = place();
    const ran = await runWithoutBubblewrap(runArgs(where, ['-p', 'x', ...yolo]), {
      env: serverEnv(server, where, TOKENS),
    });
    expect(ran.code).toBe(0);
    const { sandbox, warnings: told } = resultOf(where);
    expect(sandbox).toMatchObject({ mode: 'auto', active: false });
    expect(sandbox?.reason).toMatch(
      /^bubblewrap \(bwrap\) is not installed; programs may read GEMINI_API_KEY/,
    );
    expect(told[0]).toMatch(/GITHUB_TOKEN/);
  });

  test('has its secrets taken out of what /proc/PID/environ shows', async () => {
    const ran = await bosunRun(
      [shell(keep), done],
      [...yolo, '--sandbox', 'off'],
      {},
      { env: TOKENS, ownProcess: true },
    );
    const shown = fileIn(ran.place, 'seen');
    expect(shown).toContain('GITHUB_TOKEN=');
    expect(shown).toContain('HOME=/');
    for (const value of [...Object.values(TOKENS), 'test-key']) expect(shown).not.toContain(value);
    expect(resultOf(ran.place).warnings[0]).toContain("NPM_TOKEN (in the memory of Bosun's process)");
  });

  test('and says of which parents the environment can be read', async () => {
    const server = await serve([done]);
    const where = place();
    const line = `"$@"; exit $?`;
    const args = runArgs(where, ['-p', 'x', ...yolo, '--sandbox', 'off']);
    const started = startProgram(['sh', '-c', line, 'sh', process.execPath, BIN, ...args], {
      env: serverEnv(server, where, TOKENS),
    });
    expect((await started.done).code).toBe(0);
    expect(resultOf(where).warnings[0]).toContain(`(in the environment of process ${started.child.pid}, sh)`);
  });
});
