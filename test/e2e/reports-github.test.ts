import { describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { call, text, type Script } from '../helpers/gemini-server.mjs';
import { cleanEnv, runAgainst, runCli, type Scratch } from '../helpers/run-cli.js';
import { commandsIn } from '../helpers/log-commands.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const MIB = 1024 * 1024;
const COMMANDS = '::error::pwned\n##[error]pwned\n  ::add-mask::x';
const done = { parts: [text('Done.')] };
const shell = (command: string) => ({ parts: [call('run_shell_command', { command })] });

/** One run in a step of a workflow. */
async function step(script: Script, args: readonly string[] = [], before = '', where: Scratch = place()) {
  const server = await serve(script);
  const file = join(where.root, 'summary.md');
  writeFileSync(file, before);
  const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: file };
  const result = await runAgainst(server, where, ['-p', 'do it', '--reporter', 'github', ...args], { env });
  return { ...result, where, file, summary: readFileSync(file, 'utf8') };
}

const laterCommands = async (where: Scratch) =>
  commandsIn(
    (await runCli(['report', where.transcript, '--reporter', 'github'], { env: cleanEnv(where.home) }))
      .stdout,
  );

describe('annotations', () => {
  test('tell of the end and of refused calls, on stdout before the answer', async () => {
    const { code, stdout, stderr, where } = await step([shell('npm test'), { parts: [text(COMMANDS)] }]);
    expect(code).toBe(3);
    const commands = commandsIn(stdout);
    expect(commands.map(({ command, properties }) => [command, properties['title']])).toEqual([
      ['error', 'Bosun: denied (calls_refused)'],
      ['error', 'Bosun: denied Run npm test'],
    ]);
    expect(commands[1]?.data).toContain('command: ["npm test"]');
    expect(stdout.trimEnd().split('\n').at(-1)).toContain('add-mask::x');
    expect(commandsIn(stderr)).toEqual([]);
    expect(await laterCommands(where)).toEqual(commands);
  });

  test.each(['json', 'stream-json'])('go to stderr where stdout is %s', async (format) => {
    const { stdout, stderr } = await step([shell('npm test'), { parts: [text(COMMANDS)] }], ['-o', format]);
    expect(commandsIn(stdout)).toEqual([]);
    for (const line of stdout.trim().split('\n')) JSON.parse(line);
    expect(commandsIn(stderr)).toHaveLength(2);
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(/^bosun: error: denied/);
  });

  test('are warnings where the run is green all the same, and none without a reason', async () => {
    const where = place();
    writeFileSync(join(where.root, 'p.yaml'), 'version: 1\non_denied: ignore\n');
    const policy = ['--policy', join(where.root, 'p.yaml')];
    const denied = await step([shell('id'), done], policy, '', where);
    expect([denied.code, commandsIn(denied.stdout).map(({ command }) => command)]).toEqual([0, ['warning']]);
    expect((await step([done])).stdout).toBe('Done.\n');
  });

  test('point at the rule that refused, if it is in the workspace', async () => {
    const rule = '  - {id: no, tool: run_shell_command, command: [id], decision: deny, reason: Never.}\n';
    const where = place({ 'policy.yaml': `version: 1\nmode: yolo\nrules:\n${rule}` });
    const policy = ['--policy', join(where.workspace, 'policy.yaml')];
    const [, refused] = commandsIn((await step([shell('id'), done], policy, '', where)).stdout);
    expect(refused?.properties).toMatchObject({ file: join(where.workspace, 'policy.yaml'), line: '4' });
    expect(refused?.data).toContain('change it there');
  });

  test('point at what a failed check points at', async () => {
    const where = place({ 'src/a.ts': 'x' });
    const verify = `echo 'src/a.ts:1:3 - error: no x'; exit 1`;
    const { stdout } = await step([done, done, done], ['--verify', verify], '', where);
    const failed = commandsIn(stdout).find(({ properties }) => properties['file']);
    expect(failed).toMatchObject({
      properties: { file: join(where.workspace, 'src/a.ts'), line: '1', col: '3' },
      data: 'src/a.ts:1:3 - error: no x',
    });
  });

  test('are as many as are shown', async () => {
    const calls = Array.from({ length: 9 }, (_, i) => call('run_shell_command', { command: `id ${i}` }));
    const { stdout } = await step([
      { parts: calls },
      { parts: [call('run_shell_command', { command: 'id' })] },
      done,
    ]);
    const commands = commandsIn(stdout);
    expect(commands).toHaveLength(10);
    expect(commands.at(-1)?.properties['title']).toBe('Bosun: 2 more errors');
  });

  test('tell of a run that could not begin', async () => {
    const { code, stdout, summary } = await step([done], ['--max-turns', 'x']);
    expect(code).toBe(2);
    expect(commandsIn(stdout)).toMatchObject([
      { command: 'error', properties: { title: 'Bosun: config_error (flags)' } },
    ]);
    expect(summary).toMatch(/^## ❌ Bosun: config_error/);
  });
});

describe('the step summary', () => {
  test('is added to what others wrote', async () => {
    const { summary } = await step([done], [], 'before');
    expect(summary).toMatch(/^before\n\n## ✅ Bosun: completed, exit 0\n/);
  });

  test('is the Markdown report', async () => {
    const where = place();
    const markdown = join(where.root, 'report.md');
    const { summary } = await step([shell('id'), done], ['--reporter', `markdown=${markdown}`], '', where);
    expect(summary).toBe(readFileSync(markdown, 'utf8'));
  });

  test('stays below what GitHub takes, whatever happened and whatever was there', async () => {
    const content = (i: number) => `${i} ${'x'.repeat(80)}\n`.repeat(3000);
    const write = (i: number) => call('write_file', { file_path: `${i}.txt`, content: content(i) });
    const parts = Array.from({ length: 8 }, (_, i) => write(i));
    const script: Script = [{ parts }, { parts: [text('a\n'.repeat(200_000))] }];
    for (const before of ['', 'x'.repeat(900_000)]) {
      const { code, summary } = await step(script, ['--mode', 'auto_edit'], before);
      expect([code, Buffer.byteLength(summary) < MIB]).toEqual([0, true]);
      expect(summary).toMatch(
        /\n[^\n]*more; the transcript has them all\.\n\n<\/details>\n\nRun `[^`]+`, .*\n$/,
      );
    }
  });

  test('that has no room is a warning', async () => {
    const { code, stderr, summary } = await step([done], [], 'x'.repeat(MIB - 5000));
    expect([code, summary]).toEqual([0, 'x'.repeat(MIB - 5000)]);
    expect(stderr).toMatch(/warn: the step summary could not be written: it has \d+ bytes already/);
  });

  test('that cannot be written is exit 2', async () => {
    const where = place();
    const server = await serve([done]);
    const env = { GITHUB_STEP_SUMMARY: where.root };
    const { code, stderr } = await runAgainst(server, where, ['-p', 'x', '--reporter', 'github'], { env });
    expect([code, server.requests.length]).toEqual([2, 0]);
    expect(stderr).toMatch(/github report cannot be written to/);
  });

  test('is not needed', async () => {
    const where = place();
    const { code } = await runAgainst(await serve([done]), where, ['-p', 'x', '--reporter', 'github']);
    expect(code).toBe(0);
  });
});

test('an answer as text does nothing to a terminal; as JSON it is whole', async () => {
  const answer = 'a\u001b[31m\u001b]0;title\u0007b\u202ec\u2066\u0007\u0008\u009b2Jd\re\r\n\tשלום \u200fx';
  const script = [{ parts: [text(answer)] }];
  const asText = await runAgainst(await serve(script), place(), ['-p', 'x']);
  expect(asText.stdout).toBe('abcde\r\n\tשלום \u200fx\n');
  const asJson = await runAgainst(await serve(script), place(), ['-p', 'x', '-o', 'json']);
  expect(JSON.parse(asJson.stdout).response).toBe(answer);
});

test('the last line on stderr has the YAML that would allow what was refused', async () => {
  const where = place();
  const { stderr } = await runAgainst(await serve([shell('npm test'), done]), where, ['-p', 'x']);
  const last = stderr.trimEnd().split('\n').at(-1) as string;
  const [rule] = /\{id: .*, decision: allow\}/.exec(last) ?? [];
  writeFileSync(join(where.root, 'p.yaml'), `version: 1\nmode: plan\nrules: [${rule}]\n`);
  const check = ['policy', 'check', '--policy', join(where.root, 'p.yaml'), '--tool', 'run_shell_command'];
  const checked = await runCli([...check, '--args', '{"command":"npm test"}'], { env: cleanEnv(where.home) });
  expect(JSON.parse(checked.stdout)).toMatchObject({ decision: 'allow' });
  expect(last).toMatch(/^bosun: error: denied \(calls_refused\): 1 call was denied\. /);
  expect(last).toContain(`[transcript: ${where.transcript}]`);
});
